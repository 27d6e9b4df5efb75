"""How many workers there are, where their number is given. Pure."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.nodeset import Mode
from ..model.workers import Fleet, Worker
from .order import first_to_go
from .plan import CreateWorker
from .wanted import Wanted

SCALE_IN = "Pod is pending termination for scale-in"
OTHER_MODE = "Pod is pending termination: the NodeSet scales in another way now"


@dataclass(frozen=True)
class Change:
    """Workers that come, and those that go with the reason that Slurm is told, by uid."""

    create: tuple[CreateWorker, ...] = ()
    going: Mapping[str, str] = field(default_factory=dict)


def by_number(wanted: Wanted, fleet: Fleet) -> Change:
    """Move the workers to the number asked for; the lowest free numbers come first."""
    nodeset, every = wanted.nodeset, fleet.workers
    missing = max(nodeset.replicas - len(every), 0)
    create = _lowest(wanted, {worker.number for worker in every}, missing) if missing else ()
    others = {w.uid: OTHER_MODE for w in every if w.mode != Mode.REPLICAS.value}
    # Those that end anyway make room: nobody is drained in their place.
    living = [worker for worker in every if worker.living]
    living = [worker for worker in living if worker.uid not in others] if others else living
    surplus = max(len(living) - nodeset.replicas, 0)
    chosen = living[:surplus]
    if 0 < surplus < len(living):
        chosen = first_to_go(living, fleet, wanted.naming.annotations)[:surplus]
    return Change(create, {**others, **{worker.uid: SCALE_IN for worker in chosen}})


def _lowest(wanted: Wanted, taken: set[int | None], missing: int) -> tuple[CreateWorker, ...]:
    free = (number for number in itertools.count() if number not in taken)
    return tuple(
        CreateWorker("replicas asked for", number, wanted.pinned.get(number, ""))
        for number in itertools.islice(free, missing)
    )


def over(fleet: Fleet) -> list[Worker]:
    """Return the workers that have ended and were not cleared away."""
    dead = (worker for worker in fleet.workers if not worker.living)
    return [worker for worker in dead if worker.pod.over and not worker.pod.deleting]
