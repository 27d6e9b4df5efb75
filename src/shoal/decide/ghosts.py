"""Jobs that Slurm takes for running, and whose processes went with an earlier pod. Pure.

When a worker registers anew, slurmctld asks after its batch jobs and gives up those that are
missing, but for the very young ones: they may be on their way. One that was lost so young stays
RUNNING for ever. Two signs have to agree that it is a ghost: it began before its worker's slurmd
did, and nothing of any job runs inside the worker. The first alone may be a clock that is wrong.
"""

from datetime import datetime, timedelta

from ..kube.objects import moment
from ..model.workers import Batch, Fleet, Worker
from .plan import Action, LookInside, RequeueJob, Wait

CONTAINER = "slurmd"
# slurmctld has its chance first: it gives up what is older than some 20 s when a slurmd registers.
CHANCE = timedelta(seconds=60)
# A job is lost with a pod, and what is lost is found soon after.
RECENT = timedelta(minutes=15)
# By how much Slurm may date the start of a slurmd before kubelet dates that of its container.
SKEW = timedelta(seconds=5)
AGAIN_S = 15.0
GHOST = "it began before the slurmd of its worker, and no step runs there"
FINAL = f"{GHOST}; it may not be requeued"
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


def suspected(fleet: Fleet) -> bool:
    """Say whether it is worth asking for jobs: a busy worker's slurmd has not run for long."""
    # As Kubernetes writes it, so that nothing is parsed for the many that have run for long.
    oldest = (fleet.now - RECENT).strftime(_STAMP)
    for worker in fleet.workers:
        node = fleet.slurm_node(worker)
        busy = node is not None and node.state.busy
        if busy and worker.living and worker.pod.started_at(CONTAINER) >= oldest:
            return True
    return False


def ghosts(fleet: Fleet) -> list[Action]:
    """Return what to do about jobs that are not there any more."""
    jobs: dict[str, list[Batch]] = {}
    for job in fleet.batches:
        jobs.setdefault(job.host, []).append(job)
    found: list[Action] = []
    waits = False
    for worker in fleet.workers if jobs else ():
        here = jobs.get(worker.node, ())
        began = _began(worker, fleet) if here else None
        older = [job for job in here if began and job.start < began]
        waits = waits or bool(older)
        # By the clock of slurmctld too.
        older = [job for job in older if fleet.now - job.start >= CHANCE]
        if not older or not _registered(worker, fleet):
            continue
        match fleet.steps.get(worker.uid):
            case None:
                found.append(LookInside("its job may be gone", worker.name, worker.uid))
            case False:
                found += [RequeueJob(GHOST, job.job_id, worker.node, job.start) for job in older]
            case True:
                pass  # of this job, or of another one: nobody can tell
    return [*found, Wait("a job may have lost its process", AGAIN_S)] if waits else found


def _began(worker: Worker, fleet: Fleet) -> datetime | None:
    """Return when a worker's slurmd began; None: it does not run, or nobody says."""
    if not worker.living or not worker.ready:
        return None
    began = moment(worker.pod.started_at(CONTAINER))
    return began if began is not None and fleet.now - began <= RECENT else None


def _registered(worker: Worker, fleet: Fleet) -> bool:
    """Say whether it is a while ago that the slurmd that runs now told Slurm so."""
    node, began = fleet.slurm_node(worker), moment(worker.pod.started_at(CONTAINER))
    if node is None or node.started_at is None or began is None or node.state.not_responding:
        return False
    since = max(node.started_at, began)
    return node.started_at >= began - SKEW and fleet.now - since >= CHANCE
