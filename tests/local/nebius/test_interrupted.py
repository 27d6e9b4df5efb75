"""An operator killed at any moment goes on where it was; one with nothing to do writes nothing."""

from collections import Counter
from collections.abc import Mapping

import pytest

from ..clusters import wait_for
from ..slinky.test_upheaval import settled, writes_within
from ..workers import upheavals
from ..workers.nodesets import stays
from .site import WHOLE_S, Rooted
from .test_maintenance import DOWN, begin, end, finish
from .test_minimal import KINDS, OF_KUBERNETES, STAYS
from .test_workers import UPDATE, uids

long = pytest.mark.long


def made(slurm: Rooted) -> set[str]:
    """Name what a cluster is made of, but for what Kubernetes has thought up."""
    found = slurm.named(*KINDS) - OF_KUBERNETES
    pods = {name for name in found if name.startswith("pod/")}
    return (found - pods) | {name for name in pods if name[-1].isdigit() and name[-2] == "-"}


@pytest.mark.parametrize("seconds", [15, pytest.param(60, marks=long)])
def test_an_operator_with_nothing_to_do_writes_nothing(slurm, operator, seconds):
    settled(operator)
    assert writes_within(operator, seconds) == Counter()


@long
def test_an_operator_killed_again_and_again_makes_and_deletes_the_same_cluster(
    slurm, operator, make_site, record_property
):
    mine = make_site("killed")
    with upheavals.operator_killed(operator, 1, record_property):
        mine.apply("minimal")
        mine.available(timeout_s=2 * WHOLE_S)
    mine.idle(2)
    assert made(mine) == made(slurm)
    mine.completes(mine.submit("--chdir=/", "--nodes=2", "--wrap=srun hostname"))
    job = mine.start("worker-0")
    with upheavals.operator_killed(operator, 2, record_property):
        mine.kubectl("delete", "slurmcluster", "slurm", "--wait=false")
        mine.only_workers("slurm-worker-0")
        stays("the job", job.runs, 10)
        job.end()
        job.ended_well()
        wait_for(
            "all but records to go",
            lambda: mine.named(*KINDS) - OF_KUBERNETES,
            lambda seen: seen == STAYS,
        )


@long
def test_an_operator_killed_again_and_again_brings_a_maintenance_to_its_end(
    slurm, operator, record_property
):
    with upheavals.operator_killed(operator, 3, record_property):
        job = begin(slurm, DOWN, record_property)
        finish(slurm, job, record_property)
        end(slurm, job, record_property)


@long
def test_an_operator_killed_again_and_again_renews_every_worker_and_waits_for_a_job(
    slurm, operator, record_property
):
    first, job = uids(slurm), slurm.start("worker-0")
    with upheavals.operator_killed(operator, 4, record_property):
        slurm.workers({"slurmd": {"resources": {"memory": "480Mi"}}})
        renewed(slurm, {"worker-1": first["worker-1"]})
        wait_for("the busy one to drain", lambda: slurm.node("worker-0"), lambda s: s == UPDATE)
        stays("the job", job.runs)
        job.end()
        job.ended_well()
        renewed(slurm, first)
    second = uids(slurm)
    slurm.workers({"slurmd": {"resources": {"memory": "512Mi"}}})
    renewed(slurm, second)
    slurm.available()
    slurm.idle(2)


def renewed(slurm: Rooted, old: Mapping[str, str]) -> None:
    """Wait until workers are others than they were, and ready."""
    wait_for(
        f"others in the place of {', '.join(old)}",
        lambda: uids(slurm),
        lambda seen: all(seen.get(name, uid) != uid for name, uid in old.items()),
        2 * WHOLE_S,
    )
