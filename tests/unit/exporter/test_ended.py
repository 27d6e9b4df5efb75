"""Jobs that ended, in slices of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Says
from fakes.slurmrestd.paths import NEVER
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.ended import (
    LONGEST_SLICE_S,
    SLICE,
    EndedJobs,
    NoDatabaseError,
    at_most,
    slices,
)

LOOP = VirtualLoop
NOW = 1_800_000_000


@given(st.integers(0, 10_000), st.integers(0, 1_000_000))
def test_slices_cover_all_of_a_time_and_nothing_else(length, most):
    found = list(slices(NOW, NOW + length, most))
    assert [begin for begin, _ in found[1:]] == [end for _, end in found[:-1]]
    assert not found or (found[0][0], found[-1][1]) == (NOW, NOW + length)
    assert bool(found) == bool(length)
    assert all(1 <= end - begin <= LONGEST_SLICE_S for begin, end in found)


def test_where_many_jobs_end_slices_are_short():
    assert len(list(slices(0, 30, 30 * SLICE))) == 30


@pytest.mark.parametrize(
    ("before", "now", "most"),
    [
        (None, 500, 500),  # since midnight
        (100, 150, 50),
        (900, 20, 920),  # midnight was in between
    ],
)
def test_slurmctlds_counters_say_how_many_can_have_ended(before, now, most):
    assert at_most(before, now) == most


async def test_a_job_that_ended_is_told_once_however_many_slices_there_are():
    slurm = FakeSlurm(now=lambda: NOW)
    slurm.slurmctld.add("w-0")
    for state in ("COMPLETED", "FAILED"):
        slurm.slurmctld.end(slurm.slurmctld.start("w-0").job_id, state)
    slurm.slurmctld.start("w-0")
    found = await EndedJobs(fake_client(slurm)).between(NOW - 300, NOW)
    assert sorted((job.job_id, *job.state.current) for job in found) == [
        (1, "COMPLETED"),
        (2, "FAILED"),
    ]


async def test_a_job_that_ended_at_another_time_is_not_told():
    slurm = FakeSlurm(now=lambda: NOW)
    slurm.slurmctld.add("w-0")
    slurm.slurmctld.end(slurm.slurmctld.start("w-0").job_id)
    assert not await EndedJobs(fake_client(slurm)).between(NOW - 300, NOW - 1)


async def test_a_slurmrestd_without_slurmdbds_paths_is_told_from_one_that_cannot_reach_it():
    slurm = FakeSlurm(now=lambda: NOW)
    slurm.plan(Says(*NEVER, "text/plain"), "/slurmdb/", times=-1)
    with pytest.raises(NoDatabaseError, match="accounting"):
        await EndedJobs(fake_client(slurm)).between(NOW - 60, NOW)
