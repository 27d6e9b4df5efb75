"""Keep a cluster with a shared root as asked: all parts in one pass, told in one status.

Nothing is waited for within a pass: what is not ready yet wakes the next one. A part that cannot be
written is told as such, and keeps no other part from coming.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..decide.conditions import READY, Failed
from ..decide.maintenance import Course, words
from ..kube.conditions import Condition
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..kubeapi.errors import ForbiddenError, InvalidError
from ..model.accounting import ManagedAccounting
from ..model.cluster import Cluster
from ..model.jail import Jail
from ..model.maintenance import Mode
from ..runtime.apply import Rules
from ..runtime.controller import Done
from . import cluster_parts, secrets_once
from .cluster_parts import Asking, Whole
from .controller import ControllerController, Kept
from .database import Claims
from .filling import Outlook, Pods, fill, outlook
from .passes import REFUSED_AGAIN_S, Asked, Brought, Hands, Told, cured, rest, soonest

REFUSALS = (InvalidError, ForbiddenError, ValueError)


@dataclass(frozen=True)
class Looked:
    """What was seen of one part in a pass."""

    ready: Condition
    course: Course
    words: str = ""  # why it is away; of one that is ready, what is not as asked


@dataclass(frozen=True)
class Survey:
    """What was seen of a cluster in a pass."""

    parts: Mapping[str, Looked]  # those that it has
    pods: Pods
    outlook: Outlook


@dataclass(frozen=True)
class Parts:
    """What the dialect calls the parts of a cluster, and which kinds each is made of."""

    common: str
    accounting: str
    controllers: str
    login: str
    rest: str
    exporter: str
    rules: Callable[[str], Rules]  # by part: which of the cluster's objects are of it


@dataclass(frozen=True)
class ClusterController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Any], Whole]  # the dialect
    pods: Callable[[Cluster], Pods]  # the dialect's
    tell: Callable[[Any, Survey], Told]  # the dialect's
    farewell: Callable[[Any], Told | None]  # the dialect's: what one that is deleted waits for
    parts: Parts
    controllers: ControllerController
    claims: Claims
    news: Callable[[Any, Told], Done]  # the dialect's: makes events of what is told

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None:
            return Done()
        if obj.deleting:  # what it owns goes with it
            if (last := self.farewell(obj)) is not None:
                await self.hands.tell(self.kind, obj, last)
            return Done()
        whole = self.read(obj)
        secrets = (*whole.secrets, *whole.passwords)
        if await secrets_once.make(self.hands, self.kind, obj, secrets):
            whole = self.read(obj)
        seen = outlook(self.hands.world, whole.cluster, whole.jail, self.pods(whole.cluster))
        await fill(self.hands, self.kind, obj, whole.jail, seen.verdict)
        whole, remark = await self._settled(whole)
        one = _Pass(self, obj, whole, seen, {self.parts.accounting: remark})
        await one.run()
        pods = self.pods(whole.cluster)  # those that have come meanwhile, too
        told = self.tell(one.obj, Survey(one.looked, pods, seen))
        await self.hands.tell(self.kind, one.obj, told)
        late = self.news(one.obj, told)
        follows = await self.controllers.follow(one.kept) if one.kept else Done()
        pause = rest(len(pods.workers))
        # Neither a claim that grows nor somebody else's database wakes anybody.
        waits = Done(REFUSED_AGAIN_S if remark or whole.taken else None)
        return soonest(*one.dones, Done(seen.verdict.again_s), follows, waits, late, pause)

    async def _settled(self, whole: Whole) -> tuple[Whole, str]:
        """Return the cluster with the database that it can have, and what that is not."""
        books = whole.cluster.accounting
        if whole.taken is not None or not isinstance(books, ManagedAccounting):
            return whole, ""
        found = await self.claims.settle(books)
        cluster = replace(whole.cluster, accounting=found.books)
        return replace(whole, cluster=cluster), found.words


@dataclass
class _Pass:
    """One pass over one cluster."""

    controller: ClusterController
    obj: Resource
    whole: Whole
    seen: Outlook
    remarks: Mapping[str, str]  # by part: what of one that is ready is not as asked
    looked: dict[str, Looked] = field(default_factory=dict)
    dones: list[Done] = field(default_factory=list)
    kept: Kept | None = None

    async def run(self) -> None:
        """See to all parts, each for itself."""
        names, whole, seen = self.controller.parts, self.whole, self.seen
        rows: tuple[tuple[str, Course, object, Asking], ...] = (
            (names.common, Course.UP, whole.jail, cluster_parts.common),
            # It has no root, and need not wait for it.
            (names.accounting, seen.rest, whole.cluster.accounting, cluster_parts.accounting),
        )
        for part, course, there, asking in rows:
            await self._bring(part, course, asking if there is not None else None)
        await self._controllers()
        for part, there, asking in (
            (names.login, whole.gate, cluster_parts.login),
            (names.rest, whole.rest, cluster_parts.rest),
            (names.exporter, whole.exporter, cluster_parts.exporter),
        ):
            await self._bring(part, seen.course, asking if there is not None else None)

    async def _bring(self, part: str, course: Course, asking: Asking | None) -> None:
        """Bring a part about; None: the cluster is to be without it."""
        hands, kind, rules = (
            self.controller.hands,
            self.controller.kind,
            self.controller.parts.rules,
        )
        if asking is not None and (lost := self._lost(part, course)):
            self._note(part, course, self._condition(lost))
            return
        try:
            if asking is None:
                asked = Asked((), rules(part))
            else:
                asked = asking(hands.world, self.whole, _as(self.whole.jail, course), rules(part))
            brought = await hands.bring(kind, self.obj, asked)
        except REFUSALS as error:
            brought = self._refused(error)
        self.dones.append(brought.done)
        if asking is not None:
            self._note(part, course, brought.ready)

    def _lost(self, part: str, course: Course) -> Failed | None:
        """Say which key is gone without which pods would start anew, and not come back.

        What is there stays as it is then, unless it is to go.
        """
        if not course.pods:
            return None
        of_part = self.whole.passwords if part == self.controller.parts.accounting else ()
        return secrets_once.lost((*self.whole.secrets, *of_part))

    async def _controllers(self) -> None:
        course, part = self.seen.course, self.controller.parts.controllers
        if lost := self._lost(part, course):
            self._note(part, course, self._condition(lost))
            return
        cluster = replace(self.whole.cluster, jail=_as(self.whole.jail, course))
        try:
            self.kept = await self.controller.controllers.bring(self.obj, cluster)
        except REFUSALS as error:
            brought = self._refused(error)
        else:
            self.obj, brought = self.kept.obj, self.kept.brought
        self.dones.append(brought.done)
        self._note(part, course, brought.ready)

    def _note(self, part: str, course: Course, ready: Condition) -> None:
        why = words(self.whole.jail.mode, course, self.seen.seen) or self.remarks.get(part, "")
        if course is Course.WAITING:
            why = self.seen.verdict.words
        self.looked[part] = Looked(cured(self.controller.kind, ready), course, why)

    def _refused(self, error: Exception) -> Brought:
        reason = "Invalid" if isinstance(error, ValueError) else "Refused"
        return Brought(self._condition(Failed(reason, str(error))), Done(REFUSED_AGAIN_S))

    def _condition(self, failed: Failed) -> Condition:
        generation = self.obj.metadata.generation
        return Condition(READY, "False", failed.reason, failed.message, generation)


def _as(jail: Jail, course: Course) -> Jail:
    """Return the jail with pods there or away as was decided, whatever the user wants later."""
    return replace(jail, mode=Mode.NONE if course.pods else Mode.DOWNSCALE)
