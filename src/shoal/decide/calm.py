"""Workers about whom there was nothing to do, and of whom nothing is new. Pure.

While nobody goes, what is done about one worker follows from what is wished, its pod, its Slurm
node and its Kubernetes node. Where those are the very same ones as when there was nothing to do,
there is nothing to do now. So a pass over thousands costs what has changed since the last.

One that Slurm does not know, or has a reason for, is looked at each time: with such ones it counts
how long that has been so, and what is waited for is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..model.workers import Fleet, Worker
from .plan import Plan
from .wanted import NOBODY, Calm, Sight, Wanted


def others(wanted: Wanted, fleet: Fleet) -> Iterator[Worker]:
    """Give the workers that have to be looked at."""
    calm, slurm, nodes = wanted.calm, fleet.slurm or {}, fleet.nodes
    known = calm.sights if calm.wish == _wish(wanted) else {}
    for worker in fleet.workers:
        sight = known.get(worker.uid)
        if (
            sight is None
            or sight.worker is not worker
            or sight.node is not slurm.get(worker.node)
            or sight.host is not nodes.get(sight.place)
        ):
            yield worker


def remember(wanted: Wanted, fleet: Fleet, looked_at: Sequence[Worker], plan: Plan) -> Calm:
    """Return who is calm now that `plan` was decided, for which nobody but these was looked at."""
    named = {name for action in plan for name in _named(action)}
    sights = dict(wanted.calm.sights)
    for worker in looked_at:
        sights.pop(worker.uid, None)
        node = fleet.slurm_node(worker)
        if node is None or node.reason or not worker.living or not worker.ready:
            continue
        if worker.name not in named and worker.node not in named:
            place = worker.pod.spec.node_name
            sights[worker.uid] = Sight(worker, node, fleet.nodes.get(place), place)
    if len(sights) > len(fleet.workers):
        there = {worker.uid for worker in fleet.workers}
        sights = {uid: sight for uid, sight in sights.items() if uid in there}
    return Calm(_wish(wanted), sights)


def _wish(wanted: Wanted) -> Wanted:
    """Return what is wished of all alike, without what is remembered of some."""
    return replace(wanted, pinned={}, healing={}, failures={}, calm=NOBODY)


def _named(action: object) -> tuple[str, str]:
    return getattr(action, "pod", ""), getattr(action, "node", "")
