"""Events about objects (events.k8s.io/v1), few enough to be read.

Three steps make many into few. What one pass does is gathered for a moment, and a thousand pods
created are one event that says so. The same said again within a window is no new event: it raises
the count of the first one's series, less and less often. What is left passes a bucket of tokens
per object. Recording never waits and never fails; what is lost on the way is counted.

`Digest` decides what is sent and knows neither clock nor network; `Recorder` sends.
"""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import structlog

from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import (
    ApiError,
    BusyError,
    ExistsError,
    NotFoundError,
    ServerError,
    UnreachableError,
)
from . import clock
from .errors import DeposedError
from .store import Store

GATHER_S, LONGEST_GATHER_S = 1.0, 30.0  # of silence, and in all
SERIES_S = 360.0  # a series ends after that much silence; client-go's figure
LONGEST_PAUSE_S = 300.0  # between two tellings of one series
BURST, REFILL_S = 25, 300.0  # an object's tokens: so many at once, then one each; client-go's
MOST_PENDING, MOST_REMEMBERED = 2000, 4096
SIDE_BY_SIDE = 4
TRIES, AGAIN_S = 3, 2.0
FLUSH_S = 2.0
NOTE_BYTES, WORD = 1024, 128  # what the API server takes

log = structlog.get_logger()
Type = Literal["Normal", "Warning"]


@dataclass(frozen=True)
class About:
    """The object that events are about."""

    kind: Kind
    namespace: str
    name: str
    uid: str

    def reference(self) -> Object:
        """Return it as an event has it."""
        found = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }
        return {key: value for key, value in found.items() if value}


def about(kind: Kind, obj: Resource) -> About:
    """Return `obj` as what events are about."""
    return About(kind, *obj.key, obj.metadata.uid)


@dataclass(frozen=True)
class Happening:
    """What happened: why (reason), what was done (action), and both in words.

    `many` says the same of several, with their number for {}: "created {} pods".
    """

    reason: str
    action: str
    note: str
    many: str = ""
    type: Type = "Normal"


Topic = tuple[About, Type, str, str]  # the type, reason and action of events about an object
Said = tuple[Topic, str]  # and the very words


@dataclass
class Gathered:
    """What was said of one topic since somebody last looked."""

    what: Happening
    first: float
    last: float
    count: int
    same: bool = True  # all in the very same words

    def more(self, what: Happening, now: float, count: int) -> None:
        """Take note of more of it."""
        self.last = now
        self.count += count
        self.same = self.same and self.what.note == what.note

    def ripe(self, now: float) -> float:
        """Return the seconds until no more of it is waited for."""
        return min(self.last + GATHER_S, self.first + LONGEST_GATHER_S) - now

    def said(self) -> tuple[str, int]:
        """Return all of it in one sentence, and how often that was true."""
        if self.count > 1 and self.what.many:
            return self.what.many.replace("{}", str(self.count)), 1
        if self.same:
            return self.what.note, self.count
        return f"{self.what.note} (and {self.count - 1} more like it)", 1


@dataclass(frozen=True)
class Post:
    """Send this as a new event."""

    topic: Topic
    note: str
    times: int


@dataclass(frozen=True)
class Repeat:
    """Say that the event `name` was seen `times` in all."""

    topic: Topic
    note: str
    times: int
    name: str


@dataclass
class Series:
    """An event that was sent, and what has come since."""

    name: str
    times: int
    last: float
    due: float  # when it is told again, at the earliest
    pause_s: float = GATHER_S


@dataclass
class Bucket:
    """An object's tokens."""

    at: float
    tokens: float = float(BURST)

    def take(self, now: float) -> bool:
        """Take a token, if there is one."""
        self.tokens = min(float(BURST), self.tokens + (now - self.at) / REFILL_S)
        self.at = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


