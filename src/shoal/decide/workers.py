"""What is done about the workers of a NodeSet: who comes, who goes, who drains, and why. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..model.nodeset import Mode
from ..model.workers import Fleet, Worker
from . import calm, facts, ghosts, heal, notes, place, records, scale, show
from .cordons import cordon
from .defunct import defunct
from .drains import drains
from .plan import Action, DeleteWorker, LookInside, Plan, Wait
from .rollout import outdated, stopped
from .scale import Change
from .standing import Standing, began, standing
from .wanted import NOBODY, Calm, Wanted

DELETION = "Pod is pending termination: its NodeSet is being deleted"
AGAIN_S = 15.0
SHOWN = 3  # names in a message
_WAITS = {
    Standing.SERVING: "being drained",
    Standing.BUSY: "still with jobs",
    Standing.UNKNOWN: "where Slurm does not say whether jobs run",
    Standing.UNREGISTERED: "that Slurm does not know",
}


@dataclass(frozen=True)
class Decided:
    """What to do, and about whom there is nothing to do."""

    plan: Plan
    calm: Calm = NOBODY


def plan(wanted: Wanted, fleet: Fleet) -> Plan:
    """Return what to do now."""
    return decide(wanted, fleet).plan


def decide(wanted: Wanted, fleet: Fleet) -> Decided:
    """Return what to do now, and what to remember of those about whom there is nothing to do."""
    change = _change(wanted, fleet)
    kept = [w for w in fleet.workers if w.living and w.uid not in change.going]
    total, renewed = _renewed(wanted, fleet, change, kept)
    going = {**change.going, **outdated(wanted, fleet, total, renewed)}
    order = order_matters(wanted, fleet.workers)
    # Whether one goes, or for how long it has jobs, is a question of all the others too.
    apart = not going and not order and fleet.ends is None
    few = replace(fleet, workers=tuple(calm.others(wanted, fleet))) if apart else fleet
    stay = [w for w in few.workers if w.living and w.uid not in going]

    # Two pods may have one name in Slurm, on one node: what drains one drains the other.
    gone = [worker for worker in fleet.workers if worker.uid in going] if going else []
    shared = {worker.node: going[worker.uid] for worker in gone if began(worker.pod)}

    def wish(worker: Worker) -> str | None:
        why = shared.get(worker.node)
        return why or cordon(worker, fleet, wanted.naming.annotations, wanted.shown)

    made = (
        *records.inherited(wanted, fleet, change.create),
        *change.create,
        *drains(few, wish, wanted.prefixes),
        *place.ended(wanted, few),
        *_ends(wanted, fleet, going),
        *stopped(wanted, fleet, total, renewed),
        *heal.heal(wanted, fleet, stay),
        *ghosts.ghosts(fleet),
        *show.show(wanted, fleet, _shown(few, going), order=order),
        *facts.facts(wanted, fleet, stay, places=wanted.places),
        *notes.notes(wanted, few, wish),
        *_on_every_node(wanted, fleet),
    )
    return Decided(made, calm.remember(wanted, fleet, few.workers, made) if apart else NOBODY)


def order_matters(wanted: Wanted, workers: Sequence[Worker]) -> bool:
    """Say whether some go and others stay: then it counts for how long each has jobs."""
    if any(worker.revision != wanted.revision for worker in workers):
        return True
    living = sum(worker.living for worker in workers)
    return wanted.nodeset.mode is Mode.REPLICAS and living > wanted.nodeset.replicas > 0


def _change(wanted: Wanted, fleet: Fleet) -> Change:
    if wanted.deleting:
        return Change((), {worker.uid: DELETION for worker in fleet.workers if worker.living})
    if wanted.nodeset.mode is Mode.REPLICAS:
        return scale.by_number(wanted, fleet)
    return place.on_nodes(wanted, fleet)


def _renewed(
    wanted: Wanted, fleet: Fleet, change: Change, kept: list[Worker]
) -> tuple[int, list[Worker]]:
    """Return how many workers an update goes by, and those of `kept` that can be replaced."""
    if wanted.nodeset.mode is Mode.REPLICAS:
        return wanted.nodeset.replicas, kept
    back = place.returns(wanted, fleet)
    kept = [worker for worker in kept if back(worker)]
    return len(kept) + len(change.create), kept


def _shown(fleet: Fleet, going: Mapping[str, str]) -> Iterator[Worker]:
    """Give the workers that are worth a word: an idle one that goes is gone in a moment."""
    for worker in fleet.workers:
        node = fleet.slurm_node(worker) if worker.uid in going else None
        if worker.uid not in going or (node is not None and node.state.busy):
            yield worker


def _on_every_node(wanted: Wanted, fleet: Fleet) -> list[Action]:
    if wanted.deleting or wanted.nodeset.mode is Mode.REPLICAS:
        return []
    return [*place.clashes(wanted, fleet), *defunct(wanted, fleet)]


def _ends(wanted: Wanted, fleet: Fleet, going: Mapping[str, str]) -> Iterator[Action]:
    held: dict[Standing, list[str]] = {}
    for worker in fleet.workers if going else ():
        why = going.get(worker.uid)
        if why is None or not worker.living:
            continue
        how = Standing.FREE if wanted.forced else standing(worker, fleet)
        if how is Standing.FREE:
            yield DeleteWorker(why, worker.name, worker.uid)
            continue
        if how is Standing.UNREGISTERED:
            yield LookInside("Slurm does not know it", worker.name, worker.uid)
        held.setdefault(how, []).append(worker.name)
    for how, names in held.items():
        few = ", ".join(names[:SHOWN]) + (", ..." if names[SHOWN:] else "")
        who = "1 worker" if len(names) == 1 else f"{len(names)} workers"
        yield Wait(f"{who} {_WAITS[how]}: {few}", AGAIN_S)
