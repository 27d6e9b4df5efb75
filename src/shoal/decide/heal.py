"""Workers that run and that Slurm does not know: replaced, a few at a time. Pure.

A slurmd registers when it starts, so one that Slurm has forgotten comes back by a restart only. It
is given time, it must be seen from inside that no step runs in it, and of many only a few go at a
time: the day on which all are unknown is the day on which Slurm has lost its table. A list without
any node is no answer at all; once one worker is in it again, the others follow.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta

from ..model.nodeset import Mode
from ..model.workers import Fleet, Worker
from .plan import Action, DeleteWorker, LookInside, Wait
from .wanted import Healing, Wanted

GRACE_S, LONGEST_S = 60.0, 900.0
SHARE = 10  # of the workers one at a time, at least one
AGAIN_S = 15.0
LOST = "Slurm does not know it, and no step runs in it"
NO_NODES = "Slurm has no nodes at all; if its state is lost, delete the pod of one idle worker"


def heal(wanted: Wanted, fleet: Fleet, kept: Collection[Worker]) -> list[Action]:
    """Return what to do about workers of `kept` that Slurm does not know."""
    if fleet.slurm is None:
        return []
    if not fleet.slurm:
        ready = any(w.pod.ready for w in kept)
        return [Wait(NO_NODES, AGAIN_S)] if ready else []
    lost = [w for w in kept if _lost(w, fleet, wanted)]
    due = [w for w in lost if _due(w, fleet, wanted.healing)]
    waits: list[Action] = [Wait("Slurm does not know some workers", AGAIN_S)] if lost else []
    unseen = [w for w in due if w.uid not in fleet.steps]
    looks = [LookInside("Slurm does not know it", w.name, w.uid) for w in unseen]
    # Those that are on their way back count too, and those that have not set out yet.
    back = sum(not w.pod.ready for w in fleet.workers)
    if wanted.nodeset.mode is Mode.REPLICAS:
        back += max(wanted.nodeset.replicas - len(fleet.workers), 0)
    room = max(max(len(fleet.workers) // SHARE, 1) - back, 0)
    idle = [w for w in due if fleet.steps.get(w.uid) is False][:room]
    return [*looks, *(DeleteWorker(LOST, w.name, w.uid) for w in idle), *waits]


def remember(wanted: Wanted, fleet: Fleet, replaced: Collection[str]) -> Mapping[str, Healing]:
    """Return what to remember for the next pass; `replaced` are the uids that `heal` ended."""
    if not fleet.slurm:
        return wanted.healing
    found: dict[str, Healing] = {}
    for worker in fleet.workers:
        known = wanted.healing.get(worker.name)
        if worker.uid in replaced:
            tries = known.tries + 1 if known else 1
            found[worker.name] = Healing(fleet.now, tries, fleet.now)
        elif worker.node not in fleet.slurm:
            found[worker.name] = known or Healing(fleet.now)
            if not worker.pod.ready:  # its time begins when it runs
                found[worker.name] = replace(found[worker.name], since=fleet.now)
    return found


def _lost(worker: Worker, fleet: Fleet, wanted: Wanted) -> bool:
    assert fleet.slurm is not None
    ready = worker.living and worker.pod.available(fleet.now, wanted.nodeset.min_ready)
    return ready and worker.node not in fleet.slurm


def _due(worker: Worker, fleet: Fleet, healing: Mapping[str, Healing]) -> bool:
    known = healing.get(worker.name)
    if known is None:
        return False
    patience = timedelta(seconds=min(GRACE_S * 2.0**known.tries, LONGEST_S))
    return fleet.now - known.since >= patience
