from dataclasses import replace

import pytest

from shoal.model.controller import Keys, Metrics
from shoal.model.settings import HealthCheck, Settings
from shoal.render.jailed import slurm_conf
from shoal.slurm import conf
from shoal.slurm.conf import ConfError, Setting

from .worlds import (
    KEYS,
    MUNGE_KEY,
    NEWEST,
    OLDEST,
    SLURM,
    WORLDS,
    make_accounting,
    make_cluster,
    make_controller,
    make_jail,
    make_nodeset,
    make_workers,
)

# The order in which users know the file.
ORDER = """ClusterName SlurmctldHost AuthType CredType DefMemPerNode DefCpuPerGPU CompleteWait
MaxJobCount MinJobAge MessageTimeout MpiDefault MailProg PluginDir ProctrackType ReturnToService
SlurmctldPidFile SlurmctldPort SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmUser StateSaveLocation
TaskPlugin CliFilterPlugins LaunchParameters ScronParameters PropagateResourceLimits
SchedulerParameters InactiveLimit KillOnBadExit KillWait UnkillableStepTimeout SlurmctldTimeout
SlurmdTimeout TCPTimeout WaitTime SlurmctldParameters RebootProgram ResumeTimeout SchedulerType
SelectType SelectTypeParameters SlurmctldDebug SlurmctldLogFile SlurmdDebug SlurmdLogFile DebugFlags
MaxNodeCount MaxArraySize JobRequeue PreemptMode PreemptType PartitionName PartitionName
PartitionName NodeSet AuthAltTypes AuthAltParameters"""


def text_of(cluster):
    return slurm_conf.slurm_conf(cluster, cluster.jail)


def settings_of(text):
    return [line for line in conf.parse(text) if isinstance(line, Setting)]


def values(cluster, extra=""):
    found = conf.effective(conf.parse(text_of(cluster).replace("include custom_slurm.conf", extra)))
    return {key: lines[-1].value for key, lines in found.items()}


def tried(cluster):
    return slurm_conf.tried(cluster, cluster.jail, "check")


def test_the_lines_are_in_the_order_that_users_know():
    assert [line.key for line in settings_of(text_of(make_cluster()))] == ORDER.split()


def test_the_users_own_lines_are_read_last():
    assert text_of(make_cluster(extra="KillWait=7")).endswith("\ninclude custom_slurm.conf\n")


def test_what_the_user_leaves_empty_is_left_to_slurm():
    keys = values(make_cluster())
    assert not {"prolog", "epilog", "taskpluginparam"} & keys.keys()
    assert keys["completewait"] == "5"


def test_a_number_is_written_also_when_it_is_nothing():
    jail = make_jail(settings=Settings(slurm=(("DefMemPerNode", 0),)))
    assert values(make_cluster(jail=jail))["defmempernode"] == "0"


def test_slurmctld_is_not_told_of_a_topology_that_nobody_knows():
    assert "topologyplugin" not in values(make_cluster())
    known = make_jail(settings=Settings(slurm=SLURM, topology="SwitchName=root Nodes=worker-0\n"))
    assert values(make_cluster(jail=known))["topologyplugin"] == "topology/tree"


def test_a_topology_that_needs_no_description_is_the_users():
    flat = make_jail(settings=Settings(slurm=(("TopologyPlugin", "topology/flat"),)))
    assert values(make_cluster(jail=flat))["topologyplugin"] == "topology/flat"


def test_the_users_timeout_takes_the_place_of_ours():
    jail = make_jail(settings=Settings(slurm=(("ResumeTimeout", 60),)))
    lines = [x for x in settings_of(text_of(make_cluster(jail=jail))) if x.key == "ResumeTimeout"]
    assert [line.value for line in lines] == ["60"]


@pytest.mark.parametrize("gpu", [True, False])
def test_a_cluster_has_gpus_only_where_a_worker_has(gpu):
    assert ("grestypes" in values(make_cluster(jail=make_jail(gpu=gpu)))) is gpu


def test_nodes_are_looked_after_as_the_user_wants():
    health = HealthCheck("/opt/hc.sh", 120, ("ANY", "CYCLE"))
    keys = values(make_cluster(jail=make_jail(settings=Settings(health=health))))
    assert keys["healthcheckprogram"] == "/opt/hc.sh"
    assert keys["healthcheckinterval"] == "120"
    assert keys["healthchecknodestate"] == "ANY,CYCLE"


def test_slurmctld_is_found_by_its_service_whatever_the_cluster_is_called():
    assert values(make_cluster())["slurmctldhost"] == "one-controller-0(one-controller-svc)"


def test_accounting_is_found_from_any_namespace():
    keys = values(make_cluster(accounting=make_accounting()))
    assert keys["accountingstoragehost"] == "one-accounting-svc.research.svc.cluster.local"
    assert keys["accountingstoragetres"] == "CPU,Mem,Node,VMem,Gres/gpu"
    assert "accountingstoragehost" not in values(make_cluster())


def test_tokens_are_taken_only_where_there_is_a_key_for_them():
    assert values(make_cluster())["authalttypes"] == "auth/jwt"
    without = make_cluster(keys=Keys(None, None, munge=MUNGE_KEY))
    assert "authalttypes" not in values(without)