@dataclass
class Digest:
    """Many happenings in, few events out. Its times are seconds of any clock that only grows."""

    dropped: int = 0
    _pending: dict[Topic, Gathered] = field(default_factory=dict)
    # Newest last, so that the oldest are forgotten first.
    _series: OrderedDict[Said, Series] = field(default_factory=OrderedDict)
    _untold: dict[Said, Series] = field(default_factory=dict)
    _latest: dict[Topic, str] = field(default_factory=dict)
    _buckets: OrderedDict[About, Bucket] = field(default_factory=OrderedDict)

    def add(self, of: About, what: Happening, now: float, count: int = 1) -> None:
        """Take note of `what`, which happened `count` times."""
        topic = (of, what.type, what.reason, what.action)
        if gathered := self._pending.get(topic):
            gathered.more(what, now, count)
        elif len(self._pending) >= MOST_PENDING:
            self.dropped += count
        else:
            self._pending[topic] = Gathered(what, now, now, count)

    def take(self, now: float, *, all_of_it: bool = False) -> list[Post | Repeat]:
        """Return what shall be sent now; at the end of a process, everything."""
        ripe = [t for t, g in self._pending.items() if all_of_it or g.ripe(now) <= 0]
        posts = [self._post(topic, self._pending.pop(topic), now) for topic in ripe]
        due = [said for said, s in self._untold.items() if all_of_it or s.due <= now]
        repeats = [self._repeat(said, self._untold.pop(said), now) for said in due]
        return [*(post for post in posts if post), *repeats]

    def sent(self, post: Post, name: str, now: float) -> None:
        """Take note that `post` is the event `name` now: the same again will be its series."""
        self._series[post.topic, post.note] = Series(name, post.times, now, now + GATHER_S)
        self._latest[post.topic] = post.note
        while len(self._series) > MOST_REMEMBERED:
            self._forget(next(iter(self._series)))

    def lost(self, gone: Repeat) -> Post:
        """Take note that an event is gone; return the one that takes its place."""
        series = self._series.get((gone.topic, gone.note))
        self._forget((gone.topic, gone.note))
        # More of it may have come since.
        return Post(gone.topic, gone.note, series.times if series else gone.times)

    def next_in(self, now: float) -> float | None:
        """Return the seconds until `take` has something to say without any news; None: never."""
        waits = [g.ripe(now) for g in self._pending.values()]
        waits += [series.due - now for series in self._untold.values()]
        return max(min(waits), 0.0) if waits else None

    def _post(self, topic: Topic, gathered: Gathered, now: float) -> Post | None:
        note, times = gathered.said()
        if self._count((topic, note), times, now):
            return None
        if self._bucket(topic[0], now).take(now):
            return Post(topic, note, times)
        # In other words, for which there is no token: at least it counts.
        if not self._count((topic, self._latest.get(topic, "")), times, now):
            self.dropped += gathered.count
        return None

    def _count(self, said: Said, times: int, now: float) -> bool:
        """Count more of what was said before; False if it never was, or too long ago."""
        series = self._series.get(said)
        if series is None or now - series.last > SERIES_S:
            return False
        series.times += times
        series.last = now
        self._series.move_to_end(said)
        self._untold[said] = series
        return True

    def _repeat(self, said: Said, series: Series, now: float) -> Repeat:
        series.pause_s = min(2 * series.pause_s, LONGEST_PAUSE_S)
        series.due = now + series.pause_s
        return Repeat(*said, series.times, series.name)

    def _forget(self, said: Said) -> None:
        topic, note = said
        self._series.pop(said, None)
        self._untold.pop(said, None)
        if self._latest.get(topic) == note:
            del self._latest[topic]

    def _bucket(self, of: About, now: float) -> Bucket:
        bucket = self._buckets.setdefault(of, Bucket(now))
        self._buckets.move_to_end(of)
        if len(self._buckets) > MOST_REMEMBERED:
            self._buckets.popitem(last=False)
        return bucket


