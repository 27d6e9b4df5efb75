"""Where jobs come from, so that nobody who asks for metrics can bring slurmrestd down.

slurmrestd's list of all jobs costs it 145 KB and 0.7 ms for each, and it keeps the memory. A list
of their states costs a hundredth of that. So the states are read first and say how many there are:
few are listed; of many, only those are read that changed, so many in a run and no more.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Protocol

import msgspec

from ..slurmapi.client import Client
from ..slurmapi.errors import NotFoundError, UnreadableError
from ..slurmapi.jobs import JobState
from . import records, squeue
from .ended import LATE_S, EndedJobs
from .snapshot import Job, JobsSeen

LIST, CHANGES, SQUEUE, SLURMDBD = "list", "changes", "squeue", "slurmdbd"
# At once, of slurmrestd's threads.
SIDE_BY_SIDE = 4


@dataclass(frozen=True)
class Budget:
    """How much slurmrestd may be asked for in one run."""

    listed: int = 500  # jobs in a list: 75 MB and 0.4 s of slurmrestd
    read: int = 1000  # jobs one by one: 2.4 s of slurmrestd
    # Of these, jobs that wait and did not change: their reasons and estimates do.
    refreshed: int = 250
    # Of an array: its first id brings all tasks that are not over.
    tasks: int = 200


class JobSource(Protocol):
    """Tells of jobs."""

    async def jobs(self) -> JobsSeen:
        """Return all jobs that it knows."""
        ...


@dataclass(frozen=True, slots=True)  # there may be 50,000
class _Kept:
    """What was read of one number, and what its state was by then."""

    states: tuple[JobState, ...]
    jobs: tuple[Job, ...]
    turn: int  # of reading: the lower, the older


@dataclass
class ControllerJobs:
    """slurmctld's jobs by slurmrestd: a list where they are few, what changed where not."""

    client: Client
    budget: Budget = Budget()
    _kept: dict[int, _Kept] = field(default_factory=dict)
    _tasks: Counter[str] = field(default_factory=Counter)  # read, by the first id of their array
    _turn: int = 0

    async def jobs(self) -> JobsSeen:
        """Return all jobs; of some perhaps only the state."""
        states = await self.client.jobs.states()
        if len(states) <= self.budget.listed:
            self._kept.clear()
            listed = await self.client.jobs.all()
            return JobsSeen([records.of_slurmctld(job) for job in listed], LIST)
        grouped = _grouped(states)
        # Who is no longer told of is forgotten before the others are read.
        self._kept = {number: self._kept[number] for number in grouped if number in self._kept}
        self._tasks = Counter(job.array_job for one in self._kept.values() for job in one.jobs)
        await self._read(self._wanted(grouped), grouped)
        return JobsSeen(self._told(grouped), CHANGES)

    def _wanted(self, grouped: dict[int, tuple[JobState, ...]]) -> list[int]:
        """Return whom to read, first the newest: the tasks of an array before its first id.

        Who knows all tasks that have numbers of their own also knows whether that id is affordable.
        """
        kept = self._kept
        news = [n for n, states in grouped.items() if n not in kept or kept[n].states != states]
        news.sort(reverse=True)
        room = min(self.budget.refreshed, self.budget.read - len(news))
        waiting = (n for n, one in kept.items() if any(job.state == "PENDING" for job in one.jobs))
        old = sorted(waiting, key=lambda n: kept[n].turn)[: max(0, room)]
        return list(dict.fromkeys((*news[: self.budget.read], *old)))

    async def _read(self, wanted: list[int], grouped: dict[int, tuple[JobState, ...]]) -> None:
        todo = iter(wanted)

        async def work() -> None:
            for number in todo:
                if self._tasks[str(number)] <= self.budget.tasks:
                    await self._read_one(number, grouped[number])

        tasks = [asyncio.create_task(work()) for _ in range(SIDE_BY_SIDE)]
        try:
            # The first error ends it; what was read until then stays for the next run.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read_one(self, number: int, states: tuple[JobState, ...]) -> None:
        self._turn += 1
        try:
            found = await self.client.jobs.with_parts(number)
        except NotFoundError:
            return  # it was forgotten meanwhile
        # The first id of an array brings its tasks; each of those has a line of its own.
        mine = tuple(
            records.of_slurmctld(job) for job in found if _mine(job.job_id, number, states)
        )
        self._kept[number] = _Kept(states, mine, self._turn)
        self._tasks.update(job.array_job for job in mine)

    def _told(self, grouped: dict[int, tuple[JobState, ...]]) -> list[Job]:
        told: list[Job] = []
        siblings = {job.array_job: job for one in self._kept.values() for job in one.jobs}
        for number, states in grouped.items():
            kept = self._kept.get(number)
            if kept is not None and kept.states == states:
                told += kept.jobs
            elif kept is not None and kept.jobs:
                told += (_restated(job, states) for job in kept.jobs)
            elif like := siblings.get(str(number)):
                told.append(_alike(like, number, states))
            else:
                told.append(records.of_state(str(number), states[0].state, len(states)))
        return told


