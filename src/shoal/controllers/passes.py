"""One pass over one part: what every reconciler does once it knows what it wants."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ..decide.conditions import Failed, Wanted, ready
from ..kube.conditions import Condition, settled
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource
from ..kube.pods import Pod
from ..kubeapi.client import Client
from ..kubeapi.errors import ForbiddenError, InvalidError
from ..model.controller import Keys
from ..model.jail import Jail
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
# A pass over many workers is not made again for each of their events.
REST_S_EACH, LONGEST_REST_S = 0.0015, 15.0
HOST_KEY = "ssh_host_ed25519_key"  # one of them
STRANGER = ": it belongs to "  # in what is said of an object that is somebody else's


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
    pods: tuple[Pod, ...] | None = None  # that count, where they were looked up already
    cure: str = ""  # of a name that is somebody else's; none: to have another name oneself


@dataclass(frozen=True)
class Brought:
    """What came of what was asked."""

    ready: Condition
    done: Done


@dataclass(frozen=True)
class Told:
    """What a status is to say."""

    conditions: Sequence[Condition]
    status: Object | None = None  # beside the conditions; None: as it was


# How objects of a kind say whether they are ready; None: not in their status.
Words = Callable[[Any, Condition, Asked], Told | None]


def plainly(_: Resource, ready: Condition, asked: Asked) -> Told:
    """Say it in one condition."""
    return Told((ready, *asked.more), asked.status)


@dataclass(frozen=True)
class Hands:
    """What reconcilers work with."""

    client: Client
    world: World
    applier: Applier
    recorder: Recorder | None = None  # none: nobody reads events
    words: Mapping[Kind, Words] = field(default_factory=dict)  # `plainly` for all others

    async def bring(self, kind: Kind, obj: Resource, asked: Asked) -> Brought:
        """Apply and look; what is seen is told by others."""
        outcome = await self.applier.apply(kind.identity(obj), asked.objects, asked.rules)
        seen = self.seen(obj, asked, outcome)
        again_s = REFUSED_AGAIN_S if seen.refused or outcome.unserved else None
        return Brought(ready(asked.wanted, seen, asked.verdicts), Done(again_s))

    async def bring_about(self, kind: Kind, obj: Resource, asked: Asked) -> Done:
        """Apply, look, report."""
        brought = await self.bring(kind, obj, asked)
        await self.say(kind, obj, asked, brought.ready)
        return brought.done

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
        # One that is deleted and held by us waits for that to be mended.
        if obj is None or (obj.deleting and not obj.metadata.finalizers):
            return
        asked = Asked((), Rules(), verdicts=(failed,))
        await self.report(kind, obj, asked, self.seen(obj, asked, Outcome()))

    def seen(self, obj: Resource, asked: Asked, outcome: Outcome) -> Seen:
        """Look at what there is of a part."""
        workload = self.world.workload(*asked.workload) if asked.workload else None
        every = (*asked.refused, *outcome.refused)
        refused = tuple(f"{r.kind.kind} {r.key[1]}: {r.why}" for r in every)
        pods = asked.pods
        if pods is None:
            pods = self.world.pods(asked.part) if asked.part else ()
        return Seen(obj.metadata.generation, clock.now(), workload, pods, refused)

    async def report(self, kind: Kind, obj: Any, asked: Asked, seen: Seen) -> None:  # noqa: ANN401 - any kind with a status
        """Write the status, when it says something new."""
        await self.say(kind, obj, asked, ready(asked.wanted, seen, asked.verdicts))

    async def say(self, kind: Kind, obj: Any, asked: Asked, condition: Condition) -> None:  # noqa: ANN401 - any kind with a status
        """Write whether an object is ready into its status, in the words of its kind."""
        condition = cured(kind, condition, asked.cure)
        told = self.words.get(kind, plainly)(obj, condition, asked)
        if told is not None:
            await self.tell(kind, obj, told)

    async def tell(self, kind: Kind, obj: Any, told: Told) -> None:  # noqa: ANN401 - any kind with a status
        """Write a status, when it says something new."""
        before: Object = msgspec.to_builtins(obj.status)
        conditions = settled(told.conditions, before, clock.now())
        after = {**(before if told.status is None else told.status), "conditions": conditions}
        store = self.world.stores[kind]
        # As it would be read: a field that has its default is not in what was read.
        new = msgspec.to_builtins(msgspec.convert(after, type(obj.status)))
        await report(self.client, store, obj, obj.status, new)


def cured(kind: Kind, ready: Condition, cure: str = "") -> Condition:
    """Return the condition with what to do where the name of an object is somebody else's."""
    if ready.reason != "Refused" or STRANGER not in ready.message:
        return ready
    cure = cure or f"metadata.name: name this {kind.kind} otherwise"
    return replace(ready, message=f"{ready.message}; {cure}, or delete that")


def keys(held: Keys) -> tuple[KeyRef, ...]:
    """Return the keys that a part cannot do without."""
    every = (held.slurm, held.munge, held.jwt, held.jwks)
    return tuple(key for key in every if key is not None)


def host_keys(jail: Jail) -> KeyRef:
    """Return the keys by which people know the pods that they log in to."""
    return KeyRef(jail.ssh.host_keys, HOST_KEY, jail.ssh.host_keys_digest)


def soonest(*dones: Done) -> Done:
    """Return the end of a pass that is the sum of several."""
    again = min((d.again_s for d in dones if d.again_s is not None), default=None)
    return Done(again, max((done.rest_s for done in dones), default=0.0))


def rest(workers: int) -> Done:
    """Return how long a pass over so many workers rests."""
    return Done(rest_s=min(REST_S_EACH * workers, LONGEST_REST_S))


def without_cluster(part: Part, cluster: str) -> Asked:
    """Return what is asked of a part whose cluster is not there: nothing, and to say so."""
    words = f"spec.controllerRef: Controller {cluster} is not there; create it, or name another"
    failed = Failed("ControllerMissing", words)
    return Asked((), Rules(), part=part, verdicts=(failed,))
