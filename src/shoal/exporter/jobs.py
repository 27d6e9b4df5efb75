"""Jobs: each on its own, where that is wanted, and what they come to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from ..slurm import hostlists
from . import text
from .catalogue import JOB_INFO, NAMED, PLACE, Collector
from .health import Health
from .outcomes import JobMemory, remember
from .records import REMEMBERED
from .shared import Shared
from .snapshot import Job, JobsSeen, Place
from .sources import JobSource
from .totals import InUse, totals

MIB = 1 << 20
NOWHERE = Place()


class JobSeries(Enum):
    """Which jobs have series of their own."""

    ON = "on"
    SAMPLED = "sampled"
    OFF = "off"


@dataclass(frozen=True)
class Sampling:
    """Which jobs have series of their own; of a sample, one in `every`, always the same ones."""

    series: JobSeries = JobSeries.ON
    every: int = 10

    @property
    def ratio(self) -> float:
        """Return the share of jobs that are shown."""
        return {JobSeries.ON: 1.0, JobSeries.SAMPLED: 1 / self.every, JobSeries.OFF: 0.0}[
            self.series
        ]

    def chosen(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return those that are shown."""
        if self.series is JobSeries.ON:
            return jobs
        if self.series is JobSeries.OFF:
            return ()
        return [job for job in jobs if int(job.job_id) % self.every == 0]


@lru_cache(REMEMBERED)
def nodes_of(hostlist: str) -> tuple[str, ...]:
    """Return the nodes of a job; none where its hostlist cannot be read."""
    try:
        return hostlists.expand(hostlist)
    except hostlists.HostlistError:
        return ()


class JobsCollector:
    """Reads and tells of jobs."""

    name = Collector.JOBS

    def __init__(
        self,
        source: JobSource,
        shared: Shared,
        sampling: Sampling = Sampling(),  # noqa: B008 - frozen
        health: Health | None = None,
    ) -> None:
        self._source = source
        self._shared = shared
        self._sampling = sampling
        self._health = health
        self.memory = JobMemory()

    async def gather(self) -> JobsSeen:
        """Read all jobs, each once: Prometheus refuses a page on which a series stands twice."""
        seen = await self._source.jobs()
        once = {job.job_id: job for job in seen.jobs}
        return seen if len(once) == len(seen.jobs) else replace(seen, jobs=list(once.values()))

    def tell(self, seen: JobsSeen, now: float) -> Iterator[str]:
        """Take note of what is seen, and yield it as text."""
        if self._health is not None:
            self._health.source, self._health.unread = seen.source, seen.unread
        self.memory = remember(self.memory, seen, now)
        yield ""  # an end of a turn: with 50,000 jobs that took a tenth of a second
        yield from _sums(seen.jobs)
        yield from _past(self.memory)
        yield from text.family(NAMED["slurm_job_series_ratio"], [((), self._sampling.ratio)])
        yield from _singles(self._sampling.chosen(seen.jobs), self._shared.places, now)

    async def close(self) -> None:
        """Do nothing: nothing is open."""


def _sums(jobs: Iterable[Job]) -> Iterator[str]:
    told = totals(jobs)
    yield ""
    for name, counts in (
        ("slurm_partition_jobs", told.by_partition),
        ("slurm_account_jobs", told.by_account),
        ("slurm_jobs_pending", told.pending),
    ):
        yield from text.family(NAMED[name], sorted(counts.items()))
    for whose, used in (("partition", told.partitions), ("account", told.accounts)):
        yield from _in_use(f"slurm_{whose}_", used)


def _in_use(prefix: str, used: InUse) -> Iterator[str]:
    for name, amounts in (
        ("cpus_allocated", used.cpus),
        ("gpus_allocated", used.gpus),
        ("memory_allocated_bytes", used.memory_bytes),
    ):
        metric = NAMED[prefix + name]
        yield from text.family(metric, (((who,), v) for who, v in sorted(amounts.items())))


def _past(memory: JobMemory) -> Iterator[str]:
    yield from text.family(NAMED["slurm_job_outcomes_total"], sorted(memory.outcomes.items()))
    for name, seconds in (
        ("slurm_account_cpu_seconds_allocated_total", memory.cpu_seconds),
        ("slurm_account_gpu_seconds_allocated_total", memory.gpu_seconds),
    ):
        yield from text.family(NAMED[name], (((who,), v) for who, v in sorted(seconds.items())))
    yield from text.histogram(
        NAMED["slurm_job_queue_wait_seconds"],
        (((partition,), told) for partition, told in sorted(memory.waits.items())),
    )


def _singles(jobs: Sequence[Job], places: Mapping[str, Place], now: float) -> Iterator[str]:
    named = [f'job_id="{job.job_id}"' for job in jobs]

    def column(name: str, value: Callable[[Job], float]) -> Iterator[str]:
        told = ((label, value(job)) for label, job in zip(named, jobs, strict=True))
        return text.column(NAMED[name], (one for one in told if one[1] > 0))

    info = NAMED["slurm_job_info"]
    yield from text.pieces(info, (f"slurm_job_info{{{_info(job)}}} 1\n" for job in jobs))
    yield from text.pieces(
        NAMED["slurm_node_job"],
        (line for label, job in zip(named, jobs, strict=True) for line in _on(job, label, places)),
    )
    yield from column("slurm_job_duration_seconds", lambda job: _lasted_s(job, now))
    yield from column("slurm_job_cpus", lambda job: job.cpus)
    yield from column("slurm_job_memory_bytes", lambda job: job.memory_mib * MIB)
    yield from column("slurm_job_gpus", lambda job: job.gpus)


def _info(job: Job) -> str:
    end = str(job.end or "")
    values = (
        job.job_id, job.state, job.reason, job.partition, job.name, job.user, job.mail,
        job.user_id, job.standard_error, job.standard_output, job.array_job, job.array_task,
        str(job.submit or ""), str(job.start or ""), end, end if job.ended else "",
    )  # fmt: skip
    return text.labelled(JOB_INFO, values)


def _on(job: Job, label: str, places: Mapping[str, Place]) -> Iterator[str]:
    for node in nodes_of(job.nodes) if job.nodes else ():
        place = places.get(node, NOWHERE)
        where = text.labelled(("node_name", *PLACE), (node, place.nvlink_group, place.nodeset))
        yield f"slurm_node_job{{{label},{where}}} 1\n"


def _lasted_s(job: Job, now: float) -> float:
    if not job.started:
        return 0
    # Whole seconds, as Slurm's times are.
    return (job.end if job.ended else int(now)) - job.start
