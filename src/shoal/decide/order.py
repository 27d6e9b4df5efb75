"""In which order workers go. Pure.

The order is that of slinky.slurm.net, so that users' deletion costs keep their meaning: those that
never ran, then the idle ones, then those whose jobs end first.
"""

from datetime import UTC, datetime

from ..kube.objects import moment
from ..model.naming import Annotations
from ..model.workers import Fleet, Worker

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_NEVER = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def first_to_go(workers: list[Worker], fleet: Fleet, keys: Annotations) -> list[Worker]:
    """Return `workers`, those first whose end costs least."""
    return sorted(workers, key=lambda worker: _rank(worker, fleet, keys))


def _rank(worker: Worker, fleet: Fleet, keys: Annotations) -> tuple[object, ...]:
    pod = worker.pod
    told = pod.metadata.annotations
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        worker.ready,
        _cost(told.get(keys.pod_deletion_cost, "")),
        end(worker, fleet) or _NEVER,
        told.get(keys.pod_cordon) not in _TRUE,
        -(worker.number or 0),
        _age(pod.ready_since),
        _age(moment(pod.metadata.creation_timestamp)),
        pod.metadata.name,
    )


def end(worker: Worker, fleet: Fleet) -> datetime | None:
    """Return when a worker's jobs have run out of time; None: it has none."""
    node = fleet.slurm_node(worker)
    busy = node is not None and node.state.busy
    if fleet.ends is None:
        # Nobody asked for its jobs: a busy one is at least not taken for an idle one.
        return fleet.now if busy else None
    if node is not None and not busy:
        return None
    # Jobs are asked for less often than nodes: a job that is not known yet is a young one.
    return fleet.ends.get(worker.node, _LAST if busy else None)


def _cost(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _age(since: datetime | None) -> float:
    # The youngest first, and what has no age before all.
    return -since.timestamp() if since is not None else float("-inf")
