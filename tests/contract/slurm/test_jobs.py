"""Jobs: submitted, read, signalled, cancelled, requeued."""

import pytest

from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import MissingError, NotAllowedError, NotFoundError, RefusedError
from shoal.slurmapi.versions import Capability

from .places import ENDED, Slurm, only_real, sleep


async def test_a_job_is_submitted_runs_and_is_told_with_its_node(
    slurm: Slurm, client: Client
) -> None:
    await slurm.idle()
    wish = sleep(
        required_nodes=("w-1",), time_limit=30, comment="hello", partition="spare", account="lab"
    )
    number = await client.jobs.submit(wish, user="alice")
    await slurm.eventually(lambda: slurm.state_of(number), lambda state: state == ["RUNNING"])
    job = await client.jobs.one(number)
    assert (job.job_id, job.name, job.user_name, job.account) == (number, "sleep", "alice", "lab")
    assert (job.job_state, job.nodes, job.batch_host) == (("RUNNING",), "w-1", "w-1")
    assert (job.partition, job.comment, job.time_limit.value) == ("spare", "hello", 30)
    assert job.start_time.time is not None
    assert (job.node_count.value, job.array_job_id.time) == (1, None)
    assert {"ALLOCATED", "MIXED"} & set((await client.nodes.one("w-1")).state)
    assert number in [each.job_id for each in await client.jobs.all()]
    states = {each.job_id: each.state for each in await client.jobs.states()}
    assert states[str(number)] == ("RUNNING",)


async def test_a_job_that_is_not_known_is_none(client: Client) -> None:
    assert await client.jobs.find(999_999) is None
    with pytest.raises(NotFoundError):
        await client.jobs.one(999_999)


async def test_no_jobs_is_a_list_without_any(slurm: Slurm) -> None:
    said = await slurm.ask("GET", "jobs/?update_time=4000000000")
    assert (said.code, said.body["jobs"]) == (200, [])
    assert "No job changes since update_time" in said.warnings


async def test_a_cancelled_job_ends_and_its_node_is_free_again(
    slurm: Slurm, client: Client
) -> None:
    job = await slurm.running()
    await client.jobs.cancel(job)
    await slurm.eventually(lambda: slurm.state_of(job), lambda state: state == ["CANCELLED"])
    await slurm.idle()


async def test_cancelling_what_has_ended_or_never_was_is_no_error(
    slurm: Slurm, client: Client
) -> None:
    job = await slurm.submit(hold=True)
    await client.jobs.cancel(job)
    await client.jobs.cancel(job)
    await client.jobs.cancel(999_999)
    said = await slurm.ask("DELETE", "job/999999")
    # The refusal hides in the body of an answer that is fine.
    assert (said.code, said.numbers) == (200, [])
    assert [each["error"]["code"] for each in said.body["status"]] == [2017]
    again = await slurm.ask("DELETE", f"job/{job}")
    assert [each["error"]["code"] for each in again.body["status"]] == [2021]


async def test_somebody_elses_job_is_not_cancelled(slurm: Slurm) -> None:
    job = await slurm.submit(hold=True)
    async with slurm.connect(slurm.signed("bob")) as client:
        with pytest.raises(NotAllowedError):
            await client.jobs.cancel(job)
    said = await slurm.ask("DELETE", f"job/{job}", token=slurm.token("bob"))
    assert (said.code, said.numbers) == (200, [])
    assert [each["error"]["code"] for each in said.body["status"]] == [2002]
    assert await slurm.state_of(job) == ["PENDING"]


async def test_a_signal_reaches_a_job(slurm: Slurm, client: Client) -> None:
    job = await slurm.running()

    # `sleep` ends by it. Sent before slurmd has started it, a signal is lost without a word.
    async def ended() -> bool:
        await client.jobs.signal(job, "KILL")
        return bool(ENDED & set(await slurm.state_of(job)))

    await slurm.eventually(ended)


async def test_a_running_job_is_requeued_where_slurm_can(slurm: Slurm, client: Client) -> None:
    job = await slurm.running(requeue=True)
    if not await client.can(Capability.REQUEUE):
        assert slurm.old
        with pytest.raises(MissingError, match=r"26\.05"):
            await client.jobs.requeue([job])
        return
    await client.jobs.requeue([job])

    async def restarts() -> int:
        return (await client.jobs.one(job)).restart_cnt

    await slurm.eventually(restarts)
    with pytest.raises(NotFoundError):
        await client.jobs.requeue([999_999])


async def test_a_pending_job_is_not_requeued(slurm: Slurm, client: Client) -> None:
    if not await client.can(Capability.REQUEUE):
        assert slurm.old
        return
    job = await slurm.submit(hold=True)
    with pytest.raises(RefusedError) as refused:
        await client.jobs.requeue([job])
    assert refused.value.number == 2024


@only_real
async def test_the_states_of_a_pending_array_are_told_task_by_task(
    slurm: Slurm, client: Client
) -> None:
    job = await slurm.submit(array="0-3", hold=True)
    states = {each.job_id: each.state for each in await client.jobs.states()}
    assert {f"{job}_{i}": ("PENDING",) for i in range(4)}.items() <= states.items()
    (record,) = [each for each in await client.jobs.all() if each.job_id == job]
    assert (record.array_task_string, record.array_job_id.value) == ("0-3", job)


@only_real
async def test_a_job_that_never_fits_is_refused_or_waits_for_ever(slurm: Slurm) -> None:
    if slurm.old:
        async with slurm.connect() as client:
            with pytest.raises(RefusedError) as refused:
                await client.jobs.submit(sleep(more={"minimum_nodes": 50}), user="alice")
            assert refused.value.number == 2014
    else:
        job = await slurm.submit(minimum_nodes=50)
        assert await slurm.state_of(job) == ["PENDING"]
