"""One pass over one part: what every reconciler does once it knows what it wants."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..decide.conditions import Failed, Wanted, ready
from ..kube.conditions import Condition, settled
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource
from ..kubeapi.client import Client
from ..kubeapi.errors import ForbiddenError, InvalidError
from ..model.controller import Keys
from ..model.observed import Seen
from ..model.part import KeyRef, Part
from ..runtime import clock
from ..runtime.apply import Applier, Outcome, Refused, Rules
from ..runtime.controller import Done, Reconcile
from ..runtime.errors import TerminalError
from ..runtime.events import About, Happening, Recorder
from ..runtime.status import report
from .world import World

# How soon to look whether an object of somebody else is still in our way, or whether a kind of
# somebody else has come: neither wakes anybody.
REFUSED_AGAIN_S = 60.0


@dataclass(frozen=True)
class Asked:
    """What one pass is to bring about."""

    objects: Iterable[Object]
    rules: Rules
    wanted: Wanted = field(default_factory=Wanted)
    part: Part | None = None  # whose pods count
    workload: tuple[Kind, Key] | None = None  # that has them
    verdicts: Sequence[Failed | None] = ()  # of the part's own, see `decide.conditions.ready`
    status: Object | None = None  # beside the conditions; None: as it was
    refused: tuple[Refused, ...] = ()  # of what was written before in this pass
    more: Sequence[Condition] = ()  # conditions beside Ready


@dataclass(frozen=True)
class Hands:
    """What reconcilers work with."""

    client: Client
    world: World
    applier: Applier
    recorder: Recorder | None = None  # none: nobody reads events

    async def bring_about(self, kind: Kind, obj: Resource, asked: Asked) -> Done:
        """Apply, look, report."""
        outcome = await self.applier.apply(kind.identity(obj), asked.objects, asked.rules)
        seen = self.seen(obj, asked, outcome)
        await self.report(kind, obj, asked, seen)
        return Done(REFUSED_AGAIN_S if seen.refused or outcome.unserved else None)

    def record(self, of: About | None, what: Happening, count: int = 1) -> None:
        """Have an event made of `what`; never waits, never fails."""
        if self.recorder is not None and of is not None:
            self.recorder.record(of, what, count)

    def telling(self, kind: Kind, reconcile: Reconcile) -> Reconcile:
        """Return `reconcile` with its refusals told in the object's status too.

        A spec that cannot be understood waits for another one. What the API server does not let
        pass is tried again: rights, quotas and the objects of others change without us.
        """

        async def telling(key: Key) -> Done:
            try:
                return await reconcile(key)
            except ValueError as error:
                await self._tell(kind, key, Failed("Invalid", str(error)))
                raise TerminalError(str(error)) from error
            except (InvalidError, ForbiddenError) as error:
                await self._tell(kind, key, Failed("Refused", str(error)))
                raise

        return telling

    async def _tell(self, kind: Kind, key: Key, failed: Failed) -> None:
        obj = self.world.get(kind, key)
        if obj is None or obj.deleting:
            return
        asked = Asked((), Rules(), verdicts=(failed,))
        await self.report(kind, obj, asked, self.seen(obj, asked, Outcome()))

    def seen(self, obj: Resource, asked: Asked, outcome: Outcome) -> Seen:
        """Look at what there is of a part."""
        workload = self.world.workload(*asked.workload) if asked.workload else None
        every = (*asked.refused, *outcome.refused)
        refused = tuple(f"{r.kind.kind} {r.key[1]}: {r.why}" for r in every)
        pods = self.world.pods(asked.part) if asked.part else ()
        return Seen(obj.metadata.generation, clock.now(), workload, pods, refused)

    async def report(self, kind: Kind, obj: Any, asked: Asked, seen: Seen) -> None:  # noqa: ANN401 - any kind with a status
        """Write the status, when it says something new."""
        condition = ready(asked.wanted, seen, asked.verdicts)
        before: Object = msgspec.to_builtins(obj.status)
        conditions = settled([condition, *asked.more], before, clock.now())
        after = {**(before if asked.status is None else asked.status), "conditions": conditions}
        store = self.world.stores[kind]
        # As it would be read: a field that has its default is not in what was read.
        told = msgspec.to_builtins(msgspec.convert(after, type(obj.status)))
        await report(self.client, store, obj, obj.status, told)


def keys(held: Keys) -> tuple[KeyRef, ...]:
    """Return the keys that a part cannot do without."""
    return tuple(key for key in (held.slurm, held.jwt, held.jwks) if key is not None)


def soonest(*dones: Done) -> Done:
    """Return the end of a pass that is the sum of several."""
    again = min((d.again_s for d in dones if d.again_s is not None), default=None)
    return Done(again, max((done.rest_s for done in dones), default=0.0))


def without_cluster(part: Part, cluster: str) -> Asked:
    """Return what is asked of a part whose cluster is not there: nothing, and to say so."""
    words = f"spec.controllerRef: Controller {cluster} is not there; create it, or name another"
    failed = Failed("ControllerMissing", words)
    return Asked((), Rules(), part=part, verdicts=(failed,))
