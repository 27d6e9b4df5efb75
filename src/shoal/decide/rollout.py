"""Which workers are replaced by newer ones now. Pure.

Workers that are out of service cost nothing and go first; of the others no more go at a time than
the budget leaves, and a new one that does not come up is out of service too: so an image that
cannot be pulled stops the rollout at the budget. An old one whose pod is not ready while Slurm has
it at work is in service: a kubelet that is silent for a minute takes no capacity away.
"""

import math
from collections.abc import Callable, Collection, Mapping

from ..model.nodeset import Strategy
from ..model.workers import Fleet, Worker
from .cordons import cordon
from .order import first_to_go
from .standing import began
from .wanted import Wanted

UPDATE = "Pod is pending termination for update"


def outdated(wanted: Wanted, fleet: Fleet, total: int, kept: Collection[Worker]) -> dict[str, str]:
    """Return the workers of `kept` that are to be replaced, by uid; `total` there should be."""
    old = [worker for worker in kept if worker.revision != wanted.revision]
    if not old:
        return {}
    chosen = _CHOICES[wanted.nodeset.update.strategy](wanted, fleet, total, kept, old)
    return {worker.uid: UPDATE for worker in chosen}


def _rolling(
    wanted: Wanted, fleet: Fleet, total: int, kept: Collection[Worker], old: list[Worker]
) -> list[Worker]:
    serving = {worker.uid for worker in kept if serves(worker, fleet, wanted)}
    serving |= {worker.uid for worker in old if _at_work(worker, fleet)}
    new = (worker for worker in kept if worker.revision == wanted.revision)
    serving -= {worker.uid for worker in new if _held(worker, fleet, wanted)}
    missing = max(total - len(serving), 0)
    room = max(budget(wanted.nodeset.update.max_unavailable, total) - missing, 0)
    idle = [worker for worker in old if _idle(worker, fleet)]
    rest = [worker for worker in old if not _idle(worker, fleet)]
    return idle + first_to_go(rest, fleet, wanted.naming.annotations)[:room]


def _on_delete(*_: object) -> list[Worker]:
    return []


def _scheduled(
    wanted: Wanted, fleet: Fleet, _total: int, _kept: Collection[Worker], old: list[Worker]
) -> list[Worker]:
    window = wanted.nodeset.update.window
    name = window.reservation if window is not None else None
    # One that is out of service needs no window.
    return [w for w in old if _idle(w, fleet) or _in_window(w, fleet, name)]


Choice = Callable[[Wanted, Fleet, int, Collection[Worker], list[Worker]], list[Worker]]
_CHOICES: Mapping[Strategy, Choice] = {
    Strategy.ROLLING: _rolling,
    Strategy.ON_DELETE: _on_delete,
    Strategy.SCHEDULED: _scheduled,
}


def _in_window(worker: Worker, fleet: Fleet, reservation: str | None) -> bool:
    node = fleet.slurm_node(worker)
    return node is not None and node.state.in_maintenance and node.reservation == reservation


def _idle(worker: Worker, fleet: Fleet) -> bool:
    """Say whether a worker is out of service for Slurm and for Kubernetes, and has no jobs."""
    if not began(worker.pod):
        return True
    node = fleet.slurm_node(worker)
    if node is None:
        # Those that are ready and that Slurm has lost are healed, a few at a time.
        return not worker.pod.ready
    state = node.state
    return not state.busy and (state.down or (state.not_responding and not worker.pod.ready))


def _at_work(worker: Worker, fleet: Fleet) -> bool:
    """Say whether Slurm has a worker in service, whatever the kubelet says."""
    node = fleet.slurm_node(worker)
    if node is None or not began(worker.pod):
        return False
    return node.state.busy or not (node.state.down or node.state.not_responding)


def _held(worker: Worker, fleet: Fleet, wanted: Wanted) -> bool:
    """Say whether a worker is still drained for one before it, and serves only once that ends."""
    node = fleet.slurm_node(worker)
    if node is None or not node.state.asked_to_drain:
        return False
    ours = wanted.prefixes.may_undrain(node.reason)
    return ours and cordon(worker, fleet, wanted.naming.annotations, wanted.shown) is None


def serves(worker: Worker, fleet: Fleet, wanted: Wanted) -> bool:
    """Say whether a worker counts as available: its pod is ready, and Slurm has not lost it.

    One that an admin drained counts: its absence is wanted, and would else stop every update.
    """
    if not worker.pod.available(fleet.now, wanted.nodeset.min_ready):
        return False
    node = fleet.slurm_node(worker)
    return fleet.slurm is None or (node is not None and not node.state.down)


def budget(told: int | str, total: int) -> int:
    """Return how many may be missing at a time: a number, or a part of all, rounded up; never 0."""
    if isinstance(told, str) and told.endswith("%"):
        part = told.removesuffix("%")
        return max(math.ceil(int(part) * total / 100), 1) if part.isdecimal() else 1
    text = str(told)
    return max(int(text), 1) if text.isdecimal() else 1
