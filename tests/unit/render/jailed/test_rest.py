from dataclasses import replace

import pytest

from shoal.model.maintenance import Mode
from shoal.render.jailed import controller, rest

from ..builders import container_of, environment, notes_of, spec_of, the
from .worlds import KEYS, make_cluster, make_jail, make_nodeset, make_rest


def deployment(rest_=None, **cluster):
    cluster = make_cluster(**cluster)
    held = controller.wanted(cluster, cluster.jail)
    return the("Deployment", rest.objects(cluster, cluster.jail, rest_ or make_rest(), held))


def test_slurmrestd_has_as_many_threads_and_connections_as_the_user_wants():
    env = environment(container_of(deployment(make_rest(threads=8, connections=50)), "rest"))
    assert env["SLURMRESTD_THREAD_COUNT"] == "8"
    assert env["SLURMRESTD_MAX_CONNECTIONS"] == "50"


def test_slurmrestd_keeps_no_memory_of_large_answers():
    assert environment(container_of(deployment(), "rest"))["MALLOC_ARENA_MAX"] == "1"


def test_a_new_node_set_does_not_restart_slurmrestd_and_a_new_setting_does():
    before = notes_of(deployment())
    assert notes_of(deployment(nodesets=(make_nodeset("a"),))) == before
    rekeyed = replace(KEYS, jwt=replace(KEYS.jwt, digest="new"))
    assert notes_of(deployment(keys=rekeyed)) != before
    assert notes_of(deployment(jail=make_jail(gpu=True))) != before


def test_slurmrestd_changes_nothing_in_the_jail():
    mounts = container_of(deployment(), "rest")["volumeMounts"]
    (jail,) = [mount for mount in mounts if mount["mountPath"] == "/mnt/jail"]
    assert jail["readOnly"]


def test_slurmrestd_does_without_a_jail():
    made = deployment(make_rest(jail=None))
    paths = [mount["mountPath"] for mount in container_of(made, "rest")["volumeMounts"]]
    assert paths == ["/mnt/slurm-configs", "/mnt/jail/etc/slurm"]
    assert [v["name"] for v in spec_of(made)["volumes"]] == ["slurm-configs"]


def test_its_workload_and_its_service_have_names_of_their_own():
    assert deployment()["metadata"]["name"] == "one-rest"
    assert rest.service(make_rest())["metadata"]["name"] == "one-rest-svc"
    assert deployment(make_rest(workload=""))["metadata"]["name"] == "one-rest-svc"


@pytest.mark.parametrize("mode", Mode)
def test_a_cluster_that_is_down_has_no_slurmrestd(mode):
    made = deployment(make_rest(replicas=2), jail=make_jail(mode=mode))
    assert made["spec"]["replicas"] == (0 if mode.down else 2)
