"""Ended jobs as slurmdbd knows them: what they had, and what they used of it."""

from collections.abc import Callable, Iterator

from . import text
from .catalogue import NAMED, Collector
from .efficiency import Efficiency, remember
from .ended import LATE_S, EndedJobs, NoDatabaseError
from .snapshot import Absent, EndedSeen

# A cluster may be given accounting while the exporter runs.
LOOK_AGAIN_S = 600
NO_DATABASE = Absent("the cluster has no accounting")


class AccountingCollector:
    """Reads and tells of ended jobs."""

    name = Collector.ACCOUNTING

    def __init__(self, ended: EndedJobs, now: Callable[[], float]) -> None:
        self._ended = ended
        self._now = now
        self._until: int | None = None  # of what was told, not of what was read
        self._look_at = 0  # not before, where there was no slurmdbd
        self.memory = Efficiency()

    async def gather(self) -> EndedSeen | Absent:
        """Read what ended since the last time, and some of what was read then."""
        now = int(self._now())
        if now < self._look_at:
            return NO_DATABASE
        since = (now if self._until is None else self._until) - LATE_S
        try:
            return EndedSeen(await self._ended.between(since, now), now)
        except NoDatabaseError:
            self._look_at = now + LOOK_AGAIN_S
            return NO_DATABASE

    def tell(self, seen: EndedSeen, _now: float) -> Iterator[str]:
        """Take note of what is seen, and yield it as text."""
        self._until = seen.until
        self.memory = memory = remember(self.memory, seen)
        for name, seconds in (
            ("slurm_ended_jobs_cpu_seconds_allocated_total", memory.cpu_seconds),
            ("slurm_ended_jobs_cpu_seconds_used_total", memory.cpu_seconds_used),
            ("slurm_ended_jobs_gpu_seconds_allocated_total", memory.gpu_seconds),
        ):
            yield from text.family(NAMED[name], sorted(seconds.items()))
        yield from text.family(NAMED["slurm_ended_jobs_total"], sorted(memory.jobs.items()))

    async def close(self) -> None:
        """Do nothing: nothing is open."""
