"""Puts a job back into the queue that has lost its process; one that may not go there ends."""

from dataclasses import replace

import structlog

from ..decide.ghosts import FINAL
from ..decide.plan import RequeueJob
from ..slurm import jobs
from ..slurmapi.errors import MissingError, RefusedError, SlurmError
from ..slurmapi.jobs import Job
from .slurms import Slurm

log = structlog.get_logger()


async def requeue(slurm: Slurm, action: RequeueJob) -> RequeueJob | None:
    """Return what was done; None: nothing, as it no longer holds or Slurm did not let us."""
    try:
        job = await slurm.client.jobs.find(action.job_id)
        if job is None or not _same(job, action):
            return None
        if job.requeue:
            await _requeue(slurm, action.job_id)
            return action
        # Its nodes would never become free.
        await slurm.client.jobs.cancel(action.job_id)
        return replace(action, why=FINAL)
    except SlurmError as error:
        # The next pass finds it again; the other workers do not wait for that.
        log.warning("job not requeued", job=action.job_id, node=action.node, error=str(error))
        return None


def _same(job: Job, action: RequeueJob) -> bool:
    """Say whether a job is still that very run of it: it may have been requeued meanwhile."""
    state = jobs.parse(job.job_state)
    here = job.batch_flag and job.batch_host == action.node
    started = job.start_time.time == int(action.start.timestamp())
    return state.base == "RUNNING" and not state.flags and here and started


async def _requeue(slurm: Slurm, job_id: int) -> None:
    try:
        await slurm.client.jobs.requeue([job_id])
    except MissingError:
        if slurm.run is None:
            raise
        ran = await slurm.run(("scontrol", "requeue", str(job_id)))
        if ran.code != 0:
            raise RefusedError("scontrol requeue", " ".join(ran.stderr.split())) from None
