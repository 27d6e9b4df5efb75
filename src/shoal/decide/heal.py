"""Workers that run and that Slurm does not know: replaced, a few at a time. Pure.

A slurmd registers when it starts, so one that Slurm has forgotten comes back by a restart only. It
is given time, it must be seen from inside that no step runs in it, and of many only a few go at a
time: the day on which all are unknown is the day on which Slurm has lost its table. A list without
any node is no answer at all; once one worker is in it again, the others follow.

A tenth is replaced, and when it is back the next: but one that does not come back, as it finds no
room or no image, is waited for only so long. Else it would keep all others lost for ever.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ..kube.objects import moment
from ..kube.pods import Pod
from ..model.nodeset import Mode
from ..model.workers import Fleet, Worker
from .plan import Action, DeleteWorker, LookInside, Wait
from .wanted import Healing, Wanted

GRACE, LONGEST = timedelta(seconds=60), timedelta(minutes=15)
SHARE = 10  # of the workers one at a time, at least one
AGAIN_S = 15.0
LOST = "Slurm does not know it, and no step runs in it"
NO_NODES = "Slurm has no nodes at all; if its state is lost, delete the pod of one idle worker"


def heal(wanted: Wanted, fleet: Fleet, kept: Collection[Worker]) -> list[Action]:
    """Return what to do about workers of `kept` that Slurm does not know."""
    if fleet.slurm is None:
        return []
    if not fleet.slurm:
        ready = any(w.ready for w in kept)
        return [Wait(NO_NODES, AGAIN_S)] if ready else []
    lost = [w for w in kept if _lost(w, fleet, wanted)]
    if not lost:
        return []
    due = [w for w in lost if _due(w, fleet, wanted.healing)]
    wait = Wait("Slurm does not know some workers", AGAIN_S)
    unseen = [w for w in due if w.uid not in fleet.steps]
    looks = [LookInside("Slurm does not know it", w.name, w.uid) for w in unseen]
    room = max(max(len(fleet.workers) // SHARE, 1) - _on_their_way(wanted, fleet), 0)
    idle = [w for w in due if fleet.steps.get(w.uid) is False][:room]
    return [*looks, *(DeleteWorker(LOST, w.name, w.uid) for w in idle), wait]


def remember(wanted: Wanted, fleet: Fleet, replaced: Collection[str]) -> Mapping[str, Healing]:
    """Return what to remember for the next pass; `replaced` are the uids that `heal` ended."""
    if not fleet.slurm:
        return wanted.healing
    found = {
        node: known
        for node, known in wanted.healing.items()
        # Between the end of one pod and the start of the next there is no worker to go by.
        if node not in fleet.slurm and _recent(known.last, fleet)
    }
    for worker in fleet.workers:
        if worker.node in fleet.slurm:
            continue
        known = wanted.healing.get(worker.node, Healing(fleet.now))
        if worker.uid in replaced:
            found[worker.node] = Healing(fleet.now, known.tries + 1, fleet.now)
        else:  # its time begins when it runs
            found[worker.node] = known if worker.ready else replace(known, since=fleet.now)
    return found


def _lost(worker: Worker, fleet: Fleet, wanted: Wanted) -> bool:
    assert fleet.slurm is not None
    if worker.node in fleet.slurm:
        return False
    return worker.living and worker.available(fleet.now, wanted.nodeset.min_ready)


def _due(worker: Worker, fleet: Fleet, healing: Mapping[str, Healing]) -> bool:
    known = healing.get(worker.node)
    if known is None:
        return False
    # Beyond that power of two it is the longest anyway.
    patience = min(GRACE * (1 << min(known.tries, 20)), LONGEST)
    return fleet.now - known.since >= patience


def _on_their_way(wanted: Wanted, fleet: Fleet) -> int:
    """Count the workers that will soon be back: they end, they start, or they are not there yet."""
    out = (w.pod for w in fleet.workers if not (w.living and w.ready))
    moving = sum(_recent(_moved(pod), fleet) for pod in out)
    there = {worker.node for worker in fleet.workers}
    gone = sum(_recent(known.last, fleet) for n, known in wanted.healing.items() if n not in there)
    if wanted.nodeset.mode is Mode.REPLICAS:
        # Some were scaled in, and do not come back.
        gone = min(gone, max(wanted.nodeset.replicas - len(fleet.workers), 0))
    return moving + gone


def _moved(pod: Pod) -> datetime | None:
    meta = pod.metadata
    return moment(meta.deletion_timestamp) or moment(meta.creation_timestamp)


def _recent(when: datetime | None, fleet: Fleet) -> bool:
    return when is not None and fleet.now - when < LONGEST
