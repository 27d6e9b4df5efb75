from dataclasses import replace

import pytest

from shoal.model.controller import Keys
from shoal.model.part import ServiceWishes
from shoal.render import controller, rest
from shoal.slurm.keys import Version

from .builders import (
    JWT_KEY,
    OLDEST,
    SLURM_KEY,
    container_of,
    environment,
    external_controller,
    make_accounting,
    make_cluster,
    make_part,
    make_rest,
    notes_of,
    spec_of,
    the,
)


def pods(cluster=None, made=None):
    return the("Deployment", rest.objects(cluster or make_cluster(), made or make_rest()))


def main(*args):
    return container_of(pods(*args), "slurmrestd")


def test_slurmrestd_serves_accounting_only_where_there_is_some():
    assert main()["args"] == ["-s", "openapi/slurmctld", "0.0.0.0:6820"]
    assert main(make_cluster(accounting=make_accounting()))["args"] == ["0.0.0.0:6820"]


def test_where_to_listen_stays_the_last_argument():
    part = make_part("RestApi", "slurm", slurmrestd={"args": ["-vvv"]})
    made = main(make_cluster(accounting=make_accounting()), make_rest(part=part))
    assert made["args"] == ["-vvv", "0.0.0.0:6820"]


def test_slurmrestd_keeps_no_memory_of_large_answers():
    """https://github.com/SlinkyProject/slurm-operator/issues/190"""
    assert environment(main())["MALLOC_ARENA_MAX"] == "1"


@pytest.mark.parametrize(
    ("version", "compact"), [(OLDEST, None), (None, None), (Version(25, 5), "compact")]
)
def test_answers_are_compact_where_slurmrestd_can(version, compact):
    assert environment(main(make_cluster(version=version))).get("SLURM_JSON") == compact


def test_a_new_configuration_or_key_restarts_slurmrestd():
    """Upstream's goes on with what it read at its start."""
    before = make_cluster()
    key = replace(before, keys=Keys(replace(SLURM_KEY, digest="x"), JWT_KEY))
    config = replace(before, config=replace(before.config, extra="MinJobAge=2"))
    notes = [notes_of(pods(one)) for one in (before, key, config)]
    assert notes[0] != notes[1]
    assert notes[0] != notes[2]


def test_a_configuration_that_is_held_back_does_not_restart_slurmrestd():
    before = make_cluster()
    after = replace(before, config=replace(before.config, extra="Nonsense=1"))
    held = rest.objects(after, make_rest(), controller.wanted(before))
    assert the("Deployment", held) == pods(before)


def test_slurmrestd_reads_slurm_conf_and_the_key_and_nothing_else():
    (volume,) = [v for v in spec_of(pods())["volumes"] if v["name"] == "slurm-etc"]
    paths = [
        item["path"]
        for source in volume["projected"]["sources"]
        for item in next(iter(source.values()))["items"]
    ]
    assert paths == ["slurm.conf", "slurm.key"]


def test_beside_an_external_slurmctld_slurmrestd_runs_as_ever():
    made = make_cluster(controller=external_controller(), keys=Keys(None, None))
    (volume,) = [v for v in spec_of(pods(made))["volumes"] if v["name"] == "slurm-etc"]
    assert [next(iter(s.values()))["name"] for s in volume["projected"]["sources"]] == [
        "slurm-config"
    ]


def test_slurmrestd_is_neither_root_nor_slurm_and_passes_the_restricted_standard():
    spec = spec_of(pods())
    right = {**spec["securityContext"], **spec["containers"][0]["securityContext"]}
    assert right["runAsUser"] == 65534
    assert right["readOnlyRootFilesystem"] is True
    assert right["capabilities"] == {"drop": ["ALL"]}
    assert right["allowPrivilegeEscalation"] is False
    assert right["seccompProfile"] == {"type": "RuntimeDefault"}


def test_the_service_has_the_users_port_and_the_replicas_are_the_users():
    found = rest.objects(make_cluster(), make_rest(service=ServiceWishes(8080), replicas=3))
    assert the("Service", found)["spec"]["ports"][0]["port"] == 8080
    assert the("Deployment", found)["spec"]["replicas"] == 3
