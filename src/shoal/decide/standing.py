"""Whether a worker may end now. The only place that says so. Pure.

A worker that may end has no job, and none will come to it: Slurm says that it is drained, or its
pod is dead, or no slurmd ever ran in it. Everything else is a reason to wait.
"""

import enum

from ..kube.pods import Pod
from ..model.workers import Fleet, Worker
from ..slurm.nodes import Drain


class Standing(enum.Enum):
    """How far a worker is from its end."""

    FREE = enum.auto()  # nothing is lost when it ends now
    SERVING = enum.auto()  # it may have jobs, and more may come
    BUSY = enum.auto()  # jobs are on it, and no more will come
    UNKNOWN = enum.auto()
    UNREGISTERED = enum.auto()  # Slurm answers, and knows nothing of it


def standing(worker: Worker, fleet: Fleet) -> Standing:
    """Say how a worker stands."""
    if _empty(worker, fleet):
        return Standing.FREE
    if fleet.abandoned:
        return _unregistered(worker, fleet)
    if not fleet.slurm:
        # An empty list is no answer: a slurmctld that has lost its nodes gives it.
        return Standing.UNKNOWN
    node = fleet.slurm.get(worker.node)
    if node is None:
        return _unregistered(worker, fleet)
    if node.state.down and not node.state.busy and node.state.known:
        # Slurm has given up what was on it, and starts nothing there.
        return Standing.FREE
    return _OF_DRAIN[node.state.drain]


_OF_DRAIN = {
    Drain.DRAINED: Standing.FREE,
    Drain.DRAINING: Standing.BUSY,
    Drain.SERVING: Standing.SERVING,
    Drain.UNKNOWN: Standing.UNKNOWN,
}


def _empty(worker: Worker, fleet: Fleet) -> bool:
    """Say whether no slurmd runs in a worker's pod, or ever did."""
    if worker.pod.over:
        return True
    node = fleet.slurm_node(worker)
    # With jobs on it, the pod has begun since it was seen, or those of an earlier one are not over.
    return not began(worker.pod) and (node is None or not node.state.busy)


def _unregistered(worker: Worker, fleet: Fleet) -> Standing:
    # Slurm may have lost its table: what runs in the pod is the second, independent sign.
    match fleet.steps.get(worker.uid):
        case None:
            return Standing.UNREGISTERED
        case True:
            return Standing.BUSY
        case False:
            return Standing.FREE


def began(pod: Pod) -> bool:
    """Say whether a slurmd may have run in a pod."""
    return bool(pod.spec.node_name) and not never_ran(pod)


def never_ran(pod: Pod) -> bool:
    """Say whether no container of a pod has ever started: it waits for an image, or a volume."""
    main = pod.status.container_statuses
    # No status at all is silence of the kubelet, and not a sign.
    return bool(main) and all(
        c.state.waiting is not None and c.last_state.terminated is None and c.restart_count == 0
        for c in main
    )
