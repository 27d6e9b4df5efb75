"""What is told of ended jobs."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Says
from fakes.slurmrestd.paths import NEVER
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.exporter.accounting import LOOK_AGAIN_S, NO_DATABASE, AccountingCollector
from shoal.exporter.ended import EndedJobs
from shoal.exporter.snapshot import EndedSeen
from shoal.slurmapi.errors import DatabaseDownError

from .builders import NOW, value

LOOP = VirtualLoop


async def test_jobs_that_end_are_told_with_what_they_had():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    slurm.slurmctld.add("w-0")
    before = slurm.slurmctld.start("w-0", account="lab")
    slurm.slurmctld.end(before.job_id)
    collector = AccountingCollector(EndedJobs(fake_client(slurm), steps=True), lambda: now)
    assert not "".join(collector.tell(await collector.gather(), now))

    job = slurm.slurmctld.start("w-0", account="lab", cpus=4)
    now += 30
    slurm.slurmctld.end(job.job_id, "FAILED")
    for _ in range(3):
        text = "".join(collector.tell(await collector.gather(), now))
    whose = {"partition": "all", "account": "lab"}
    assert value(text, "slurm_ended_jobs_total", state="FAILED", **whose) == 1
    assert value(text, "slurm_ended_jobs_total", state="COMPLETED", **whose) is None
    assert value(text, "slurm_ended_jobs_cpu_seconds_allocated_total", **whose) == 120
    assert value(text, "slurm_ended_jobs_cpu_seconds_used_total", **whose) == 0


async def test_what_was_read_and_not_told_is_read_again():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    slurm.slurmctld.add("w-0")
    collector = AccountingCollector(EndedJobs(fake_client(slurm)), lambda: now)
    list(collector.tell(await collector.gather(), now))
    slurm.slurmctld.end(slurm.slurmctld.start("w-0").job_id)
    now += 1
    await collector.gather()  # and dropped, as a newer one was there
    now += 300
    seen = await collector.gather()
    assert [job.job_id for job in seen.jobs] == [1]


def without_slurmdbd(slurm):
    """Let slurmrestd answer as one that does not serve slurmdbd's paths."""
    slurm.plan(Says(*NEVER, "text/plain"), "/slurmdb/", times=-1)


async def test_a_cluster_without_slurmdbd_is_no_failure_and_is_left_in_peace():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    without_slurmdbd(slurm)
    collector = AccountingCollector(EndedJobs(fake_client(slurm)), lambda: now)
    assert await collector.gather() == NO_DATABASE
    asked = len(slurm.requests)
    now += LOOK_AGAIN_S - 1
    assert await collector.gather() == NO_DATABASE
    assert len(slurm.requests) == asked


async def test_a_slurmdbd_that_comes_later_is_found():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    without_slurmdbd(slurm)
    collector = AccountingCollector(EndedJobs(fake_client(slurm)), lambda: now)
    assert await collector.gather() == NO_DATABASE
    slurm.heal()
    now += LOOK_AGAIN_S
    assert await collector.gather() == EndedSeen([], now)


async def test_a_slurmdbd_that_is_down_is_one_that_is_there():
    slurm = FakeSlurm(now=lambda: NOW)
    slurm.database = Daemon.DOWN
    collector = AccountingCollector(EndedJobs(fake_client(slurm)), lambda: NOW)
    with pytest.raises(DatabaseDownError):
        await collector.gather()
