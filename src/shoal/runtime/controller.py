"""One controller: keys in, passes out, and somebody who notices when a key gets nowhere."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..kubeapi.errors import ApiError, UnreachableError
from . import clock
from .errors import DeposedError, TerminalError
from .queue import LONGEST_RETRY_S, Queue
from .store import Store
from .watches import Watch, itself

DEADLINE_S = 120.0
STUCK_S = 600.0
WATCHDOG_S = 30.0
# Between two tries while the API server is away: it is not the key's fault, and back at any moment.
AWAY_S = 5.0
STEP = 500
log = structlog.get_logger()


@dataclass(frozen=True)
class Done:
    """A finished pass; look again after `again_s`, or only on the next event.

    For `rest_s` events only gather: what costs much is not done again for each of them.
    """

    again_s: float | None = None
    rest_s: float = 0.0


Reconcile = Callable[[Key], Awaitable[Done]]
Wake = Callable[[Resource | None, Resource | None], None]


class Observer(Protocol):
    """Hears how passes go; metrics and events are made of it."""

    def passed(self, controller: str, outcome: str, seconds: float, waited_s: float) -> None:
        """Take note of one pass."""

    def stuck(self, controller: str, key: Key, seconds: float, why: str) -> None:
        """Take note of a key that has had no good pass for `seconds`."""


@dataclass(frozen=True)
class Several:
    """Lets several observers hear the same."""

    observers: Sequence[Observer]

    def passed(self, controller: str, outcome: str, seconds: float, waited_s: float) -> None:
        """Tell them."""
        for observer in self.observers:
            observer.passed(controller, outcome, seconds, waited_s)

    def stuck(self, controller: str, key: Key, seconds: float, why: str) -> None:
        """Tell them."""
        for observer in self.observers:
            observer.stuck(controller, key, seconds, why)


class Silent:
    """Hears nothing."""

    def passed(self, controller: str, outcome: str, seconds: float, waited_s: float) -> None:
        """Ignore it."""

    def stuck(self, controller: str, key: Key, seconds: float, why: str) -> None:
        """Ignore it."""


@dataclass
class Trouble:
    """A key whose passes fail: since when, why last, and whether it was reported."""

    since: float
    why: str
    reported: bool = False


@dataclass
class Controller:
    """Runs `reconcile` for the keys that `watches` wake, `workers` keys side by side."""

    name: str
    watches: Sequence[Watch]
    reconcile: Reconcile
    workers: int = 1
    deadline_s: float = DEADLINE_S
    stuck_s: float = STUCK_S
    # What a pass may meet without being wrong; whoever calls another API adds the errors of that.
    expected: tuple[type[Exception], ...] = (ApiError,)
    observer: Observer = field(default_factory=Silent)
    queue: Queue[Key] = field(default_factory=Queue)
    # Run beside the passes, and wake keys for what no store tells of.
    sources: Sequence[Callable[[Queue[Key]], Coroutine[Any, Any, None]]] = ()
    checked_at: float = float("inf")  # when the watchdog last looked; it does once we run
    _past: list[tuple[Store[Any], Wake]] = field(default_factory=list)
    _trouble: dict[Key, Trouble] = field(default_factory=dict)
    _stopping: bool = False

    def connect(self, stores: Mapping[Kind, Store[Any]]) -> None:
        """Let the stores wake this controller's keys; what is there already wakes them in `run`."""
        for watch in self.watches:
            wake = _waker(watch, self.queue)
            stores[watch.kind].listen(wake, past=False)
            self._past.append((stores[watch.kind], wake))

    async def run(self) -> None:
        """Work until cancelled; a pass under way when that happens is ended by the event loop."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self.workers):
                tasks.create_task(self._work())
            tasks.create_task(self._watch_progress())
            tasks.create_task(self._wake_what_is_there())
            for source in self.sources:
                tasks.create_task(source(self.queue))

    def stop(self) -> None:
        """Begin no further pass."""
        self._stopping = True

    @property
    def busy(self) -> bool:
        """Say whether a pass is under way."""
        return self.queue.working > 0

    @property
    def stuck(self) -> int:
        """Count the keys that get nowhere."""
        return sum(trouble.reported for trouble in self._trouble.values())

    @property
    def kind(self) -> Kind | None:
        """Return the kind that its keys name."""
        return next((watch.kind for watch in self.watches if watch.of is itself), None)

    async def _wake_what_is_there(self) -> None:
        for store, wake in self._past:
            for number, obj in enumerate(store, 1):
                wake(None, obj)
                if number % STEP == 0:  # fifty thousand pods would hold the loop up
                    await clock.sleep(0)
        self._past.clear()

    async def _work(self) -> None:
        while not self._stopping:
            key, waited_s = await self.queue.get()
            if self._stopping:
                self.queue.done(key)  # not begun, so nobody need wait for it
                return
            began = clock.ticks()
            try:
                outcome = await self._pass(key)
            finally:
                self.queue.done(key)
            self.observer.passed(self.name, outcome, clock.ticks() - began, max(waited_s, 0.0))

    async def _pass(self, key: Key) -> str:
        expected: tuple[type[Exception], ...] = (*self.expected, TimeoutError)
        try:
            async with asyncio.timeout(self.deadline_s):
                done = await self.reconcile(key)
        except DeposedError:
            raise
        except TerminalError as error:
            log.warning("waits for a new spec", controller=self.name, key=key, error=str(error))
            self.queue.forget(key)
            self._trouble.pop(key, None)
            return "terminal"
        except expected as error:
            words = str(error) or f"no end after {self.deadline_s:g} s"
            away = isinstance(error, UnreachableError)
            return self._failed(
                key, words, bug=False, longest_s=AWAY_S if away else LONGEST_RETRY_S
            )
        except Exception as error:  # noqa: BLE001 - one key's bug must not stop the others
            return self._failed(key, f"{type(error).__name__}: {error}", bug=True)
        self.queue.forget(key)
        self._trouble.pop(key, None)
        self.queue.rest(key, done.rest_s)
        if done.again_s is not None:
            self.queue.add(key, after_s=done.again_s)
        return "done"

    def _failed(self, key: Key, why: str, *, bug: bool, longest_s: float = LONGEST_RETRY_S) -> str:
        again_s = self.queue.retry(key, longest_s)
        trouble = self._trouble.setdefault(key, Trouble(clock.ticks(), why))
        trouble.why = why
        say = log.exception if bug else log.warning
        say("pass failed", controller=self.name, key=key, error=why, again_s=round(again_s, 1))
        return "bug" if bug else "failed"

    async def _watch_progress(self) -> None:
        while True:
            self.checked_at = clock.ticks()
            await clock.sleep(min(WATCHDOG_S, self.stuck_s))
            for key, trouble in list(self._trouble.items()):
                lasted_s = clock.ticks() - trouble.since
                if lasted_s >= self.stuck_s:
                    self._report(key, trouble, lasted_s)

    def _report(self, key: Key, trouble: Trouble, lasted_s: float) -> None:
        if not trouble.reported:
            log.error("no progress", controller=self.name, key=key, why=trouble.why)
        trouble.reported = True
        self.observer.stuck(self.name, key, lasted_s, trouble.why)
        self.queue.add(key)


def _waker(watch: Watch, queue: Queue[Key]) -> Wake:
    def wake(before: Resource | None, after: Resource | None) -> None:
        try:
            if not watch.when(before, after):
                return
            # Both: an object that changed hands wakes the old owner and the new one.
            keys = {k: None for obj in (before, after) if obj is not None for k in watch.of(obj)}
        except Exception as error:  # one row's bug must not stop the store
            log.exception("watch failed", kind=watch.kind.plural, error=str(error))
            return
        for key in keys:
            queue.add(key, urgency=watch.urgency)

    return wake
