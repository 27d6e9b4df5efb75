"""Which jobs hold which nodes: every source says the same."""

from collections.abc import Sequence

from shoal.host.run import Finished
from shoal.slurmapi.client import Client
from shoal.slurmapi.sources import JobSource, ListedJobs, RecordedJobs, SingleJobs, ToolJobs

from .places import RealSlurm, Slurm, only_real


async def told(source: JobSource) -> set[tuple[int, str]]:
    return {(job.job_id, job.nodes) for job in (await source.holders()).jobs}


async def running_and_waiting(slurm: Slurm) -> set[tuple[int, str]]:
    """Put a job on each worker, and one into the queue."""
    await slurm.idle()
    jobs = {await slurm.running(required_nodes=["w-0"]): "w-0"}
    job = await slurm.submit(required_nodes=["w-1"])
    await slurm.eventually(lambda: slurm.state_of(job), lambda state: state == ["RUNNING"])
    jobs[job] = "w-1"
    await slurm.submit(hold=True)
    return set(jobs.items())


async def test_slurmrestds_sources_tell_the_jobs_that_hold_nodes(
    slurm: Slurm, client: Client
) -> None:
    wanted = await running_and_waiting(slurm)
    assert await told(ListedJobs(client)) == wanted
    assert await told(SingleJobs(client)) == wanted
    recorded = RecordedJobs(client, "lab")
    await slurm.eventually(lambda: told(recorded), lambda seen: seen == wanted)


@only_real
async def test_squeue_tells_the_same_as_slurmrestd(slurm: Slurm, client: Client) -> None:
    assert isinstance(slurm, RealSlurm)
    lab = slurm.lab

    async def run(words: Sequence[str]) -> Finished:
        return lab.run(*words, check=False)

    wanted = await running_and_waiting(slurm)
    assert await told(ToolJobs(run)) == wanted
    listed, tools = await ListedJobs(client).holders(), await ToolJobs(run).holders()
    assert {(job.start, job.limit, job.batch_host) for job in tools.jobs} == {
        (job.start, job.limit, job.batch_host) for job in listed.jobs
    }
