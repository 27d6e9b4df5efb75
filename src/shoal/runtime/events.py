"""Events about objects (events.k8s.io/v1), few enough to be read.

Three steps make many into few. What one pass does is gathered for a moment, and a thousand pods
created are one event that says so. The same said again within a window is no new event: it raises
the count of the first one's series, less and less often. What is left passes a bucket of tokens
per object. Recording never waits and never fails; what is lost on the way is counted.

`Digest` decides what is sent and knows neither clock nor network; `Recorder` sends.
"""

import asyncio
import uuid
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

import structlog

from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Object, Resource
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import ApiError, BusyError, NotFoundError, ServerError, UnreachableError
from . import clock
from .errors import DeposedError

GATHER_S = 0.5
SERIES_S = 360.0  # a series ends after that much silence; client-go's figure
LONGEST_REPEAT_S = 300.0
BURST, REFILL_S = 25, 300.0  # tokens of an object: so many at once, then one each; client-go's
MOST_PENDING, MOST_REMEMBERED = 2000, 4096
SIDE_BY_SIDE = 4
TRIES = 3
NOTE_BYTES = 1024  # what the API server takes

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


@dataclass
class Gathered:
    """What was said of one topic since somebody last looked."""

    what: Happening
    count: int = 1
    same: bool = True  # all in the very same words
    tries: int = 0

    @property
    def note(self) -> str:
        """Return all of it in one sentence."""
        if self.same:
            return self.what.note
        if self.what.many:
            return self.what.many.replace("{}", str(self.count))
        return f"{self.what.note} (and {self.count - 1} more like it)"

    @property
    def times(self) -> int:
        """Return how often the sentence was true."""
        return self.count if self.same else 1


@dataclass(frozen=True)
class Post:
    """Send this as a new event."""

    topic: Topic
    note: str
    times: int
    tries: int = 0


@dataclass(frozen=True)
class Repeat:
    """Say that the event `name` was seen `times` in all."""

    topic: Topic
    name: str
    note: str
    times: int
    tries: int = 0


@dataclass
class Series:
    """An event that was sent, and what has come since."""

    name: str
    note: str
    told: int
    times: int
    last: float
    repeat_s: float = GATHER_S
    due: float = 0.0


@dataclass
class Bucket:
    """An object's tokens."""

    tokens: float
    at: float

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

    _pending: dict[Topic, Gathered] = field(default_factory=dict)
    _series: OrderedDict[Topic, Series] = field(default_factory=OrderedDict)
    _buckets: OrderedDict[str, Bucket] = field(default_factory=OrderedDict)

    def add(self, of: About, what: Happening) -> bool:
        """Take note of `what`; say whether there was room for it."""
        topic = (of, what.type, what.reason, what.action)
        gathered = self._pending.get(topic)
        if gathered is not None:
            gathered.count += 1
            gathered.same = gathered.same and gathered.what.note == what.note
            return True
        if len(self._pending) >= MOST_PENDING:
            return False
        self._pending[topic] = Gathered(what)
        return True

    def take(self, now: float) -> tuple[list[Post | Repeat], int]:
        """Return what shall be sent now, and how many happenings found no token."""
        out: list[Post | Repeat] = []
        dropped = 0
        pending, self._pending = self._pending, {}
        for topic, gathered in pending.items():
            series = self._current(topic, now)
            if series is not None and series.note == gathered.note:
                series.times += gathered.times
                series.last = now
            elif self._bucket(topic[0].uid, now).take(now):
                out.append(Post(topic, gathered.note, gathered.times, gathered.tries))
            elif series is not None:
                # Other words, but no token: at least it counts.
                series.times += gathered.times
                series.last = now
            else:
                dropped += gathered.count
        out.extend(self._repeats(now))
        return out, dropped

    def sent(self, post: Post, name: str, now: float) -> None:
        """Take note that `post` is the event `name` now: the same again will be its series."""
        first_s = GATHER_S
        self._series[post.topic] = Series(
            name, post.note, post.times, post.times, now, first_s, now + first_s
        )
        self._series.move_to_end(post.topic)
        while len(self._series) > MOST_REMEMBERED:
            self._series.popitem(last=False)

    def lost(self, repeat: Repeat) -> None:
        """Take note that the event of `repeat` is gone, so that a new one is made next time."""
        self._series.pop(repeat.topic, None)

    def next_in(self, now: float) -> float | None:
        """Return the seconds until `take` has something to say without any news; None: never."""
        if self._pending:
            return GATHER_S
        due = [s.due for s in self._series.values() if s.times > s.told]
        return max(min(due) - now, 0.0) if due else None

    def _current(self, topic: Topic, now: float) -> Series | None:
        series = self._series.get(topic)
        if series is None or now - series.last <= SERIES_S:
            return series
        return None

    def _repeats(self, now: float) -> Iterator[Repeat]:
        for topic, series in self._series.items():
            if series.times > series.told and series.due <= now:
                series.told = series.times
                series.repeat_s = min(2 * series.repeat_s, LONGEST_REPEAT_S)
                series.due = now + series.repeat_s
                yield Repeat(topic, series.name, series.note, series.times)

    def _bucket(self, uid: str, now: float) -> Bucket:
        bucket = self._buckets.setdefault(uid, Bucket(float(BURST), now))
        self._buckets.move_to_end(uid)
        if len(self._buckets) > MOST_REMEMBERED:
            self._buckets.popitem(last=False)
        return bucket