@pytest.mark.parametrize(("version", "served"), [(NEWEST, True), (OLDEST, False)])
def test_metrics_are_served_by_a_slurmctld_that_knows_how(version, served):
    made = make_cluster(version=version, controller=make_controller(metrics=Metrics()))
    assert ("metricstype" in values(made)) is served


def test_slurmd_listens_where_the_user_wants():
    moved = make_nodeset(jailed=make_workers(port=7818))
    assert values(make_cluster(nodesets=(moved,)))["slurmdport"] == "7818"


def test_workers_that_listen_at_different_ports_do_not_change_the_one_of_all():
    sets = tuple(
        make_nodeset(name, jailed=make_workers(port=port)) for name, port in (("a", 1), ("b", 2))
    )
    assert values(make_cluster(nodesets=sets))["slurmdport"] == "6818"


def test_the_table_of_nodes_has_room_to_double():
    many = replace(make_nodeset(), replicas=1000)
    assert values(make_cluster(nodesets=(many,)))["maxnodecount"] == "2048"


def test_the_table_of_nodes_does_not_shrink_in_maintenance():
    down = replace(make_nodeset(jailed=make_workers(listed=1000)), replicas=0)
    assert values(make_cluster(nodesets=(down,)))["maxnodecount"] == "2048"


@pytest.mark.parametrize("bad", ["x\nStateSaveLocation=/tmp", "a#b"])
def test_no_field_of_the_users_can_end_a_line(bad):
    jail = make_jail(settings=Settings(slurm=(("Prolog", bad),)))
    with pytest.raises(ConfError, match="slurmConfig: Prolog"):
        text_of(make_cluster(jail=jail))


# -- custom_slurm.conf


def test_options_that_both_of_us_set_are_united():
    made = make_cluster(extra="SlurmctldParameters=enable_stepmgr\n")
    text = slurm_conf.custom_conf(made, made.jail)
    assert text.startswith("SlurmctldParameters=enable_stepmgr\n")
    (last,) = conf.effective(conf.parse(text))["slurmctldparameters"]
    assert last.value == "conmgr_max_connections=512,conmgr_threads=16,enable_stepmgr"


def test_the_users_text_is_kept_as_it_is():
    made = make_cluster(extra="# mine\nKillWait=7")
    assert slurm_conf.custom_conf(made, made.jail) == "# mine\nKillWait=7\n"


@pytest.mark.parametrize("extra", ["", "  \n"])
def test_nothing_of_the_users_is_a_file_without_settings_that_slurm_does_not_complain_of(extra):
    made = make_cluster(extra=extra)
    text = slurm_conf.custom_conf(made, made.jail)
    assert text.strip()  # or Slurm's commands would say that it is empty
    assert not [line for line in conf.parse(text) if isinstance(line, conf.Setting)]


def test_text_that_slurm_reads_as_another_is_refused_by_the_fields_name():
    made = make_cluster(extra="KillWait+=7")
    with pytest.raises(ConfError, match="customSlurmConfig, line 1: KillWait"):
        slurm_conf.custom_conf(made, made.jail)


# -- a trial


@pytest.mark.parametrize("case", WORLDS)
def test_a_trial_touches_nothing_that_is_in_use(case):
    keys = conf.effective(conf.parse(tried(WORLDS[case]().cluster)))
    assert [line.value for line in keys["slurmctldhost"]] == ["check"]
    assert keys["slurmctldport"][-1].value != "6817"
    assert keys["accountingstoragetype"][-1].value == "accounting_storage/none"
    assert "accountingstoragehost" not in keys


@pytest.mark.parametrize("case", WORLDS)
def test_a_trial_neither_looks_up_nor_asks_a_node(case):
    nodes = [x for x in settings_of(tried(WORLDS[case]().cluster)) if x.key == "NodeName"]
    for line in nodes:
        pairs = dict(line.pairs)
        assert pairs["State"] == "FUTURE"
        assert not {"NodeAddr", "NodeHostname", "Port"} & pairs.keys()


def test_a_trial_has_the_users_lines_and_those_that_both_of_us_set():
    keys = conf.effective(conf.parse(tried(make_cluster(extra="KillWait=7"))))
    assert keys["killwait"][-1].value == "7"
    united = make_cluster(extra="SlurmctldParameters=enable_stepmgr")
    options = conf.effective(conf.parse(tried(united)))["slurmctldparameters"][-1].value
    assert {"enable_stepmgr", "conmgr_threads=16"} <= set(options.split(","))


def test_a_trial_finds_the_key_of_tokens_where_it_is_put():
    keys = conf.effective(conf.parse(tried(make_cluster())))
    assert keys["authaltparameters"][-1].value == "jwt_key=/etc/slurm/jwt.key"
    without = tried(make_cluster(keys=replace(KEYS, jwt=None)))
    assert "AuthAlt" not in without


def test_a_trial_needs_no_accounting():
    made = make_cluster(extra="PartitionName=x Nodes=ALL QOS=fast", accounting=make_accounting())
    (line,) = [x for x in settings_of(tried(made)) if x.pairs[0] == ("PartitionName", "x")]
    assert line.pairs == (("PartitionName", "x"), ("Nodes", "ALL"))
