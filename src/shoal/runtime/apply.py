"""The one way to write: make what an owner has equal to what it shall have, and nothing more.

Server-side apply for every kind. An annotation holds a digest of what we applied last, so what has
not changed is not sent. Whoever changes a field of ours is put right: we remember what an object
looked like after our write (its generation, or its version where it has none) and apply again when
that moved. A process that has just begun asks the API server whether the fields are still ours.
What belongs to somebody else is reported and never fought over.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from ..kube.kinds import Kind, Kinds
from ..kube.objects import Key, Object, Resource, controller_of, key_of, owner_reference
from ..kubeapi.client import Client, Demand, Ref
from ..kubeapi.errors import ConflictError, ExistsError, InvalidError, NotFoundError
from . import clock
from .recall import Recall, version_of
from .store import Store
from .turns import Turns

T = TypeVar("T")

DIGEST = "shoal/applied"
SIDE_BY_SIDE = 32
STEP_S = 0.01  # of work without a pause


@dataclass(frozen=True)
class Refused:
    """An object that was not written, and why."""

    kind: Kind
    key: Key
    why: str


@dataclass(frozen=True)
class Outcome:
    """What one application did."""

    written: int = 0
    deleted: int = 0
    refused: tuple[Refused, ...] = ()
    unserved: int = 0  # left out, as the API server does not know their kind


def any_of_them(_: Resource) -> bool:
    """Let all objects of an owner be of one application."""
    return True


@dataclass(frozen=True)
class Rules:
    """What an application may do beyond writing fields."""

    prune: Collection[Kind] = ()  # kinds whose objects go when they are no longer wanted
    # Which of the owner's objects those are, where it has others that are applied apart from these.
    among: Callable[[Resource], bool] = any_of_them
    # Kinds whose new objects are posted, which is half the work for the API server. A field that is
    # left out later then stays: for kinds whose objects are made anew rather than changed (pods).
    post: Collection[Kind] = ()
    recreate: Collection[Kind] = ()  # kinds that are deleted and made anew for an immutable field
    force: bool = True  # take over fields that others set in an object of ours


@dataclass
class Applier:
    """Writes desired sets. One for a process: its memory and its bound are shared by all owners."""

    client: Client
    stores: Mapping[Kind, Store[Any]]
    kinds: Kinds = field(default_factory=Kinds)
    _settled: dict[str, int] = field(default_factory=dict)  # uid -> mark after our last write
    _turns: Turns = field(default_factory=lambda: Turns(SIDE_BY_SIDE))

    def __post_init__(self) -> None:
        self._recall = Recall(self.client, DIGEST)
        for store in self.stores.values():
            store.listen(self._forget, past=False)

    async def apply(
        self,
        owner: Object,
        desired: Iterable[Object],
        rules: Rules = Rules(),  # noqa: B008 - frozen
    ) -> Outcome:
        """Make the objects of `owner` equal `desired`; conflicts are in the outcome, not raised.

        `desired` is read as it is written: a generator renders a thousand objects without holding
        the loop up, and without having them in memory all at once.
        """
        wanted: set[tuple[Kind, Key]] = set()
        results: list[bool | Refused] = []
        unserved: list[Kind] = []

        async def one(obj: Object) -> None:
            kind = self.kinds.of(obj)
            wanted.add((kind, key_of(obj)))
            if kind in self.stores and not self.stores[kind].served:
                unserved.append(kind)
                return
            results.append(await self._one(kind, mark(obj, owner), owner, rules))

        await _each(desired, one)
        # Only now: when something could not be rendered or written, nothing is deleted either.
        extra = list(self._unwanted(owner, wanted, rules))
        await _each(extra, lambda found: self._delete(*found, owner))
        refused = tuple(result for result in results if isinstance(result, Refused))
        written = sum(result is True for result in results)
        return Outcome(written, len(extra), refused, len(unserved))

    async def delete(self, owner: Object, kind: Kind, objects: Iterable[Resource]) -> None:
        """Delete objects of `owner`, many side by side; who has many leaves room for others."""
        await _each(objects, lambda obj: self._delete(kind, obj, owner))

    async def each(
        self, owner: Object, items: Iterable[T], do: Callable[[T], Awaitable[None]]
    ) -> None:
        """Do to each what is no application, many side by side, with the same room for others."""

        async def one(item: T) -> None:
            async with self._turns.turn(owner["metadata"]["uid"]):
                await do(item)

        await _each(items, one)

    async def _one(self, kind: Kind, obj: Object, owner: Object, rules: Rules) -> bool | Refused:
        store = self.stores.get(kind)
        live = store.get(key_of(obj)) if store is not None else None
        if live is not None:
            if stranger := _stranger(live, owner):
                return Refused(kind, live.key, stranger)
            if await self._is_settled(kind, live, obj):
                return False
            if live.deleting:
                return Refused(kind, live.key, "it is being deleted")
        try:
            async with self._turns.turn(owner["metadata"]["uid"]):
                await self._write(kind, obj, rules, new=live is None)
        except ConflictError as conflict:
            return Refused(kind, key_of(obj), str(conflict))
        except InvalidError as invalid:
            if live is None or kind not in rules.recreate or not _immutable(invalid):
                raise
            await self._delete(kind, live, owner)
            return Refused(kind, live.key, "immutable field: deleted, to be made anew")
        return True

    async def _write(self, kind: Kind, obj: Object, rules: Rules, *, new: bool) -> None:
        store = self.stores.get(kind)
        type_: type[Resource] = store.type if store is not None else Resource
        written: Resource | None = None
        if new and kind in rules.post:
            with suppress(ExistsError):  # the store does not know it yet
                written = await self.client.create(kind, obj, type_)
        if written is None:
            written = await self.client.apply(kind, obj, type_, force=rules.force)
        self._settled[written.metadata.uid] = _mark_of(written, obj)
        if store is not None:
            store.put(written)

    def _forget(self, before: Resource | None, after: Resource | None) -> None:
        if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
            self._settled.pop(before.metadata.uid, None)

    async def _is_settled(self, kind: Kind, live: Resource, obj: Object) -> bool:
        if live.metadata.annotations.get(DIGEST) != obj["metadata"]["annotations"][DIGEST]:
            return False
        uid, now = live.metadata.uid, _mark_of(live, obj)
        if uid not in self._settled and await self._recall.untouched(kind, live, obj):
            self._settled[uid] = now
        return self._settled.get(uid) == now

    def _unwanted(
        self, owner: Object, wanted: set[tuple[Kind, Key]], rules: Rules
    ) -> Iterable[tuple[Kind, Resource]]:
        for kind in rules.prune:
            for obj in self.stores[kind].owned_by(owner["metadata"]["uid"]):
                managed = controller_of(obj)
                ours = managed is not None and managed.uid == owner["metadata"]["uid"]
                # Only what we applied: an owner may have objects of other controllers too.
                applied = DIGEST in obj.metadata.annotations and rules.among(obj)
                if ours and applied and not obj.deleting and (kind, obj.key) not in wanted:
                    yield kind, obj

    async def _delete(self, kind: Kind, obj: Resource, owner: Object) -> None:
        async with self._turns.turn(owner["metadata"]["uid"]):
            await delete(self.client, self.stores.get(kind), kind, obj)


async def delete(
    client: Client, store: Store[Any] | None, kind: Kind, obj: Resource, *, exact: bool = False
) -> None:
    """Delete that very object, or with `exact` only if it is as it was seen; else it's a conflict.

    The store knows it at once.
    """
    meta = obj.metadata
    demand = Demand(uid=meta.uid, version=meta.resource_version if exact else "")
    try:
        left: Resource | None = await client.delete(
            Ref(kind, *obj.key), store.type if store is not None else Resource, demand
        )
    except NotFoundError:
        left = None
    if store is not None:
        if left is None:
            store.removed_by_us(obj.key, meta.uid)
        else:
            store.put(left)


def mark(obj: Object, owner: Object) -> Object:
    """Return `obj` with its owner and the digest of all it says."""
    # Not a deep copy: that costs more than all the rest, and a thousand are marked in one pass.
    meta = dict(obj["metadata"])
    if meta.get("namespace", "") == owner["metadata"].get("namespace", ""):
        meta["ownerReferences"] = [owner_reference(owner)]
    encoded = msgspec.json.encode({**obj, "metadata": meta}, order="deterministic")
    digest = hashlib.sha256(encoded).hexdigest()[:32]
    meta["annotations"] = {**meta.get("annotations", {}), DIGEST: digest}
    return {**obj, "metadata": meta}


def _mark_of(live: Resource, obj: Object) -> int:
    """Return what moves when somebody changes what we said of an object, and hardly else."""
    meta, said = live.metadata, obj["metadata"]
    # A generation counts no change of the metadata. What admission made of ours is no change.
    labels = [meta.labels.get(name) for name in sorted(said.get("labels", ()))]
    annotations = [meta.annotations.get(name) for name in sorted(said["annotations"])]
    owners = [owner.uid for owner in meta.owner_references]
    return hash((version_of(live), *labels, *annotations, *owners))


def _stranger(live: Resource, owner: Object) -> str:
    """Say whose `live` is, when it is not the owner's."""
    managed = controller_of(live)
    if managed is None:
        # Nobody's: adopted, as server-side apply adds our reference.
        return ""
    if managed.uid == owner["metadata"]["uid"]:
        return ""
    return f"it belongs to {managed.kind} {managed.name}"


def _immutable(invalid: InvalidError) -> bool:
    words = " ".join((invalid.status.message, *(cause.message for cause in invalid.causes)))
    # Pods and Services: "may not change"; StatefulSets: "updates to ... are forbidden".
    forbidden = "updates to" in words and "are forbidden" in words
    return "immutable" in words or "may not change" in words or forbidden


async def _each(items: Iterable[T], do: Callable[[T], Awaitable[None]]) -> None:
    """Do all, many side by side; when one fails, the others are still done before it is raised."""
    source, failures, began = iter(items), list[Exception](), clock.ticks()

    async def work() -> None:
        nonlocal began
        for item in source:
            try:
                await do(item)
            except Exception as failure:  # noqa: BLE001 - raised below
                failures.append(failure)
            # Where nothing is written nothing waits: the others must get their turn all the same.
            if clock.ticks() - began > STEP_S:
                await clock.sleep(0)
                began = clock.ticks()

    # Work that fails to read `items` ends the reading of all, and is raised when they are done.
    results = await asyncio.gather(*(work() for _ in range(SIDE_BY_SIDE)), return_exceptions=True)
    failures = [r for r in results if isinstance(r, Exception)] + failures
    if failures:
        raise failures[0]
