"""Which jobs hold which nodes, from the source that the number of jobs allows.

slurmrestd's list of jobs costs it 0.7 ms and 145 KB per job, and it keeps the memory: 50,000 jobs
are 40 s and 7 GB. So the list is for small clusters, and others are asked where there are more.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Protocol

from ..slurm import jobs as language
from ..slurm.durations import Limit, Open
from ..slurm.jobs import JobState
from . import squeue
from .accounting import Wanted
from .client import Client
from .errors import ControllerDownError, NotFoundError, UnknownError, UnreadableError
from .flights import Flight
from .jobs import Job
from .numbers import Number
from .tokens import Run

PERIOD_S = 15.0
# At once, of slurmrestd's threads.
SIDE_BY_SIDE = 4


class Source(Enum):
    """Where to look."""

    LIST = "slurmrestd's list of jobs"
    TOOLS = "squeue"
    SINGLES = "slurmrestd's job states, and each job that holds nodes"
    ACCOUNTING = "slurmdbd"


@dataclass(frozen=True)
class Thresholds:
    """Up to how many jobs a source is affordable."""

    listed: int = 1000  # 0.7 s and 145 MB
    single: int = 1000  # 2.4 ms each


MEASURED = Thresholds()


@dataclass(frozen=True)
class Means:
    """What there is to ask besides slurmrestd."""

    tools: bool = False
    accounting: bool = False


@dataclass(frozen=True)
class Holder:
    """A job that holds nodes, or may."""

    job_id: int
    state: JobState
    nodes: str  # a hostlist
    start: datetime | None
    limit: Limit
    batch_host: str = ""  # that its script runs on; empty: it has none, or nobody says


@dataclass(frozen=True)
class Holders:
    """All jobs that hold nodes."""

    jobs: tuple[Holder, ...]
    taken_at: float  # on the loop's clock: when it was asked for
    source: Source

    @property
    def complete(self) -> bool:
        """Say whether a node that none of them names is free: slurmdbd hears of some late."""
        return self.source is not Source.ACCOUNTING


class JobSource(Protocol):
    """Tells which jobs hold nodes."""

    async def holders(self) -> Holders:
        """Return all jobs that hold nodes."""
        ...


def choose(jobs: int, running: int, means: Means, thresholds: Thresholds = MEASURED) -> Source:
    """Return where to look with so many jobs in all, and so many of them running."""
    if jobs <= thresholds.listed:
        return Source.LIST
    if means.tools:
        return Source.TOOLS
    if running > thresholds.single and means.accounting:
        return Source.ACCOUNTING
    return Source.SINGLES


class ListedJobs:
    """Slurmrestd's list of jobs, for small clusters."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def holders(self) -> Holders:
        """Return all jobs that hold nodes."""
        began = asyncio.get_running_loop().time()
        jobs = await self._client.jobs.all()
        return Holders(holding(jobs), began, Source.LIST)


class SingleJobs:
    """Job states, and each job that holds nodes: for many jobs of which few run."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def holders(self) -> Holders:
        """Return all jobs that hold nodes."""
        began = asyncio.get_running_loop().time()
        states = await self._client.jobs.states()
        held = {_leader(job.job_id) for job in states if language.parse(job.state).holds_nodes}
        families = await asyncio.gather(*(self._family(job_id) for job_id in sorted(held)))
        found = {holder.job_id: holder for family in families for holder in family}
        return Holders(tuple(found.values()), began, Source.SINGLES)

    async def _family(self, job_id: int) -> tuple[Holder, ...]:
        async with self._room:
            try:
                return holding(await self._client.jobs.with_parts(job_id))
            except NotFoundError:
                return ()  # it ended meanwhile


class ToolJobs:
    """Slurm's client tools, run where they are."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def holders(self) -> Holders:
        """Return all jobs that hold nodes."""
        began = asyncio.get_running_loop().time()
        ran = await self._run(squeue.COMMAND)
        if ran.code != 0:
            words = " ".join(ran.stderr.split()) or f"exit code {ran.code}"
            kind = ControllerDownError if "contact slurm controller" in words else UnknownError
            raise kind("squeue", words)
        try:
            lines = tuple(squeue.read(ran.stdout))
        except ValueError as error:
            raise UnreadableError("squeue", str(error)) from error
        found = (
            Holder(line.job_id, line.state, line.nodes, line.start, line.limit, line.batch_host)
            for line in lines
        )
        return Holders(tuple(found), began, Source.TOOLS)


class RecordedJobs:
    """Slurmdbd's records. What it has not heard of yet is missing, so they prove no node free."""

    def __init__(self, client: Client, cluster: str) -> None:
        self._client = client
        self._wanted = Wanted(cluster=cluster, states=("RUNNING", "SUSPENDED"))

    async def holders(self) -> Holders:
        """Return the jobs that slurmdbd thinks are running."""
        began = asyncio.get_running_loop().time()
        found = (
            Holder(
                job.job_id,
                language.parse(job.state.current),
                "" if job.nodes == "None assigned" else job.nodes,
                _moment(job.time.start or None),
                _limit(job.time.limit),
            )
            for job in await self._client.accounting.jobs(self._wanted)
        )
        return Holders(tuple(found), began, Source.ACCOUNTING)


class ChosenJobs:
    """The source that fits the number of jobs, asked at most once a period for all who ask."""

    def __init__(
        self,
        client: Client,
        run: Run | None = None,
        cluster: str = "",
        thresholds: Thresholds = MEASURED,
        period_s: float = PERIOD_S,
    ) -> None:
        self._client = client
        self._sources: dict[Source, JobSource] = {
            Source.LIST: ListedJobs(client),
            Source.SINGLES: SingleJobs(client),
            **({Source.TOOLS: ToolJobs(run)} if run else {}),
            **({Source.ACCOUNTING: RecordedJobs(client, cluster)} if cluster else {}),
        }
        self._thresholds = thresholds
        self._period_s = period_s
        self._kept: Holders | None = None
        self._flight = Flight(self._read)

    async def holders(self) -> Holders:
        """Return all jobs that hold nodes, as of at most a period ago."""
        now = asyncio.get_running_loop().time()
        if self._kept is not None and now - self._kept.taken_at < self._period_s:
            return self._kept
        return await self._flight.join()

    async def close(self) -> None:
        """Ask no more."""
        await self._flight.stop()

    async def _read(self) -> Holders:
        counts = await self._client.controller.statistics()
        means = Means(Source.TOOLS in self._sources, Source.ACCOUNTING in self._sources)
        source = choose(counts.job_records, counts.jobs_running, means, self._thresholds)
        self._kept = await self._sources[source].holders()
        return self._kept


def holding(jobs: Iterable[Job]) -> tuple[Holder, ...]:
    """Return those of `jobs` that hold nodes, or may."""
    states = ((job, language.parse(job.job_state)) for job in jobs)
    return tuple(
        Holder(
            job.job_id,
            state,
            job.nodes,
            _moment(job.start_time.time),
            _limit(job.time_limit),
            job.batch_host if job.batch_flag else "",
        )
        for job, state in states
        if state.holds_nodes
    )


def _leader(job_id: str) -> int:
    """Return the job that a task of an array (`6_0`) or a part of a job (`7+1`) belongs to."""
    return int(job_id.partition("_")[0].partition("+")[0])


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _limit(minutes: Number) -> Limit:
    if minutes.infinite:
        return Open.UNLIMITED
    return Open.NOT_SET if minutes.whole is None else timedelta(minutes=minutes.whole)
