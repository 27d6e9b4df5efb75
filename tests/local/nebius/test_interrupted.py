"""An operator killed at any moment goes on where it was; one with nothing to do writes nothing."""

import time
from collections import Counter

import pytest

from ..clusters import wait_for
from ..slinky.test_upheaval import settled, writes_within
from ..workers import upheavals
from .site import Rooted
from .test_maintenance import DOWN, begin, end, finish
from .test_minimal import KINDS, OF_KUBERNETES, STAYS

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
        mine.available()
    mine.idle(2)
    assert made(mine) == made(slurm)
    mine.completes(mine.submit("--chdir=/", "--nodes=2", "--wrap=srun hostname"))
    job = mine.start("worker-0")
    with upheavals.operator_killed(operator, 2, record_property):
        mine.kubectl("delete", "slurmcluster", "slurm", "--wait=false")
        mine.only_workers("slurm-worker-0")
        time.sleep(10)
        assert job.runs()
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
