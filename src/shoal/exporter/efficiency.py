"""What ended jobs had, and how much of it they used. Pure.

(before, what is seen now) -> after. What had ended before the first look is not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..slurmapi.accounting import PastJob
from .ended import LATE_S
from .records import NO_NODES, counted, state_of
from .snapshot import EndedSeen

Whose = tuple[str, str]  # partition, account


@dataclass(frozen=True)
class Efficiency:
    """All that is remembered of ended jobs."""

    began: bool = False
    known: frozenset[tuple[int, int]] = frozenset()  # job and end: those that may be told again
    jobs: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # and state
    cpu_seconds: Mapping[Whose, float] = field(default_factory=dict)
    cpu_seconds_used: Mapping[Whose, float] = field(default_factory=dict)
    gpu_seconds: Mapping[Whose, float] = field(default_factory=dict)


def remember(before: Efficiency, seen: EndedSeen) -> Efficiency:
    """Return what is remembered after this look."""
    told = {(job.job_id, job.time.end): job for job in seen.jobs}
    new = [job for key, job in told.items() if key not in before.known] if before.began else []
    jobs = dict(before.jobs)
    had, used, cards = (
        dict(before.cpu_seconds), dict(before.cpu_seconds_used), dict(before.gpu_seconds),
    )  # fmt: skip
    for job in new:
        whose = (job.partition, job.account)
        outcome = (*whose, state_of(job.state.current)[0])
        jobs[outcome] = jobs.get(outcome, 0) + 1
        cpus, _, gpus = counted(job.tres.allocated)
        lasted_s = _lasted_s(job)
        had[whose] = had.get(whose, 0.0) + cpus * lasted_s
        cards[whose] = cards.get(whose, 0.0) + gpus * lasted_s
        time = job.time.total
        used[whose] = used.get(whose, 0.0) + time.seconds + time.microseconds * 1e-6
    recent = {key for key in before.known if key[1] >= seen.until - 2 * LATE_S}
    return Efficiency(
        began=True,
        known=frozenset(recent | told.keys()),
        jobs=jobs,
        cpu_seconds=had,
        cpu_seconds_used=used,
        gpu_seconds=cards,
    )


def _lasted_s(job: PastJob) -> int:
    # One that was cancelled in the queue had nothing, whatever its times say.
    ran = job.nodes and job.nodes not in NO_NODES and job.time.start
    return max(0, job.time.end - job.time.start) if ran else 0
