from dataclasses import replace

import pytest

from shoal.model.config import Config, Scripts
from shoal.model.controller import (
    ClaimTemplate,
    Ephemeral,
    ExistingClaim,
    Keys,
)
from shoal.model.part import Files, Marks, ServiceWishes
from shoal.render import controller
from shoal.render.controller import Published

from .builders import (
    JWKS,
    JWT_KEY,
    NEWEST,
    OLDEST,
    SLURM_KEY,
    container_of,
    external_controller,
    make_cluster,
    make_controller,
    make_nodeset,
    make_part,
    notes_of,
    spec_of,
    the,
    wishing,
)

HASH = "slinky.slurm.net/slurm-config-hash"
HA = {"replicas": 2, "state": ExistingClaim("state")}


def pods(**changes):
    """Return the StatefulSet of a cluster whose slurmctld is so."""
    version = changes.pop("version", NEWEST)
    made = make_cluster(controller=make_controller(**changes), version=version)
    return the("StatefulSet", controller.objects(made))


def named(name, objects):
    (found,) = [obj for obj in objects if obj["metadata"]["name"] == name]
    return found


def test_slurmctld_consists_of_two_services_its_configuration_and_its_pods():
    found = [(o["kind"], o["metadata"]["name"]) for o in controller.objects(make_cluster())]
    assert found == [
        ("Service", "slurm-controller-internal"),
        ("Service", "slurm-controller"),
        ("ConfigMap", "slurm-config"),
        ("ConfigMap", "slurm-controller-state"),
        ("StatefulSet", "slurm-controller"),
    ]


def test_an_external_slurmctld_has_only_a_configuration_for_slurmrestd():
    (found,) = controller.objects(make_cluster(controller=external_controller()))
    assert (found["kind"], found["metadata"]["name"]) == ("ConfigMap", "slurm-config")
    assert list(found["data"]) == ["slurm.conf"]


# -- when it is ready


