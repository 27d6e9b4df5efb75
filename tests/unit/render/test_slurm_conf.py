from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.accounting import ExternalAccounting
from shoal.model.config import Config, Scripts
from shoal.model.controller import Keys, Metrics
from shoal.model.nodeset import Mode
from shoal.model.part import Files, ServiceWishes
from shoal.render.slurm_conf import cgroup_conf, max_nodes, slurm_conf, tried
from shoal.slurm import conf, keys
from shoal.slurm.conf import ConfError
from shoal.slurm.keys import Version

from .builders import (
    JWKS,
    JWT_KEY,
    NEWEST,
    OLDEST,
    SLURM_KEY,
    external_controller,
    make_accounting,
    make_cluster,
    make_controller,
    make_nodeset,
    make_ssh,
)


def settings(text):
    """Return what counts in a slurm.conf, by key in lower case."""
    found = conf.effective(conf.parse(text))
    return {key: [line.value for line in lines] for key, lines in found.items()}


def headings(text):
    return [line.strip("# ") for line in text.splitlines() if line.startswith("###")]


def test_the_sections_stand_in_the_order_that_people_know():
    scripts = Scripts(prolog=(Files("p", ("a.sh",)),), epilog_slurmctld=(Files("e", ("b.sh",)),))
    extra = "AuthInfo=cred_expire=120"
    made = make_cluster(config=Config(extra, scripts=scripts), nodesets=(make_nodeset(),))
    assert headings(slurm_conf(made)) == [
        "GENERAL",
        "LOGGING",
        "PLUGINS & PARAMETERS",
        "ACCOUNTING",
        "SLURMCTLD PROLOG & EPILOG",
        "PROLOG & EPILOG",
        "NODESET & PARTITION",
        "EXTRA CONFIG",
        "MERGED CONFIG",
    ]


def test_a_section_without_lines_has_no_heading():
    assert headings(slurm_conf(make_cluster())) == [
        "GENERAL",
        "LOGGING",
        "PLUGINS & PARAMETERS",
        "ACCOUNTING",
    ]


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("metrics", [None, Metrics()])
def test_every_key_is_one_that_this_slurm_knows(version, metrics):
    made = make_cluster(
        version=version,
        controller=make_controller(metrics=metrics),
        accounting=make_accounting(),
        nodesets=(make_nodeset("gpu", extra="Gres=gpu:8", ssh=make_ssh("gpu")),),
    )
    assert list(keys.remarks(conf.parse(slurm_conf(made)), version)) == []


def test_one_slurmctld_is_found_through_its_service():
    found = settings(slurm_conf(make_cluster()))
    address = "slurm-controller-0.slurm-controller-internal.research"
    assert found["slurmctldhost"] == [f"slurm-controller-0({address})"]
    assert found["slurmctldaddr"] == ["slurm-controller.research"]


def test_of_several_slurmctlds_each_has_its_own_address():
    found = settings(slurm_conf(make_cluster(controller=make_controller(replicas=3))))
    assert [host.partition("(")[0] for host in found["slurmctldhost"]] == [
        "slurm-controller-0",
        "slurm-controller-1",
        "slurm-controller-2",
    ]
    assert "slurmctldaddr" not in found


def test_a_service_with_another_port_is_not_asked_at_slurms_own():
    """Slurm asks SlurmctldAddr at SlurmctldPort, where this Service does not answer."""
    made = make_cluster(controller=make_controller(service=ServiceWishes(7817)))
    assert "slurmctldaddr" not in settings(slurm_conf(made))
    assert made.conf_server == "slurm-controller.research:7817"


def test_an_external_slurmctld_is_named_with_its_own_port_and_little_else():
    made = make_cluster(controller=external_controller("ctl.example.com", 7817))
    found = settings(slurm_conf(made))
    assert (found["slurmctldhost"], found["slurmctldport"]) == (["ctl.example.com"], ["7817"])
    assert set(found) == {
        "clustername",
        "slurmuser",
        "slurmctldhost",
        "slurmctldport",
        "authtype",
        "credtype",
        "authalttypes",
        "accountingstoragetype",
    }


def test_external_accounting_is_asked_where_it_runs():
    """Upstream names a Service that does not exist."""
    found = settings(slurm_conf(make_cluster(accounting=ExternalAccounting("dbd.example.com", 7))))
    where = (found["accountingstoragehost"], found["accountingstorageport"])
    assert where == (["dbd.example.com"], ["7"])


