"""Where jobs come from, and that none of it can bring slurmrestd down."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Lost
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.ended import EndedJobs
from shoal.exporter.sources import (
    CHANGES,
    LIST,
    SLURMDBD,
    SQUEUE,
    Budget,
    ControllerJobs,
    QueueJobs,
    RecordedJobs,
)
from shoal.exporter.squeue import FIELDS, PART
from shoal.slurmapi.errors import NotFoundError, UnreachableError, UnreadableError
from shoal.slurmapi.jobs import Job, JobState

from .builders import number

SMALL = Budget(listed=3, read=4, refreshed=1, tasks=2)


def a_slurm(jobs):
    slurm = FakeSlurm()
    slurm.slurmctld.add("w-[0-9]")
    for _ in range(jobs):
        slurm.slurmctld.start("w-0", account="lab")
    return slurm


def reads(slurm):
    """Return how many jobs were read one by one."""
    return sum("/job/" in one for one in slurm.requests)


async def test_few_jobs_are_listed():
    slurm = a_slurm(3)
    told = await ControllerJobs(fake_client(slurm), SMALL).jobs()
    assert (told.source, len(told.jobs), told.unread) == (LIST, 3, 0)


async def test_many_jobs_are_never_listed():
    slurm = a_slurm(4)
    told = await ControllerJobs(fake_client(slurm), SMALL).jobs()
    assert (told.source, reads(slurm)) == (CHANGES, 4)
    assert not [one for one in slurm.requests if one.rstrip("/").endswith("/jobs")]


async def test_of_many_jobs_no_more_are_read_in_a_run_than_the_budget_allows():
    slurm = a_slurm(10)
    source = ControllerJobs(fake_client(slurm), SMALL)
    for left in (6, 2, 0):
        before = reads(slurm)
        told = await source.jobs()
        assert reads(slurm) - before == (SMALL.read if left else 2)
        assert (len(told.jobs), told.unread) == (10, left)


async def test_a_job_that_is_not_read_yet_is_told_with_its_state():
    slurm = a_slurm(10)
    told = await ControllerJobs(fake_client(slurm), SMALL).jobs()
    assert {job.state for job in told.jobs} == {"RUNNING"}
    assert {job.partition for job in told.jobs if not job.read} == {""}


async def test_what_did_not_change_is_not_read_again():
    slurm = a_slurm(4)
    source = ControllerJobs(fake_client(slurm), SMALL)
    first = await source.jobs()
    before = reads(slurm)
    assert (await source.jobs()).jobs == first.jobs
    assert reads(slurm) == before


async def test_what_changed_is_read_again():
    slurm = a_slurm(4)
    source = ControllerJobs(fake_client(slurm), SMALL)
    await source.jobs()
    slurm.slurmctld.end(2, "FAILED")
    told = {job.job_id: job for job in (await source.jobs()).jobs}
    assert (told["2"].state, told["2"].read, told["2"].end > 0) == ("FAILED", True, True)


async def test_the_reasons_of_jobs_that_wait_are_looked_at_in_turn():
    slurm = a_slurm(0)
    for _ in range(4):
        slurm.slurmctld.start(reason="Priority")
    source = ControllerJobs(fake_client(slurm), SMALL)
    await source.jobs()
    for job in slurm.slurmctld.jobs.values():
        job.reason = "Resources"
    for known in (1, 2, 3, 4):
        told = await source.jobs()
        assert sum(job.reason == "Resources" for job in told.jobs) == known


async def test_a_job_that_changed_and_is_not_read_again_yet_keeps_what_is_known_of_it():
    slurm = a_slurm(8)
    source = ControllerJobs(fake_client(slurm), SMALL)
    await source.jobs()
    await source.jobs()
    for job_id in range(1, 9):
        slurm.slurmctld.end(job_id)
    told = (await source.jobs()).jobs
    assert {job.state for job in told} == {"COMPLETED"}
    assert sum(not job.read for job in told) == 4
    assert {job.account for job in told} == {"lab"}


async def test_a_job_that_slurmctld_forgot_is_told_no_more():
    slurm = a_slurm(5)
    source = ControllerJobs(fake_client(slurm), SMALL)
    await source.jobs()
    del slurm.slurmctld.jobs[5]
    assert {job.job_id for job in (await source.jobs()).jobs} == {"1", "2", "3", "4"}


@dataclass
class Array:
    """An array as both series tell of it: tasks by their own number, all by the first one's."""

    running: int
    waiting: int
    read: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)

    @property
    def jobs(self):
        return self

    async def states(self):
        lines = [JobState(f"1_{self.running + n}", ("PENDING",)) for n in range(self.waiting)]
        return lines + [JobState(f"{n + 2}_{n}", ("RUNNING",)) for n in range(self.running)]

    async def with_parts(self, job_id):
        self.read.append(job_id)
        tasks = [
            Job(
                n + 2,
                job_state=("RUNNING",),
                array_job_id=number(1),
                array_task_id=number(n),
                partition="all",
            )
            for n in range(self.running)
        ]
        rest = Job(
            1,
            job_state=("PENDING",),
            array_job_id=number(1),
            array_task_string=f"{self.running}-{self.running + self.waiting - 1}",
            partition="all",
        )
        found = [*tasks, rest] if job_id == 1 else [j for j in tasks if j.job_id == job_id]
        self.costs.append(len(found))
        if not found:
            raise NotFoundError("GET /job", "there is none")
        return found


