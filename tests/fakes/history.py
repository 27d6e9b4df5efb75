"""What an API server remembers: the objects of now, and everything that led to them."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from shoal.kube.kinds import Kind
from shoal.kube.objects import Key, Object


@dataclass(frozen=True)
class Change:
    """One write: an object before and after it; None: was or is not there."""

    version: int
    kind: Kind
    key: Key
    before: Object | None
    after: Object | None
    at: float  # the event loop's time


@dataclass
class History:
    """All objects of all kinds with one counter of versions. Objects in here are never changed."""

    version: int = 1
    compacted: int = 0
    objects: dict[Kind, dict[Key, Object]] = field(default_factory=dict)
    log: list[Change] = field(default_factory=list)
    made: int = 0  # objects, ever
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def write(self, kind: Kind, key: Key, after: Object | None) -> Object:
        """Take note of an object's new state, or of its end; return it with its new version."""
        self.version += 1
        there = self.objects.setdefault(kind, {})
        before = there.get(key)
        last = after or before
        assert last is not None, "an object that never was cannot end"
        stamped = {**last, "metadata": {**last["metadata"], "resourceVersion": str(self.version)}}
        if after is None:
            del there[key]
        else:
            there[key] = after = stamped
        now = asyncio.get_running_loop().time()
        # An object that ended is remembered with the version of its end, as a watch tells it.
        self.log.append(
            Change(self.version, kind, key, stamped if after is None else before, after, now)
        )
        self.wake()
        return stamped

    def wake(self) -> None:
        """Let every watch look whether there is something for it."""
        self.news.set()
        self.news = asyncio.Event()

    def number(self) -> int:
        """Return a number that no other object has."""
        self.made += 1
        return self.made

    def get(self, kind: Kind, key: Key, ago: int = 0) -> Object | None:
        """Return an object as it is, or was so many versions ago."""
        return self.all(kind, ago).get(key)

    def all(self, kind: Kind, ago: int = 0) -> dict[Key, Object]:
        """Return all objects of a kind as they are, or were so many versions ago."""
        there = self.objects.get(kind, {})
        if not ago:
            return there
        past = dict(there)
        for change in self._back_to(self.version - ago):
            if change.kind is kind:
                if change.before is None:
                    past.pop(change.key, None)
                else:
                    past[change.key] = self._as_before(change)
        return past

    def _back_to(self, version: int) -> Iterator[Change]:
        return (change for change in reversed(self.log) if change.version > version)

    def _as_before(self, change: Change) -> Object:
        """Return the object before `change`; an end has stamped its own version on it."""
        earlier = [
            c.after
            for c in self.log
            if c.version < change.version and c.kind is change.kind and c.key == change.key
        ]
        return earlier[-1] if earlier and earlier[-1] is not None else change.before or {}

    def compact(self) -> None:
        """Forget how things came to be as they are: watches and pages from before are refused."""
        self.compacted = self.version

    def uids(self) -> set[str]:
        """Return the uids of all objects of all kinds."""
        return {o["metadata"]["uid"] for there in self.objects.values() for o in there.values()}


@dataclass
class Cursor:
    """How far a watch has come."""

    history: History
    version: int
    _at: int = -1

    def take(self) -> Change | None:
        """Return the next change, None when there is none yet."""
        log = self.history.log
        if self._at < 0:
            later = (n for n, change in enumerate(log) if change.version > self.version)
            self._at = next(later, len(log))
        if self._at >= len(log):
            return None
        change, self._at = log[self._at], self._at + 1
        self.version = change.version
        return change

    async def wait(self, until: float) -> None:
        """Return once there may be a change, or at the time `until`."""
        try:
            async with asyncio.timeout_at(until):
                await self.history.news.wait()
        except TimeoutError:
            return