def test_accounting_of_ours_is_asked_at_the_port_of_its_service():
    made = make_cluster(accounting=make_accounting(service=ServiceWishes(7819)))
    found = settings(slurm_conf(made))
    assert found["accountingstoragehost"] == ["slurm-accounting.research"]
    assert found["accountingstorageport"] == ["7819"]


@pytest.mark.parametrize(
    ("extra", "key", "value"),
    [
        ("MaxNodeCount=64", "maxnodecount", "64"),
        ("returntoservice=0", "returntoservice", "0"),
        ("GresTypes=gpu,shard", "grestypes", "gpu,shard"),
        ("PrologFlags=X11", "prologflags", "X11"),
    ],
)
def test_a_default_of_ours_gives_way_to_the_users_line(extra, key, value):
    gpus = make_nodeset("gpu", extra="Gres=gpu:8", ssh=make_ssh("gpu"))
    text = slurm_conf(make_cluster(extra, nodesets=(gpus,)))
    assert settings(text)[key] == [value]
    assert text.lower().count(f"{key}=") == 1


def test_the_users_lines_are_kept_as_they_are_comments_and_all():
    extra = "# why\nSlurmctldDebug=debug2  # more"
    assert f"### EXTRA CONFIG ###\n{extra}\n" in slurm_conf(make_cluster(extra))


def test_options_of_both_are_united_and_ours_stay():
    text = slurm_conf(make_cluster("SlurmctldParameters=idle_on_node_suspend\nAuthInfo=ttl=5"))
    found = settings(text)
    assert found["slurmctldparameters"] == [
        "enable_configless,idle_on_node_suspend,reconfig_on_restart"
    ]
    assert found["authinfo"] == ["ttl=5,use_client_ids"]


def test_a_worker_that_comes_back_serves_again_by_itself():
    assert settings(slurm_conf(make_cluster()))["returntoservice"] == ["2"]


def test_the_types_of_the_workers_gres_are_declared():
    """https://github.com/SlinkyProject/slurm-operator/pull/191"""
    both = (
        make_nodeset("a", extra="Gres=gpu:h200:8,shard:16"),
        make_nodeset("b", extra="Weight=1 gres=gpu:4"),
    )
    assert settings(slurm_conf(make_cluster(nodesets=both)))["grestypes"] == ["gpu,shard"]
    assert "grestypes" not in settings(slurm_conf(make_cluster(nodesets=(make_nodeset(),))))


def test_a_bad_line_of_one_nodeset_does_not_hold_up_the_others():
    both = (make_nodeset("a", extra="nonsense"), make_nodeset("b", extra="Gres=gpu:4"))
    assert settings(slurm_conf(make_cluster(nodesets=both)))["grestypes"] == ["gpu"]


def test_logins_to_workers_have_a_step_to_go_to():
    ssh = (make_nodeset(ssh=make_ssh()),)
    assert settings(slurm_conf(make_cluster(nodesets=ssh)))["prologflags"] == ["Contain"]
    assert "prologflags" not in settings(slurm_conf(make_cluster(nodesets=(make_nodeset(),))))
    without_cgroups = make_cluster("ProctrackType=proctrack/linuxproc", nodesets=ssh)
    assert "prologflags" not in settings(slurm_conf(without_cgroups))


def test_scripts_run_in_the_order_of_their_names():
    two = (Files("late", ("90-b", "20-a")), Files("early", ("10-c",)))
    scripts = Scripts(prolog=two, prolog_slurmctld=two)
    found = settings(slurm_conf(make_cluster(config=Config(scripts=scripts))))
    assert found["prolog"] == ["10-c", "20-a", "90-b"]
    assert found["prologslurmctld"] == ["/etc/slurm/10-c", "/etc/slurm/20-a", "/etc/slurm/90-b"]


@pytest.mark.parametrize(
    ("known", "parameters"),
    [
        (Keys(SLURM_KEY, JWT_KEY), "jwt_key=/etc/slurm/jwt.key"),
        (Keys(SLURM_KEY, None, JWKS), "jwks=/etc/slurm/jwks.json"),
        (
            Keys(SLURM_KEY, JWT_KEY, JWKS),
            "jwt_key=/etc/slurm/jwt.key,jwks=/etc/slurm/jwks.json",
        ),
    ],
)
def test_tokens_are_checked_with_every_key_there_is(known, parameters):
    assert settings(slurm_conf(make_cluster(keys=known)))["authaltparameters"] == [parameters]