async def test_what_waits_of_a_small_array_is_one_job_with_its_tasks():
    array = Array(running=2, waiting=5)
    told = await ControllerJobs(SimpleNamespace(jobs=array), SMALL).jobs()
    assert sorted((job.job_id, job.state, job.tasks) for job in told.jobs) == [
        ("1", "PENDING", 5),
        ("2", "RUNNING", 1),
        ("3", "RUNNING", 1),
    ]


async def test_the_first_number_of_a_large_array_is_never_asked_for():
    array = Array(running=50, waiting=50)
    source = ControllerJobs(SimpleNamespace(jobs=array), SMALL)
    for _ in range(40):
        told = await source.jobs()
    assert max(array.costs) == 1
    assert 1 not in array.read
    (rest,) = (job for job in told.jobs if not job.read)
    assert (rest.job_id, rest.state, rest.tasks) == ("1", "PENDING", 50)
    # What its tasks have in common is known all the same.
    assert (rest.partition, rest.nodes, rest.array_task) == ("all", "", "")


async def test_an_error_in_the_middle_is_told_as_it_is_and_what_was_read_stays():
    slurm = a_slurm(8)
    source = ControllerJobs(fake_client(slurm), SMALL)
    slurm.plan(Lost(), "/job/", times=9, nth=3)
    with pytest.raises(UnreachableError):
        await source.jobs()
    slurm.heal()
    assert (await source.jobs()).unread < 4


def a_line(mark, number, name="n"):
    values = [str(number), "RUNNING", *("" for _ in FIELDS[2:-1]), name]
    return PART.join((values[0], mark, *values[1:], ""))


async def test_squeue_is_read_as_it_prints():
    async def printed(words):
        mark = words[-1].split(PART)[1]
        yield [a_line(mark, 1), a_line(mark, 2)]
        yield [a_line(mark, 3)]

    told = await QueueJobs(printed, ("squeue",)).jobs()
    assert (told.source, [job.job_id for job in told.jobs]) == (SQUEUE, ["1", "2", "3"])


async def test_what_squeue_never_printed_is_an_error():
    async def printed(words):
        yield [a_line(words[-1].split(PART)[1], "one")]

    with pytest.raises(UnreadableError, match="squeue printed"):
        await QueueJobs(printed).jobs()


async def test_slurmdbd_tells_of_jobs_that_slurmctld_has_forgotten():
    slurm = a_slurm(2)
    slurm.slurmctld.end(1)
    client = fake_client(slurm)
    source = RecordedJobs(ControllerJobs(client), EndedJobs(client), 3600, slurm.now)
    first = await source.jobs()
    assert sorted((job.job_id, job.state) for job in first.jobs) == [
        ("1", "COMPLETED"),
        ("2", "RUNNING"),
    ]
    # Forgotten by both: slurmdbd is asked for what is new only, and the window keeps the rest.
    del slurm.slurmctld.jobs[1]
    told = await source.jobs()
    assert (told.source, sorted(job.job_id for job in told.jobs)) == (SLURMDBD, ["1", "2"])


async def test_a_job_that_ended_long_ago_leaves_the_window():
    slurm = a_slurm(1)
    slurm.slurmctld.end(1)
    client, now = fake_client(slurm), slurm.now()
    source = RecordedJobs(ControllerJobs(client), EndedJobs(client), 600, lambda: now)
    await source.jobs()
    del slurm.slurmctld.jobs[1]
    now += 601
    assert not (await source.jobs()).jobs
