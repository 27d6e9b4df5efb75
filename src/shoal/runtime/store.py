"""What the API server has of a kind, kept beside us: a cache with indexes that never looks back.

Two promises beyond a plain cache:
* A deletion that was missed (watch cut, history gone) is seen: a new list is compared with what
  was known, and the difference is what listeners hear.
* After a write of ours nobody sees the state before it: the answer goes into the store at once,
  and an older version of that object, still on its way, changes nothing.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from ..kube.kinds import Kind
from ..kube.objects import Key, Resource

R = TypeVar("R", bound=Resource)
Listener = Callable[[R | None, R | None], None]  # before, after; None: was or is not there
Index = Callable[[R], Iterable[str]]

OWNER = "owner"
# Answers come within the time of a request: this many deletions are more than fit into that.
REMEMBERED = 20_000


def owners(obj: Resource) -> Iterable[str]:
    """Index by the uids of the owners."""
    return [owner.uid for owner in obj.metadata.owner_references]


class Store(Generic[R]):
    """All objects of one kind that this process may see."""

    def __init__(
        self, kind: Kind, type_: type[R], indexes: Mapping[str, Index[R]] | None = None
    ) -> None:
        self.kind = kind
        self.type = type_
        self.served = True  # False: the API server does not know the kind
        self._objects: dict[Key, R] = {}
        self._of: dict[str, Index[R]] = {OWNER: owners, **(indexes or {})}
        self._indexes: dict[str, dict[str, dict[Key, R]]] = {name: {} for name in self._of}
        # uid -> up to which version it is known to be gone, so that no late answer brings it back.
        self._gone: dict[str, float] = {}
        # namespace ("": all) -> version of its last list.
        self._listed: dict[str, int] = {}
        self._listeners: list[Listener[R]] = []

    # -- reads

    def get(self, key: Key) -> R | None:
        """Return one object."""
        return self._objects.get(key)

    def __iter__(self) -> Iterator[R]:
        """Go through all objects as they are now; safe while they change."""
        return iter(list(self._objects.values()))

    def __len__(self) -> int:
        """Count them."""
        return len(self._objects)

    def by(self, index: str, value: str) -> list[R]:
        """Return the objects that an index has under `value`."""
        return list(self._indexes[index].get(value, {}).values())

    def owned_by(self, uid: str) -> list[R]:
        """Return the objects that belong to the owner `uid`."""
        return self.by(OWNER, uid)

    def listen(self, listener: Listener[R], *, past: bool = True) -> None:
        """Call `listener` at every change from now on; with `past`, first for what is there."""
        self._listeners.append(listener)
        for obj in self if past else ():
            listener(None, obj)

    # -- changes

    def put(self, obj: R) -> None:
        """Take note of an object, unless something newer is known of it."""
        # Each property is read once: this runs for every event there is.
        key, version, uid = obj.key, obj.version, obj.metadata.uid
        before = self._objects.get(key)
        known = before is not None and before.metadata.uid == uid
        if before is not None and (
            version < before.version or (known and version == before.version)
        ):
            return  # older than what is known, or an old one of this name after its successor
        if version <= self._gone.get(uid, -1):
            return
        if before is None and version <= self._list_of(obj.metadata.namespace):
            return  # a list made later did not find it: made and deleted while we did not look
        if before is not None and not known:
            self._bury(before.metadata.uid, float("inf"))
        self._objects[key] = obj
        self._index(key, before, obj)
        self._tell(before, obj)

    def remove(self, obj: R) -> None:
        """Take note that an object is gone; a successor of the same name stays."""
        self._drop(obj.key, obj.metadata.uid, obj.version)

    def removed_by_us(self, key: Key, uid: str) -> None:
        """Forget an object that we deleted, before the watch says so."""
        self._drop(key, uid, float("inf"))

    def replace(self, listed: Mapping[Key, R], namespace: str, version: int) -> None:
        """Become what a list of `namespace` ("": all) at `version` found; tell the differences."""
        for key, before in list(self._objects.items()):
            found = listed.get(key)
            # Fifty thousand are compared in one step: what did not change costs nothing more.
            if found is before or (namespace and before.metadata.namespace != namespace):
                continue
            same = found is not None and found.metadata.uid == before.metadata.uid
            # What we wrote after the list was made is newer than the list.
            if not same and before.version <= version:
                self._drop(key, before.metadata.uid, version)
        self._listed.pop(namespace, None)
        for key, obj in listed.items():
            if self._objects.get(key) is not obj:
                self.put(obj)
        self._listed[namespace] = version

    def _list_of(self, namespace: str) -> int:
        return max(self._listed.get("", -1), self._listed.get(namespace, -1))

    def _drop(self, key: Key, uid: str, version: float) -> None:
        self._bury(uid, version)
        before = self._objects.get(key)
        if before is None or before.metadata.uid != uid:
            return
        del self._objects[key]
        self._index(key, before, None)
        self._tell(before, None)

    def _bury(self, uid: str, version: float) -> None:
        self._gone[uid] = max(version, self._gone.get(uid, -1))
        if len(self._gone) > REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _index(self, key: Key, before: R | None, after: R | None) -> None:
        for name, of in self._of.items():
            old = of(before) if before is not None else ()
            new = of(after) if after is not None else ()
            index = self._indexes[name]
            for value in old if old != new else ():
                keys = index.get(value, {})
                keys.pop(key, None)
                if not keys:
                    index.pop(value, None)
            if after is not None:
                for value in new:
                    index.setdefault(value, {})[key] = after

    def _tell(self, before: R | None, after: R | None) -> None:
        for listener in self._listeners:
            listener(before, after)


class Synced:
    """Whether a set of reflectors has seen the world once."""

    def __init__(self, of: int) -> None:
        self._left = of
        self._event = asyncio.Event()
        if not of:
            self._event.set()

    def one(self) -> None:
        """Count one that has."""
        self._left -= 1
        if self._left <= 0:
            self._event.set()

    async def wait(self) -> None:
        """Wait for the last of them."""
        await self._event.wait()

    @property
    def all(self) -> bool:
        """Say whether the last of them has."""
        return self._event.is_set()
