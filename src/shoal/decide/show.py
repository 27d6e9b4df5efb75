"""What the pods of workers show of Slurm: conditions, protection, deadline, place. Pure.

What Slurm does not say is not changed: a worker keeps what it showed last.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache

from ..model.workers import Fleet, SlurmNode, Worker
from .plan import Action, MarkWorker, ShowState
from .wanted import Wanted

Changes = dict[str, str | None]  # None takes one away

_STATE = "its Slurm node's state has changed"
_MARKS = "what is known of its Slurm node or its Kubernetes node has changed"
_PROTECTED = "true"


def show(
    wanted: Wanted, fleet: Fleet, workers: Iterable[Worker], *, order: bool = True
) -> Iterator[Action]:
    """Give what has to be written to the pods of the living ones among `workers`.

    `order` says whether it counts for how long each has jobs.
    """
    for worker in workers:
        if not worker.living:
            continue
        node = fleet.slurm_node(worker)
        if node is not None and (state := _state(worker, node)):
            yield state
        labels = _labels(wanted, worker, node)
        annotations = _annotations(wanted, fleet, worker, order=order)
        if labels or annotations:
            yield MarkWorker(_MARKS, worker.name, worker.uid, labels, annotations)


# -- conditions


def _state(worker: Worker, node: SlurmNode) -> ShowState | None:
    told = dict.fromkeys(node.state.conditions, node.reason)
    # Of a pod that never served, what Slurm knows is of the one before it.
    if worker.shown == told or (not worker.shown and not worker.ready):
        return None
    return ShowState(_STATE, worker.name, worker.uid, told)


# -- labels and annotations


def _labels(wanted: Wanted, worker: Worker, node: SlurmNode | None) -> Changes:
    key = wanted.naming.labels.pod_protect
    there = worker.pod.metadata.labels.get(key)
    if not wanted.nodeset.protect:
        wished = None
    elif node is None:
        wished = there
    else:
        # A state that Slurm itself does not know may hide a job.
        wished = _PROTECTED if node.state.busy or not node.state.known else None
    return {} if there == wished else {key: wished}


def _annotations(wanted: Wanted, fleet: Fleet, worker: Worker, *, order: bool) -> Changes:
    keys, there = wanted.naming.annotations, worker.pod.metadata.annotations
    changes: Changes = {}
    # Nobody asks for jobs any more once it does not matter: what was written would grow old.
    if fleet.ends is not None or not order:
        end = fleet.ends.get(worker.node) if fleet.ends is not None else None
        deadline = _stamp(end) if end is not None else None
        if there.get(keys.pod_deadline) != deadline:
            changes[keys.pod_deadline] = deadline
    host = fleet.node(worker)
    if host is not None:
        place = host.metadata.annotations.get(keys.topology)
        if there.get(keys.topology) != place:
            changes[keys.topology] = place
    return changes


# Jobs on many nodes end on all of them at once.
@lru_cache(maxsize=4096)
def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
