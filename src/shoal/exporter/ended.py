"""Jobs that ended, from slurmdbd, in slices of time that slurmrestd can bear.

slurmrestd needs 97 KB for each of slurmdbd's jobs. slurmctld's counters say how many jobs ended
since the last look at most, and a slice is as long as it takes for so many and no more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from ..slurm.jobs import TERMINAL
from ..slurmapi.accounting import PastJob, Wanted
from ..slurmapi.client import Client
from ..slurmapi.controller import Statistics
from ..slurmapi.errors import MissingError, NoSuchPathError

SLICE = 1000  # jobs: 97 MB of slurmrestd
# slurmctld tells slurmdbd when it finds the time. What was asked for is asked for again so long.
LATE_S = 120
# At midnight the counters begin anew, and what ended shortly before is not in them.
LONGEST_SLICE_S = 60


class NoDatabaseError(MissingError):
    """No paths of slurmdbd's at this slurmrestd: the cluster is configured without one."""

    cure = "give the cluster accounting, or leave out what asks for it"


@dataclass
class EndedJobs:
    """Reads jobs that ended."""

    client: Client
    steps: bool = False  # with their CPU time
    _before: int | None = None

    async def between(self, since: int, until: int) -> Sequence[PastJob]:
        """Return the jobs that ended in that time, each once."""
        told = ended_today(await self.client.controller.statistics())
        most = at_most(self._before, told)
        found: dict[tuple[int, int], PastJob] = {}
        # slurmdbd may serve several clusters.
        cluster = (await self.client.known()).slurm.cluster
        for begin, end in slices(since, until, most):
            wanted = Wanted(cluster, begin, end, tuple(sorted(TERMINAL)), self.steps)
            for job in await self._recorded(wanted):
                if since <= job.time.end <= until:
                    found[job.job_id, job.time.end] = job
        self._before = told
        return list(found.values())

    async def _recorded(self, wanted: Wanted) -> Sequence[PastJob]:
        try:
            return await self.client.accounting.jobs(wanted)
        except NoSuchPathError as error:
            # Of a slurmdbd that is down the paths are still there, and answer so.
            raise NoDatabaseError(error.call, "this slurmrestd does not know slurmdbd") from error


def ended_today(told: Statistics) -> int:
    """Return how many jobs ended since midnight, by slurmctld's clock."""
    return told.jobs_completed + told.jobs_canceled + told.jobs_failed


def at_most(before: int | None, now: int) -> int:
    """Return how many jobs can have ended between two looks at slurmctld's counters.

    What had ended between the last look and midnight is not told: as many as in the day before.
    """
    if before is None:
        return now
    return now - before if now >= before else before + now


def slices(since: int, until: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of a time in which at most `most` jobs ended; none is shorter than a second."""
    length = max(1, min(LONGEST_SLICE_S, (until - since) // max(1, ceil(most / SLICE))))
    begin = since
    while begin < until:
        end = min(until, begin + length)
        yield begin, end
        begin = end