def test_a_slurmctld_is_ready_when_it_serves():
    main = container_of(pods(), "slurmctld")
    assert main["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_one_that_stands_by_counts_as_ready_or_no_update_would_end():
    main = container_of(pods(**HA), "slurmctld")
    assert main["readinessProbe"]["httpGet"]["path"] == "/livez"


@pytest.mark.parametrize("version", [OLDEST, None])
def test_an_older_or_unknown_slurmctld_is_asked_by_tcp(version):
    main = container_of(pods(version=version), "slurmctld")
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert main[probe]["tcpSocket"] == {"port": "slurmctld"}


def test_the_users_probe_takes_the_place_of_ours():
    theirs = {"readinessProbe": {"exec": {"command": ["true"]}}}
    main = container_of(pods(part=make_part("Controller", "slurm", slurmctld=theirs)), "slurmctld")
    assert "httpGet" not in main["readinessProbe"]
    assert main["readinessProbe"]["exec"] == {"command": ["true"]}


# -- its state


def test_the_state_lies_on_a_volume_of_its_own():
    made = pods(state=ClaimTemplate({"accessModes": ["ReadWriteOnce"]}))
    (claim,) = made["spec"]["volumeClaimTemplates"]
    assert claim == {"metadata": {"name": "statesave"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    mounts = container_of(made, "slurmctld")["volumeMounts"]
    where = {mount["name"]: mount["mountPath"] for mount in mounts}
    assert where["statesave"] == "/var/spool/slurmctld/research_slurm"


@pytest.mark.parametrize(
    ("state", "volume"),
    [
        (ExistingClaim("mine"), {"persistentVolumeClaim": {"claimName": "mine"}}),
        (Ephemeral(), {"emptyDir": {}}),
    ],
)
def test_the_state_lies_where_the_user_wants_it(state, volume):
    made = pods(state=state)
    assert "volumeClaimTemplates" not in made["spec"]
    assert {"name": "statesave", **volume} in spec_of(made)["volumes"]


def test_slurmctld_has_time_to_write_its_state_down():
    assert spec_of(pods())["terminationGracePeriodSeconds"] >= 30


# -- several of them


def test_slurmctlds_start_side_by_side_on_different_nodes():
    made = pods(**HA)
    assert made["spec"]["podManagementPolicy"] == "Parallel"
    (term,) = spec_of(made)["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"] == make_controller().part.selector


def test_going_from_one_slurmctld_to_two_changes_no_field_that_cannot_change():
    fixed = ("podManagementPolicy", "serviceName", "selector", "volumeClaimTemplates")
    one = pods(state=ExistingClaim("state"))["spec"]
    two = pods(**HA)["spec"]
    assert [one.get(key) for key in fixed] == [two.get(key) for key in fixed]


# -- what restarts it


def test_a_new_configuration_restarts_slurmctld():
    before, after = (notes_of(pods_of(make_cluster(extra))) for extra in ("", "MinJobAge=2"))
    assert before[HASH] != after[HASH]


def pods_of(cluster):
    return the("StatefulSet", controller.objects(cluster))


def test_new_contents_of_the_users_files_restart_slurmctld():
    """Upstream looks at its own files only."""
    before, after = (
        notes_of(pods_of(make_cluster(config=Config(contents={"gres.conf": text}))))
        for text in (b"a", b"b")
    )
    assert before[HASH] != after[HASH]


@pytest.mark.parametrize("in_place", [False, True])
def test_new_keys_restart_slurmctld(in_place):
    made = make_cluster(controller=make_controller(in_place=in_place))
    other = replace(made, keys=Keys(replace(SLURM_KEY, digest="x"), replace(JWT_KEY, digest="y")))
    notes = notes_of(pods_of(other))
    assert notes["slinky.slurm.net/slurm-key-hash"] == "x"
    assert notes["slinky.slurm.net/jwt-key-hash"] == "y"


def test_in_place_a_new_configuration_restarts_nothing():
    one, other = (
        make_cluster(extra, controller=make_controller(in_place=True))
        for extra in ("", "MinJobAge=2")
    )
    assert pods_of(one) == pods_of(other)
    assert container_of(pods_of(one), "reconfigure")["restartPolicy"] == "Always"


def test_in_place_running_pods_are_told_of_the_configuration_and_of_public_keys():
    made = make_cluster(keys=Keys(SLURM_KEY, JWT_KEY, JWKS))
    held = controller.wanted(made)
    assert controller.read_in_place(made, held) == {
        HASH: held.digest,
        "slinky.slurm.net/jwks-hash": JWKS.digest,
    }


def test_without_in_place_nobody_reconfigures():
    names = [one["name"] for one in spec_of(pods())["initContainers"]]
    assert names == ["state", "logfile"]


def test_a_configuration_that_is_held_back_changes_nothing():
    before = make_cluster()
    used = controller.wanted(before)
    files = (Files("gres", ("gres.conf",), "changed"),)
    config = Config("Nonsense=1", files=files, contents={"gres.conf": b"changed"})
    after = replace(before, config=config)
    held = controller.objects(after, Published(used.files, used.digest))
    config = named("slurm-config", held)
    assert config == named("slurm-config", controller.objects(before))
    notes = notes_of(the("StatefulSet", held))
    assert notes == notes_of(the("StatefulSet", controller.objects(before)))


def test_the_configuration_says_which_one_it_is():
    made = make_cluster()
    config = named("slurm-config", controller.objects(made))
    assert config["metadata"]["annotations"][HASH] == controller.wanted(made).digest


def test_scaling_does_not_restart_slurmctld():
    few, many = (make_cluster(nodesets=(make_nodeset(replicas=replicas),)) for replicas in (1, 500))
    assert pods_of(few) == pods_of(many)


# -- its files


def test_slurmctld_mounts_what_is_published_and_nothing_that_the_user_may_change():
    config = Config(
        files=(Files("z-files", ("gres.conf",)),), scripts=Scripts(prolog=(Files("a-scripts"),))
    )
    made = make_cluster(config=config, keys=Keys(SLURM_KEY, JWT_KEY, JWKS))
    (volume,) = [v for v in spec_of(pods_of(made))["volumes"] if v["name"] == "slurm-etc"]
    sources = [next(iter(s.values()))["name"] for s in volume["projected"]["sources"]]
    assert sources == ["slurm-config", "slurm-auth", "slurm-jwt", "slurm-jwks"]


def config_with(**contents):
    """Return the ConfigMap of a cluster with these files of the user; a _ stands for a dot."""
    files = {name.replace("_", "."): content for name, content in contents.items()}
    made = make_cluster(config=Config(contents=files))
    return named("slurm-config", controller.objects(made)), controller.wanted(made)


def test_the_users_files_are_published_together_with_ours():
    config, _ = config_with(gres_conf=b"AutoDetect=nvml", prolog_sh=b"#!/bin/sh")
    assert set(config["data"]) == {"slurm.conf", "cgroup.conf", "gres.conf", "prolog.sh"}
    assert config["data"]["gres.conf"] == "AutoDetect=nvml"
    assert "binaryData" not in config


def test_a_file_that_is_no_text_is_published_byte_by_byte():
    config, wanted = config_with(program=b"\x7fELF\xff", gres_conf=b"")
    assert config["binaryData"] == {"program": "f0VMRv8="}
    assert "program" not in config["data"]
    texts = sum(len(text) for text in config["data"].values())
    assert wanted.size_bytes == texts + 5
    # The same letters as a text are another configuration.
    assert config_with(program=b"f0VMRv8=", gres_conf=b"")[1].digest != wanted.digest


def test_no_file_of_the_users_takes_the_place_of_slurm_conf():
    config, wanted = config_with(slurm_conf=b"Nonsense=1")
    assert "Nonsense" not in config["data"]["slurm.conf"]
    assert wanted == controller.wanted(make_cluster())


def test_scripts_can_be_run_and_nobody_else_reads_the_keys():
    (volume,) = [v for v in spec_of(pods())["volumes"] if v["name"] == "slurm-etc"]
    assert volume["projected"]["defaultMode"] == 0o610


def test_a_cgroup_conf_of_the_users_takes_the_place_of_ours():
    config = Config(files=(Files("mine", ("cgroup.conf",)),))
    assert list(controller.files(make_cluster(config=config))) == ["slurm.conf"]


# -- rights


@pytest.mark.parametrize("in_place", [False, True])
def test_slurmctlds_pod_passes_the_restricted_standard(in_place):
    """https://github.com/SlinkyProject/slurm-operator/issues/184"""
    made = pods(in_place=in_place)
    spec = spec_of(made)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for one in (*spec["initContainers"], *spec["containers"]):
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_slurmctld_cannot_write_to_its_image():
    main = container_of(pods(), "slurmctld")
    assert main["securityContext"]["readOnlyRootFilesystem"] is True
    writable = {m["mountPath"] for m in main["volumeMounts"] if not m.get("readOnly")}
    assert {"/run", "/tmp", "/run/slurmctld", "/var/log/slurm"} <= writable


def test_the_templates_marks_are_on_the_workload_and_its_pods():
    part = wishing(make_part("Controller", "slurm"), marks=Marks({"team": "a"}, {"note": "b"}))
    made = pods(part=part)
    for meta in (made["metadata"], made["spec"]["template"]["metadata"]):
        assert (meta["labels"]["team"], meta["annotations"]["note"]) == ("a", "b")


def test_an_srun_in_slurmctlds_own_pod_does_not_go_round_by_the_service():
    """Back from the Service it would have another sender, whom slurmctld cannot answer."""
    aliases = spec_of(pods())["hostAliases"]
    assert aliases == [{"ip": "127.0.0.1", "hostnames": ["slurm-controller.research"]}]


@pytest.mark.parametrize("changes", [HA, {"service": ServiceWishes(7817)}])
def test_where_the_service_is_not_asked_its_name_leads_to_it(changes):
    assert "hostAliases" not in spec_of(pods(**changes))
