"""Which workers are replaced by newer ones now. Pure.

Workers that are out of service cost nothing and go first; of the others no more go at a time than
the budget leaves, and a new one that does not come up is out of service too: so an image that
cannot be pulled stops the rollout at the budget. An old one whose pod is not ready while Slurm has
it at work is in service: a kubelet that is silent for a minute takes no capacity away. One whose
slurmd is silent takes no jobs, so that a new one does not count, and an old one goes first.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping

from ..kube.objects import moment
from ..model.nodeset import Strategy
from ..model.workers import Fleet, SlurmNode, Worker
from ..slurm.reasons import Owner
from .cordons import cordon
from .drains import SILENT, given_up
from .heal import GRACE
from .order import first_to_go
from .plan import FEW, Wait
from .standing import began
from .wanted import Wanted

UPDATE = "Pod is pending termination for update"
STOPPED = "the update has stopped, as no more than {} of {} may be out of service"
BACK = "or ask again for what was before"
AGAIN_S = 60.0


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
    there = sum(_counts(worker, fleet, wanted) for worker in kept)
    room = _room(wanted, total, there)
    idle = [worker for worker in old if _idle(worker, fleet)]
    rest = [worker for worker in old if not _idle(worker, fleet)]
    rest = first_to_go(rest, fleet, wanted.naming.annotations)
    # Nobody else goes while one that is silent could: it is out of service already.
    return idle + sorted(rest, key=lambda worker: not _silent(worker, fleet))[:room]


def _room(wanted: Wanted, total: int, there: int) -> int:
    return max(budget(wanted.nodeset.update.max_unavailable, total) - max(total - there, 0), 0)


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
        return not worker.ready
    state = node.state
    return not state.busy and (state.down or (state.not_responding and not worker.ready))


# -- who stops it


def stopped(wanted: Wanted, fleet: Fleet, total: int, kept: Collection[Worker]) -> Iterator[Wait]:
    """Give which workers of `kept` stop an update, why, and what to do about it.

    A worker that is on its way, or has jobs yet, stops nothing: it is waited for.
    """
    if wanted.nodeset.update.strategy is not Strategy.ROLLING:
        return
    if all(worker.revision == wanted.revision for worker in kept):
        return
    out = [worker for worker in kept if not _counts(worker, fleet, wanted)]
    if _room(wanted, total, len(kept) - len(out)):
        return
    causes: dict[str, list[str]] = {}
    for worker in out:
        if why := _cause(worker, fleet, wanted):
            causes.setdefault(why, []).append(worker.node)
    most = budget(wanted.nodeset.update.max_unavailable, total)
    for why, names in causes.items():
        few = ", ".join(names[:FEW]) + (", ..." if names[FEW:] else "")
        yield Wait(f"{STOPPED.format(most, total)}: {few}: {why}", AGAIN_S)


def _cause(worker: Worker, fleet: Fleet, wanted: Wanted) -> str:
    """Say why a worker does not come up by itself, and the cure; empty: it may yet."""
    if worker.revision != wanted.revision and _idle(worker, fleet):
        return ""  # it goes, whatever the budget
    if not worker.ready:
        # In which words is told beside it, and they change with every try of the kubelet.
        lame = bool(worker.pod.trouble)
        return f"the pod does not come up; correct the spec, {BACK}" if lame else ""
    return _absence(worker, fleet, wanted) if fleet.slurm is not None else ""


def _absence(worker: Worker, fleet: Fleet, wanted: Wanted) -> str:
    """Say why a worker whose pod serves is out of service in Slurm."""
    node = fleet.slurm_node(worker)
    if node is None:
        known = wanted.healing.get(worker.node)
        late = known is not None and fleet.now - known.since >= GRACE
        return f"slurmd does not register; see the pod's log, {BACK}" if late else ""
    if _taken_out(node, wanted):
        how = "set down" if node.state.down else "drained"
        words = f"{how} since the pod was made ({node.reason})"
        return f"{words}; scontrol update nodename={node.name} state=resume, {BACK}"
    if node.state.down or _silent(worker, fleet):
        return f"slurmd does not answer; see the pod's log, {BACK}"
    return ""


# -- who is missing


def _counts(worker: Worker, fleet: Fleet, wanted: Wanted) -> bool:
    """Say whether a worker counts as available."""
    ready = worker.available(fleet.now, wanted.nodeset.min_ready)
    if fleet.slurm is None:
        return ready
    node = fleet.slurm_node(worker)
    if node is None:
        return False
    if worker.revision == wanted.revision:
        return ready and _is_up(worker, node, fleet, wanted)
    return (ready and not node.state.down) or _at_work(worker, node)


def _at_work(worker: Worker, node: SlurmNode) -> bool:
    """Say whether Slurm has a worker in service, whatever the kubelet says."""
    state = node.state
    return began(worker.pod) and (state.busy or not (state.down or state.not_responding))


def _is_up(worker: Worker, node: SlurmNode, fleet: Fleet, wanted: Wanted) -> bool:
    if _taken_out(node, wanted):
        return _was_out(worker, node)
    state, owner = node.state, wanted.prefixes.owner_of(node.reason)
    if state.down or _silent(worker, fleet):
        return False
    # Drained by us, and for nothing that is so now: for the one before it. It serves in a moment.
    held = state.asked_to_drain and owner is Owner.OURS
    return not held or cordon(worker, fleet, wanted.naming.annotations, wanted.shown) is not None


def _taken_out(node: SlurmNode, wanted: Wanted) -> bool:
    """Say whether somebody else took a node out of service."""
    out = node.state.down or node.state.asked_to_drain
    foreign = wanted.prefixes.owner_of(node.reason) is Owner.FOREIGN
    return out and foreign and not given_up(node)


def _was_out(worker: Worker, node: SlurmNode) -> bool:
    """Say whether somebody took a node out of service before the worker was made that is there now.

    Then its absence is wanted, and would stop every update. What was taken out since then may be so
    for what is new: a health check that drains each new worker stops the update, as a bad image.
    """
    if node.reason.endswith(SILENT):
        # slurmctld has dated it anew: it was said of a node that fell silent, by an earlier pod.
        return True
    made = moment(worker.pod.metadata.creation_timestamp)
    return node.reason_at is not None and made is not None and node.reason_at < made


def _silent(worker: Worker, fleet: Fleet) -> bool:
    """Say whether a worker takes no jobs and has none, as slurmctld waits for its slurmd."""
    node = fleet.slurm_node(worker)
    return node is not None and node.state.not_responding and not node.state.busy


def budget(told: int | str, total: int) -> int:
    """Return how many may be missing at a time: a number, or a part of all, rounded up; never 0."""
    if isinstance(told, str) and told.endswith("%"):
        part = told.removesuffix("%")
        return max(math.ceil(int(part) * total / 100), 1) if part.isdecimal() else 1
    text = str(told)
    return max(int(text), 1) if text.isdecimal() else 1
