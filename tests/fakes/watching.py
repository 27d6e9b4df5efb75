"""Watches of the fake API server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from shoal.kube.objects import Object

from . import lists, refusals
from .apiserver import Call, FakeApi
from .history import Change, Cursor
from .selectors import Test

BOOKMARK_S = 60.0
LONGEST_S = 1800.0


async def watch(
    api: FakeApi, call: Call, silence_s: float | None, mute: Callable[[], bool]
) -> AsyncIterator[Object | None]:
    """Yield the events that a watch tells, None when it was woken for nothing."""
    version = int(call.query.get("resourceVersion") or 0)
    if not version:
        for obj in _there(api, call):
            yield _event("ADDED", obj, call)
        version = api.history.version
    elif version < api.history.compacted:
        words = f"too old resource version: {version} ({api.history.compacted})"
        yield {"type": "ERROR", "object": refusals.expired(words).body()}
        return
    stream = _Stream(call, Cursor(api.history, version), silence_s or LONGEST_S, mute)
    while stream.now < stream.until:
        for event in stream.news():
            yield event
        await stream.wait()
        yield None


class _Stream:
    """One watch under way."""

    def __init__(
        self, call: Call, cursor: Cursor, silence_s: float, mute: Callable[[], bool]
    ) -> None:
        self._call, self._cursor = call, cursor
        self._silence_s, self._mute = silence_s, mute
        self._test = lists.selected(call)
        self._heard = self.now
        self.until = self.now + _lasts_s(call)
        self._bookmark = _next_bookmark(self.now, self.until)

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def news(self) -> Iterator[Object]:
        """Yield what there is to tell now."""
        call = self._call
        while not self._mute() and (change := self._cursor.take()):
            if change.kind is call.served.kind and (event := _told(change, self._test, call)):
                self._heard = self.now
                yield event
        if self.now >= self._bookmark and not self._mute():
            self._bookmark, self._heard = _next_bookmark(self.now, self.until), self.now
            if call.query.get("allowWatchBookmarks") == "true":
                yield _bookmark(self._cursor.version, call)

    async def wait(self) -> None:
        """Wait for news, the next bookmark or the end; a client does not wait for ever."""
        dead = self._heard + self._silence_s
        if self.now >= dead:
            raise TimeoutError
        bookmark = self.until if self._mute() else self._bookmark
        await self._cursor.wait(min(self.until, dead, bookmark))


def _there(api: FakeApi, call: Call) -> list[Object]:
    test = lists.selected(call)
    return [obj for _, obj in sorted(api.history.all(call.served.kind).items()) if test(obj)]


def _lasts_s(call: Call) -> float:
    return float(call.query.get("timeoutSeconds") or LONGEST_S)


def _next_bookmark(now: float, until: float) -> float:
    """Return when the next one is due: every minute, and shortly before the end."""
    last = until - 2.0
    return min(now + BOOKMARK_S, last) if now < last else until


def _told(change: Change, test: Test, call: Call) -> Object | None:
    """Return how a watch tells `change`; leaving a selection is told as an end."""
    was = change.before is not None and test(change.before)
    now = change.after is not None and test(change.after)
    if now:
        return _event("MODIFIED" if was else "ADDED", change.after or {}, call)
    if was:
        last = change.before or {}
        meta = {**last["metadata"], "resourceVersion": str(change.version)}
        return _event("DELETED", {**last, "metadata": meta}, call)
    return None


def _event(kind: str, obj: Object, call: Call) -> Object:
    return {"type": kind, "object": lists.brief(obj) if call.brief else obj}


def _bookmark(version: int, call: Call) -> Object:
    # The server writes an empty object of the kind: what is required of it is null.
    kind, api_version = call.served.kind.kind, call.served.kind.api_version
    obj: Object = {"kind": kind, "apiVersion": api_version}
    if call.brief:
        obj = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    elif not call.served.custom:
        obj |= {"spec": {"containers": None} if kind == "Pod" else {}, "status": {}}
    meta = {"resourceVersion": str(version), "creationTimestamp": None}
    return {"type": "BOOKMARK", "object": {**obj, "metadata": meta}}