def test_metrics_are_asked_only_of_a_slurmctld_that_has_them():
    metrics = make_controller(metrics=Metrics())
    new, unknown, old = (
        settings(slurm_conf(make_cluster(controller=metrics, version=version)))
        for version in (NEWEST, None, Version(25, 5))
    )
    assert new["metricstype"] == unknown["metricstype"] == ["metrics/openmetrics"]
    assert "metricstype" not in old


# -- how many nodes


def test_the_table_of_nodes_leaves_room_to_double():
    for asked, size in ((0, 1024), (1, 1024), (512, 1024), (513, 2048), (5000, 16384)):
        assert max_nodes(make_cluster(nodesets=(make_nodeset(replicas=asked),))) == size


def test_scaling_from_one_to_a_thousand_changes_the_configuration_once():
    texts = [
        slurm_conf(make_cluster(nodesets=(make_nodeset(replicas=replicas),)))
        for replicas in range(1, 1001)
    ]
    assert len(set(texts)) == 2


def test_workers_on_every_node_find_room_though_nobody_counts_them():
    assert max_nodes(make_cluster(nodesets=(make_nodeset(mode=Mode.EVERY_NODE),))) == 4096


def test_the_table_of_nodes_never_shrinks():
    made = make_cluster(nodesets=(make_nodeset(replicas=1),), node_table=4096)
    assert max_nodes(made) == 4096


# -- what users write


@given(extra=st.text(alphabet="aB=, \n\"#\\'\r\t\0%", max_size=40))
def test_whatever_the_user_writes_no_line_of_ours_changes(extra):
    try:
        answer = slurm_conf(make_cluster(extra))
    except ConfError as refused:
        answer = str(refused)
    assert answer.startswith(("extraConf", slurm_conf(make_cluster())))


def test_a_cluster_name_cannot_bring_a_line_of_its_own():
    with pytest.raises(ConfError, match="clusterName"):
        slurm_conf(make_cluster(slurm_name="a\nSlurmUser=root"))


def test_the_host_of_an_external_slurmctld_cannot_bring_a_line_of_its_own():
    with pytest.raises(ConfError, match=r"externalConfig\.host"):
        slurm_conf(make_cluster(controller=external_controller("a\nSlurmUser=root")))


# -- cgroup.conf


def test_cgroups_are_found_without_asking_systemd():
    assert cgroup_conf(make_cluster()) == "CgroupPlugin=autodetect\nIgnoreSystemd=yes\n"


# -- a trial


USED = """SlurmctldHost=other
StateSaveLocation=/elsewhere
SlurmctldDebug=quiet
AccountingStorageEnforce=qos
PartitionName=all Nodes=ALL QOS=normal AllowQos=a MaxTime=5
"""


def test_a_trial_touches_nothing_in_use():
    made = make_cluster(USED, accounting=make_accounting())
    found = settings(tried(made, "check"))
    assert found["slurmctldhost"] == ["check"]
    assert found["slurmctldport"] != ["6817"]
    assert found["statesavelocation"] == ["/var/spool/slurmctld/research_slurm"]
    assert found["accountingstoragetype"] == ["accounting_storage/none"]
    gone = {"slurmctldaddr", "accountingstoragehost", "accountingstorageenforce"}
    assert not gone & found.keys()


def test_a_trial_can_be_heard():
    """Its verdict is read from what it logs, so neither a file nor a level may take that away."""
    found = settings(tried(make_cluster(USED), "check"))
    assert not {"slurmctldlogfile", "slurmschedlogfile", "slurmctlddebug"} & found.keys()


def test_a_trial_does_not_judge_the_names_of_qos():
    lines = conf.parse(tried(make_cluster(USED), "check"))
    (partition,) = [line for line in lines if line.key == "PartitionName"]
    assert partition.pairs == (("PartitionName", "all"), ("Nodes", "ALL"), ("MaxTime", "5"))


def test_a_trial_judges_everything_else_that_the_user_wrote():
    made = make_cluster("Nonsense=1\nSelectType=select/zzz")
    found = settings(tried(made, "check"))
    assert (found["nonsense"], found["selecttype"]) == (["1"], ["select/zzz"])
    nodesets = replace(made, nodesets=(make_nodeset("gpu"),))
    assert settings(tried(nodesets, "check"))["nodeset"] == ["gpu"]
