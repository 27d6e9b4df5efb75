"""Runs collectors, each at its own pace: none waits for another, none overlaps itself too often.

What a run brings is shown at once and as a whole. A run that fails changes nothing that is shown;
one that comes back after a newer one is dropped. Where there is nothing to read, nothing is shown,
and nothing is wrong.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from ..kubeapi.errors import ApiError
from ..runtime import clock
from ..runtime.logs import hide
from ..slurmapi.errors import SlurmError
from .catalogue import Collector
from .health import Course, Health, cause_of
from .pages import Page, prepared
from .snapshot import Absent

log = structlog.get_logger()

# A run that takes so long is given up. Each of its requests has a much shorter end of its own.
LONGEST_RUN_S = 300.0
# After a run, so many times as long as it took. slurmrestd goes on with what we no longer wait for,
# so who asks again at once keeps a slow one from ever being done.
REST, LONGEST_REST_S = 2.0, 120.0


class Collects(Protocol):
    """Reads something of the world, and tells of it."""

    @property
    def name(self) -> Collector:
        """Return who it is."""

    async def gather(self) -> Any:  # noqa: ANN401 - each its own
        """Return what is seen, or that it is Absent."""

    def tell(self, seen: Any, now: float, /) -> Iterator[str]:  # noqa: ANN401 - what it gathered
        """Take note of what was seen at that time, and yield it as text."""

    async def close(self) -> None:
        """Let go of what is open."""


@dataclass(frozen=True)
class Pace:
    """How often collectors run, and how many runs of one may be under way."""

    interval_s: float = 30.0
    inflight: int = 1
    longest_s: float = LONGEST_RUN_S


@dataclass
class _Track:
    """One collector's runs."""

    collector: Collects
    course: Course
    showing: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: int = 0
    shown: int = 0  # the run that is shown; a later one has a higher number
    rests_until: float = 0.0  # by the loop's clock


class Collecting:
    """All collectors and the page that they fill."""

    def __init__(
        self,
        collectors: Sequence[Collects],
        health: Health,
        pace: Pace = Pace(),  # noqa: B008
    ) -> None:
        self.page = Page()
        self.health = health
        self._pace = pace
        self._telling = asyncio.Lock()
        self._tracks = [_Track(one, health.courses[one.name]) for one in collectors]

    async def run(self) -> None:
        """Collect until cancelled."""
        async with asyncio.TaskGroup() as group:
            for track in self._tracks:
                group.create_task(self._keep(track, group))

    async def once(self) -> None:
        """Let every collector run once."""
        await asyncio.gather(*(self._run(track) for track in self._tracks))

    async def close(self) -> None:
        """Let go of what is open."""
        for track in self._tracks:
            await track.collector.close()

    async def _keep(self, track: _Track, group: asyncio.TaskGroup) -> None:
        due = clock.ticks()
        while True:
            resting = clock.ticks() < track.rests_until
            if resting or track.course.inflight >= self._pace.inflight:
                track.course.skipped += 1
            else:
                group.create_task(self._run(track))
            due = max(due + self._pace.interval_s, clock.ticks())
            await clock.sleep(due - clock.ticks())

    async def _run(self, track: _Track) -> None:
        name = track.collector.name
        track.begun += 1
        number, asked_at, began = track.begun, clock.now().timestamp(), clock.ticks()
        self.health.begun(name)
        error: BaseException | None = None
        try:
            async with asyncio.timeout(self._pace.longest_s):
                seen = await track.collector.gather()
            async with track.showing:
                await self._show(track, number, seen, asked_at)
        except (SlurmError, ApiError, TimeoutError) as wrong:
            error, cause = wrong, cause_of(wrong)
            # Said once, not every time while it lasts.
            say = log.debug if track.course.failing == cause else log.warning
            say("collector failed", collector=name.value, cause=cause, error=_said(wrong))
        except Exception as wrong:  # a bug in one collector is no reason to stop the others
            error = wrong
            log.exception("collector broke", collector=name.value)
        finally:
            took_s = clock.ticks() - began
            track.rests_until = clock.ticks() + min(LONGEST_REST_S, REST * took_s)
            self.health.done(name, took_s, error)

    async def _show(self, track: _Track, number: int, seen: Any, asked_at: float) -> None:  # noqa: ANN401
        if number < track.shown:
            track.course.stale += 1
            return
        name, course = track.collector.name, track.course
        if isinstance(seen, Absent):
            if not course.absent:  # said once
                log.info("nothing to collect", collector=name.value, reason=seen.words)
            course.absent = True
            self.page.drop(name)
        else:
            # One at a time: each takes turns with those who serve, not with the others.
            async with self._telling:
                self.page.put(name, await prepared(track.collector.tell(seen, asked_at)))
            course.absent = False
            course.succeeded_at = asked_at
        track.shown = number


def _said(error: BaseException) -> str:
    return hide(str(error)) or type(error).__name__
