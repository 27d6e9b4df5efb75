"""Jobs, on both series."""

import math

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens, fake_client
from fakes.slurmrestd.faults import Says
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.errors import (
    BadTokenError,
    NotAllowedError,
    NotFoundError,
    RefusedError,
    UnreadableError,
)
from shoal.slurmapi.jobs import JobDescription

LOOP = VirtualLoop
JOB = JobDescription("hello", "#!/bin/sh\ntrue", partition="all", time_limit=30)


@pytest.fixture(params=["24.11", "26.05"])
def slurm(request) -> FakeSlurm:
    made = FakeSlurm(request.param)
    made.slurmctld.add("w-[0-2]")
    return made


async def test_a_job_is_submitted_read_and_cancelled(slurm):
    client = fake_client(slurm)
    job_id = await client.jobs.submit(JOB)
    job = await client.jobs.one(job_id)
    assert (job.name, job.job_state, job.nodes) == ("hello", ("RUNNING",), "w-0")
    assert job.time_limit.value == 30
    assert (job.array_job_id.time, job.array_task_id.value) == (None, None)
    await client.jobs.cancel(job_id)
    assert (await client.jobs.one(job_id)).job_state == ("CANCELLED",)


async def test_a_job_without_a_limit_says_so(slurm):
    job = slurm.slurmctld.start("w-0")
    assert (await fake_client(slurm).jobs.one(job.job_id)).time_limit.value == math.inf


async def test_a_signal_that_is_no_end_leaves_the_job_running(slurm):
    client = fake_client(slurm)
    job_id = await client.jobs.submit(JOB)
    await client.jobs.signal(job_id, "USR1")
    assert (await client.jobs.one(job_id)).job_state == ("RUNNING",)


async def test_a_job_that_is_not_there_is_an_error_or_none_as_the_caller_wants(slurm):
    client = fake_client(slurm)
    with pytest.raises(NotFoundError, match="GET /job/99: Invalid job id specified"):
        await client.jobs.one(99)
    assert await client.jobs.find(99) is None
    # slurmctld does not mind.
    await client.jobs.cancel(99)


async def test_the_id_of_a_task_brings_that_task_and_the_arrays_id_all_of_them(slurm):
    for task in range(3):
        slurm.slurmctld.start("w-0", array_job_id=1, array_task_id=task)
    client = fake_client(slurm)
    assert (await client.jobs.one(3)).array_task_id.whole == 2
    assert [job.job_id for job in await client.jobs.with_parts(1)] == [1, 2, 3]
    assert [job.job_id for job in await client.jobs.states()] == ["1_0", "1_1", "1_2"]


async def test_all_jobs_are_listed_for_those_who_can_afford_it(slurm):
    for _ in range(3):
        slurm.slurmctld.start("w-0")
    assert [job.job_id for job in await fake_client(slurm).jobs.all()] == [1, 2, 3]


async def test_a_job_is_submitted_for_another_user_with_slurms_own_token_only(slurm):
    job_id = await fake_client(slurm).jobs.submit(JOB, user="alice")
    assert slurm.slurmctld.jobs[job_id].user == "alice"
    bob = fake_client(slurm, tokens=FakeTokens(slurm, "bob"))
    with pytest.raises(BadTokenError):
        await bob.jobs.submit(JOB, user="alice")
    assert len(slurm.slurmctld.jobs) == 1


async def test_another_users_job_is_not_cancelled(slurm):
    job = slurm.slurmctld.start("w-0", user="alice")
    bob = fake_client(slurm, tokens=FakeTokens(slurm, "bob"))
    with pytest.raises(NotAllowedError):
        await bob.jobs.cancel(job.job_id)
    assert job.state == ["RUNNING"]


async def test_a_submission_that_slurm_does_not_take_says_why(slurm):
    client = fake_client(slurm)
    with pytest.raises(NotFoundError, match="POST /job/submit hello: Invalid partition name"):
        await client.jobs.submit(JobDescription("hello", "#!/bin/sh", partition="nope"))
    with pytest.raises(RefusedError, match="POST /job/submit bare: "):
        await client.jobs.submit(JobDescription("bare", "#!/bin/sh", environment=()))
    assert slurm.slurmctld.jobs == {}


async def test_a_submission_without_an_id_is_not_job_0(slurm):
    slurm.plan(Says(200, {"errors": []}), "submit")
    with pytest.raises(UnreadableError):
        await fake_client(slurm).jobs.submit(JOB)
    assert slurm.count("submit") == 1


async def test_a_job_is_requeued():
    slurm = FakeSlurm("26.05")
    slurm.slurmctld.add("w-0")
    job = slurm.slurmctld.start("w-0")
    await fake_client(slurm).jobs.requeue([job.job_id])
    assert (job.state, job.restarts) == (["PENDING"], 1)


def test_a_description_is_written_as_slurmrestd_reads_it():
    job = JobDescription(
        "a", "s", required_nodes=("w-0",), time_limit=math.inf, more={"tasks": 2, "name": "b"}
    )
    body = job.body()
    assert body["name"] == "b"
    assert body["tasks"] == 2
    assert body["required_nodes"] == ("w-0",)
    assert body["time_limit"]["infinite"]
    assert "account" not in body
