"""Keys waiting for a pass. Level-triggered: how often a key was added does not matter, only that.

* A key is with one worker at a time; added meanwhile, it waits until that pass is done.
* Wake-ups are gathered for a moment (the window), so a burst of events is one pass.
* What a user did goes before what a clock asked for.
"""

import asyncio
import enum
import heapq
import itertools
from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")

WINDOW_S = 0.1
FIRST_RETRY_S = 0.25
LONGEST_RETRY_S = 120.0


class Urgency(enum.IntEnum):
    """Who goes first."""

    USER = 0
    EVENT = 1
    RESYNC = 2


@dataclass(frozen=True)
class Waiting:
    """A key's place: when it is due, how urgent it is, and since when it waits."""

    due: float
    urgency: Urgency
    since: float


class Queue(Generic[K]):
    """The keys of one controller. Times are the event loop's, so a virtual clock governs them."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._waiting: dict[K, Waiting] = {}
        self._later: list[tuple[float, int, K]] = []
        self._ready: list[tuple[int, int, K]] = []
        self._is_ready: dict[K, int] = {}  # the number of the key's entry that counts
        self._working: set[K] = set()
        self._failures: dict[K, int] = {}
        self._resting: dict[K, float] = {}  # until when only its user wakes a key
        self._takers: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._number = itertools.count()

    def __len__(self) -> int:
        """Count the keys that wait, now or for later."""
        return len(self._waiting)

    @property
    def depth(self) -> int:
        """Count the keys that a free worker would take now."""
        return len(self._is_ready)

    @property
    def working(self) -> int:
        """Count the keys that are with a worker."""
        return len(self._working)

    def add(self, key: K, *, after_s: float = 0.0, urgency: Urgency = Urgency.EVENT) -> None:
        """Ask for a pass; of several wishes for one key the earliest and the most urgent count."""
        now = asyncio.get_running_loop().time()
        due = now + max(after_s, self._window_s)
        if urgency is not Urgency.USER and key in self._resting:
            due = max(due, self._resting[key])
        if known := self._waiting.get(key):
            if known.due <= due and known.urgency <= urgency:
                return
            due, urgency = min(known.due, due), min(known.urgency, urgency)
        self._waiting[key] = Waiting(due, urgency, known.since if known else due)
        if key in self._working:
            return  # `done` brings it back
        if key in self._is_ready:
            self._push_ready(key, urgency)
            return
        heapq.heappush(self._later, (due, next(self._number), key))
        self._arm()

    def retry(self, key: K, longest_s: float = LONGEST_RETRY_S) -> float:
        """Ask for another pass after a failed one, later each time; return the seconds until it."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        wait_s = min(FIRST_RETRY_S * 2.0 ** min(count - 1, 20), longest_s)
        self.add(key, after_s=wait_s)
        return wait_s

    def rest(self, key: K, rest_s: float) -> None:
        """Let what comes for `key` wait so long, unless its user asks: one pass then serves all."""
        self._resting.pop(key, None)
        if rest_s <= self._window_s:
            return
        until = self._resting[key] = asyncio.get_running_loop().time() + rest_s
        known = self._waiting.get(key)
        if known is not None and known.urgency is not Urgency.USER:
            self._waiting[key] = Waiting(max(known.due, until), known.urgency, known.since)

    def forget(self, key: K) -> None:
        """Let the next failure of `key` be its first."""
        self._failures.pop(key, None)

    async def get(self) -> tuple[K, float]:
        """Wait for a key; return it, and for how many seconds it was due."""
        while not self._is_ready:
            taker = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                # It may have been chosen in the same moment: the next one must not sleep for ever.
                if taker.done() and not taker.cancelled():
                    self._wake()
                raise
            finally:
                if taker in self._takers:
                    self._takers.remove(taker)
        while True:
            _, number, key = heapq.heappop(self._ready)
            if self._is_ready.get(key) == number:  # else of a key that became more urgent
                break
        del self._is_ready[key]
        self._working.add(key)
        place = self._waiting.pop(key)
        return key, asyncio.get_running_loop().time() - place.due

    def done(self, key: K) -> None:
        """Say that the pass of `key` is over."""
        self._working.discard(key)
        if place := self._waiting.get(key):
            heapq.heappush(self._later, (place.due, next(self._number), key))
            self._promote()  # at once: the worker that asks next must see it, if it is due

    def _arm(self) -> None:
        """Set the timer for the earliest key that is not ready."""
        if not self._later:
            return
        due = self._later[0][0]
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._promote)

    def _promote(self) -> None:
        """Make ready what is due."""
        self._timer = None
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            due, _, key = heapq.heappop(self._later)
            place = self._waiting.get(key)
            current = place is not None and place.due <= due
            if not current or key in self._working or key in self._is_ready:
                continue
            assert place is not None
            self._push_ready(key, place.urgency)
            self._wake()
        self._arm()

    def _push_ready(self, key: K, urgency: Urgency) -> None:
        number = self._is_ready[key] = next(self._number)
        heapq.heappush(self._ready, (urgency, number, key))

    def _wake(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return