def _grouped(states: Iterable[JobState]) -> dict[int, tuple[JobState, ...]]:
    """Return the lines of each number: `4_0` is task 0, which is job 4; `2_0`, `2_1` both wait."""
    found: defaultdict[int, list[JobState]] = defaultdict(list)
    for line in states:
        found[int(line.job_id.partition("_")[0].partition("+")[0])].append(line)
    return {number: tuple(lines) for number, lines in found.items()}


def _mine(job_id: int, number: int, states: tuple[JobState, ...]) -> bool:
    # Parts of a heterogeneous job have lines with the first one's number and a plus sign.
    return job_id == number or any("+" in line.job_id for line in states)


def _restated(job: Job, states: tuple[JobState, ...]) -> Job:
    """Return a job in the state that is known of it now; the rest waits for its turn."""
    state, holds = records.state_of(states[0].state)
    return msgspec.structs.replace(job, state=state, holds=holds, read=False, tasks=len(states))


def _alike(like: Job, number: int, states: tuple[JobState, ...]) -> Job:
    """Return what is left of an array that is too large to read: as one of its tasks is."""
    rest = _restated(like, states)
    return msgspec.structs.replace(
        rest, job_id=str(number), array_task="", reason="", start=0, end=0, nodes=""
    )


Printed = Callable[[Sequence[str]], AsyncGenerator[list[str], None]]


@dataclass(frozen=True)
class QueueJobs:
    """slurmctld's jobs by squeue, for any number of them."""

    printed: Printed  # runs a program and yields the lines that it prints
    program: tuple[str, ...] = ("squeue",)

    async def jobs(self) -> JobsSeen:
        """Return all jobs."""
        mark, found = token_hex(4), list[Job]()
        async with aclosing(self.printed(squeue.command(self.program, mark))) as printed:
            async for lines in printed:
                try:
                    found += squeue.read(lines, mark)
                except ValueError as error:
                    raise UnreadableError("squeue", str(error)) from error
        return JobsSeen(found, SQUEUE)


@dataclass
class RecordedJobs:
    """Jobs that wait or run, from `live`, and those that slurmdbd knows to have ended."""

    live: JobSource
    ended: EndedJobs
    lookback_s: int
    now: Callable[[], float]
    _ended: dict[str, Job] = field(default_factory=dict)
    _until: int | None = None

    async def jobs(self) -> JobsSeen:
        """Return both; of a job that both know, slurmctld's word."""
        now = int(self.now())
        seen = await self.live.jobs()
        since = now - self.lookback_s if self._until is None else self._until - LATE_S
        for job in await self.ended.between(since, now):
            self._ended[str(job.job_id)] = records.of_slurmdbd(job)
        self._until = now
        known = {job.job_id for job in seen.jobs}
        self._ended = {
            number: job for number, job in self._ended.items() if job.end >= now - self.lookback_s
        }
        past = (job for number, job in self._ended.items() if number not in known)
        return JobsSeen([*seen.jobs, *past], SLURMDBD)
