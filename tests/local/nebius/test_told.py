"""What a cluster of slurm.nebius.ai tells: troubles as events, and whose a name is already."""

import pytest

from shoal.local import images

from ..clusters import wait_for
from ..slinky import site as slinky
from ..slinky.operator import load
from ..workers.nodesets import stays
from .site import SLURMCTLD
from .test_config import EXTRA

# -- events

NOBODYS = "localhost:1/there-is-none:1"
BAD = {"customSlurmConfig": f"{EXTRA}SchedulerType=sched/nowhere\n"}
ASTRAY = {"slurmNodes": {"login": {"k8sNodeFilterName": "nowhere"}}}
UNHAD = {"slurmNodes": {"exporter": {"enabled": True, "exporterContainer": {"image": NOBODYS}}}}
TROUBLES = [
    pytest.param(
        "ConfigRefused",
        ("sched/nowhere", "the one in use stays"),
        BAD,
        {"customSlurmConfig": EXTRA},
        id="a configuration that Slurm refuses",
        marks=pytest.mark.long,
    ),
    pytest.param(
        "SpecInvalid",
        ("spec.slurmNodes.login.k8sNodeFilterName", "there is no filter 'nowhere'"),
        ASTRAY,
        {"slurmNodes": {"login": {"k8sNodeFilterName": "any"}}},
        id="a field that names nothing",
    ),
    pytest.param(
        "PodsFailing",
        (NOBODYS, "kubectl describe pod slurm-slurm-exporter-"),
        UNHAD,
        {"slurmNodes": {"exporter": {"enabled": False, "exporterContainer": None}}},
        id="an image that nobody has",
        marks=pytest.mark.long,
    ),
]


@pytest.mark.parametrize(("reason", "words", "wrong", "right"), TROUBLES)
def test_a_trouble_is_one_event_of_the_cluster_with_the_cure_however_often_it_is_looked_at(
    slurm, operator, reason, words, wrong, right
):
    before = slurm.uids()

    def told() -> list[tuple[str, str, int]]:
        return [one for one in slurm.warnings() if one[0] == reason]

    known = len(told())

    def new() -> list[tuple[str, str, int]]:
        return told()[known:]

    slurm.change(wrong)
    try:
        wait_for("an event", new)
        operator.kill()
        operator.start()
        stays("one event", lambda: [number for _, _, number in new()] == [1])
    finally:
        slurm.change(right)
    slurm.available()
    ((_, note, _),) = new()
    assert [word for word in words if word not in note] == []
    wait_for("the pods that there were", slurm.uids, lambda seen: seen == before)


# -- names that are taken

FORCE = "nodeset.slinky.slurm.net/force-delete"


@pytest.mark.long
def test_a_slinky_cluster_by_a_name_that_is_taken_is_told_the_cure_and_takes_nothing(
    slurm, operator
):
    load(operator.cluster, *images.SLURM[slurm.series])
    job, before = slurm.start("worker-0"), slurm.uids()
    workload = slurm.cluster.get("statefulset", "slurm-controller")["metadata"]
    beside = slinky.Site(slurm.cluster, slurm.series, slurm.folder)
    beside.keys()
    beside.apply("minimal")
    told = wait_for(
        "words of whose it is",
        lambda: beside.condition("controllers.slinky.slurm.net/slurm"),
        lambda seen: seen.get("reason") == "Refused",
    )
    assert "StatefulSet slurm-controller: it belongs to SlurmCluster slurm" in told["message"]
    assert "metadata.name: name this Controller otherwise, or delete that" in told["message"]
    stays("the job", job.runs, 20)
    now = slurm.cluster.get("statefulset", "slurm-controller")["metadata"]
    assert (now["uid"], now["generation"]) == (workload["uid"], workload["generation"])
    assert before.items() <= slurm.uids().items()
    assert slurm.told()["phase"] == "Available"
    nodes = slurm.run("sinfo", "--noheader", "--Node", "--format=%N", pod=SLURMCTLD).out.split()
    assert set(nodes) == {"worker-0", "worker-1"}
    # Nobody knows whether its workers have jobs, as no slurmctld is theirs.
    slurm.kubectl("annotate", "nodesets.slinky.slurm.net", "worker", f"{FORCE}=true")
    beside.delete("minimal")
    slurm.kubectl("delete", "secret", "slurm-keys")
    wait_for("it to go", slurm.uids, lambda seen: seen == before)
    job.end()
    job.ended_well()
    slurm.available()
