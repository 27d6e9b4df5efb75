"""How many workers there are, and which of them go. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..kube.pods import Pod
from ..model.nodeset import NodeSet
from ..slurm.nodes import Drain
from .plan import Action, CreateWorker, DeleteWorker, DrainWorker, Plan, Wait

SLURM_RETRY_S = 5.0


@dataclass(frozen=True)
class Worker:
    """A worker as it was seen."""

    number: int
    pod: Pod
    node: str  # in Slurm


@dataclass(frozen=True)
class Workers:
    """The workers of a NodeSet, and what Slurm says about them."""

    all: Sequence[Worker] = ()
    drains: Mapping[str, Drain] | None = None  # by Slurm node; None: Slurm did not answer

    def drain_of(self, worker: Worker) -> Drain:
        """Return the drain of a worker's Slurm node."""
        if self.drains is None:
            return Drain.UNKNOWN
        return self.drains.get(worker.node, Drain.UNKNOWN)


def scale(nodeset: NodeSet, seen: Workers) -> Plan:
    """Move the workers to the replicas asked for, never ending a job."""
    taken = {worker.number for worker in seen.all}
    free = (number for number in range(nodeset.replicas + len(taken)) if number not in taken)
    missing = max(nodeset.replicas - len(taken), 0)
    created = [CreateWorker("replicas asked for", next(free)) for _ in range(missing)]
    over = [_clear(worker) for worker in seen.all if worker.pod.over and not worker.pod.deleting]
    # Those that end anyway make room: nobody is drained in their place. Then those that never ran.
    living = [worker for worker in seen.all if not worker.pod.over and not worker.pod.deleting]
    surplus = sorted(living, key=lambda w: (bool(w.pod.spec.node_name), -w.number))
    retired = [_retire(w, seen) for w in surplus[: max(len(living) - nodeset.replicas, 0)]]
    return (*created, *over, *retired)


def _clear(worker: Worker) -> Action:
    meta = worker.pod.metadata
    return DeleteWorker(f"it ended ({worker.pod.status.phase})", meta.name, meta.uid)


def _retire(worker: Worker, seen: Workers) -> Action:
    meta = worker.pod.metadata
    if not worker.pod.spec.node_name:
        return DeleteWorker("surplus, and it never ran", meta.name, meta.uid)
    match seen.drain_of(worker):
        case Drain.DRAINED:
            return DeleteWorker("surplus and drained", meta.name, meta.uid)
        case Drain.SERVING:
            return DrainWorker("surplus", meta.name, worker.node, SLURM_RETRY_S)
        case Drain.DRAINING:
            return Wait(f"{meta.name} still runs jobs", SLURM_RETRY_S)
        case Drain.UNKNOWN:
            return Wait(f"Slurm does not say whether {meta.name} is drained", SLURM_RETRY_S)