@dataclass
class Recorder:
    """Takes happenings from passes and sends events, in the background."""

    controller: str = "shoal"
    instance: str = "shoal"
    _recorded: int = 0
    _sent: int = 0
    _failed: int = 0
    _digest: Digest = field(default_factory=Digest)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _complained: set[type[ApiError]] = field(default_factory=set)

    def record(self, of: About, what: Happening, count: int = 1) -> None:
        """Take note of `what`; never waits, never fails."""
        if count > 0:
            self._recorded += count
            self._digest.add(of, what, clock.ticks(), count)
            self._news.set()

    @property
    def tally(self) -> Mapping[str, int]:
        """Return how many were recorded, how many events were sent, how many were dropped."""
        dropped = self._digest.dropped + self._failed
        return {"recorded": self._recorded, "sent": self._sent, "dropped": dropped}

    async def run(self, client: Client) -> None:
        """Send until cancelled."""
        while True:
            quiet_s = self._digest.next_in(clock.ticks())
            if quiet_s is not None and quiet_s <= GATHER_S:
                await clock.sleep(quiet_s)
            else:
                self._news.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(quiet_s):
                        await self._news.wait()
            await self._send(client, self._digest.take(clock.ticks()))

    async def flush(self, client: Client, within_s: float = FLUSH_S) -> None:
        """Send everything that waits: the process ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._send(client, self._digest.take(clock.ticks(), all_of_it=True))

    async def _send(self, client: Client, what: Sequence[Post | Repeat]) -> None:
        turns = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(item: Post | Repeat) -> None:
            async with turns:
                await self._try(client, item)

        await asyncio.gather(*map(one, what))

    async def _try(self, client: Client, item: Post | Repeat) -> None:
        name = event_name(item.topic[0])
        for left in reversed(range(TRIES)):
            try:
                await self._one(client, item, name)
            except (UnreachableError, ServerError, BusyError) as error:
                if not left:
                    self._complain(item, error)
                    return
                await clock.sleep(AGAIN_S)
            except (ApiError, DeposedError) as error:
                self._complain(item, error)
                return
            else:
                self._sent += 1
                self._complained.clear()
                return

    async def _one(self, client: Client, item: Post | Repeat, name: str) -> None:
        if isinstance(item, Repeat):
            where = Ref(kinds.EVENT, _namespace(item.topic[0]), item.name)
            change: Object = {"series": _series(item.times, clock.now())}
            try:
                await client.patch(where, change, Resource)
            except NotFoundError:  # the API server keeps events for an hour
                item = self._digest.lost(item)
            else:
                return
        event = self._event(item, name)
        with suppress(ExistsError):  # made by a try whose answer was lost
            await client.create(kinds.EVENT, event, Resource)
        self._digest.sent(item, name, clock.ticks())

    def _event(self, post: Post, name: str) -> Object:
        of, type_, reason, action = post.topic
        now = clock.now()
        event: Object = {
            "apiVersion": kinds.EVENT.api_version,
            "kind": kinds.EVENT.kind,
            "metadata": {"name": name, "namespace": _namespace(of)},
            "eventTime": _stamp(now),
            "reportingController": self.controller,
            "reportingInstance": self.instance[:WORD],
            "action": action[:WORD],
            "reason": reason[:WORD],
            "regarding": of.reference(),
            "note": _cut(post.note),
            "type": type_,
        }
        if post.times > 1:
            event["series"] = _series(post.times, now)
        return event

    def _complain(self, item: Post | Repeat, error: ApiError | DeposedError) -> None:
        self._failed += 1
        # Missing rights would say so at every event.
        if isinstance(error, ApiError) and type(error) not in self._complained:
            self._complained.add(type(error))
            log.warning("event not sent", about=item.topic[0].name, error=str(error))


def event_name(of: About) -> str:
    """Return a name that no other event has."""
    return f"{of.name[:200]}.{uuid.uuid4().hex[:16]}"


def _namespace(of: About) -> str:
    return of.namespace or "default"  # where events of objects without one are looked for


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _series(times: int, now: datetime) -> Object:
    return {"count": times, "lastObservedTime": _stamp(now)}


def _cut(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= NOTE_BYTES:
        return note
    return encoded[: NOTE_BYTES - 3].decode(errors="ignore") + "…"


@dataclass(frozen=True)
class Complaints:
    """Makes an event of a key that gets nowhere; hears a controller's passes."""

    recorder: Recorder
    stores: Mapping[str, Store[Any]]  # by controller: the objects that its keys name

    def passed(self, controller: str, outcome: str, seconds: float, waited_s: float) -> None:
        """Ignore it."""

    def stuck(self, controller: str, key: Key, _seconds: float, why: str) -> None:
        """Record it, for whoever looks at the object."""
        store = self.stores.get(controller)
        if store is not None and (obj := store.get(key)) is not None:
            what = Happening("NoProgress", "Reconcile", why, type="Warning")
            self.recorder.record(about(store.kind, obj), what)
