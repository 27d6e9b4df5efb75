"""What became of jobs while the exporter looked: ends, waits, seconds of CPUs and GPUs. Pure.

(before, what is seen now, the time) -> after. Of jobs that had ended or started before the first
look nothing is counted: whoever ran before us did that. Each end and each start counts once, also
of a job that is put back into the queue and runs again.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .catalogue import WAIT_S
from .histograms import Histogram, observed
from .outages import passed_s
from .snapshot import Job, JobsSeen

# Of a job whose details come later than its state: whenever it started or ended, it counts not.
ANY = -1
PENDING = "PENDING"
# slurmdbd hears late, and clocks differ.
LATE_S = 120

Outcome = tuple[str, str, str]  # partition, account, state


@dataclass(frozen=True)
class JobMemory:
    """All that is remembered of jobs. Those that nobody tells of any more are forgotten."""

    at: float | None = None  # of the last look, seconds since 1970
    source: str = ""
    started: Mapping[str, int] = field(default_factory=dict)  # whose start counts no more, and when
    ended: Mapping[str, int] = field(default_factory=dict)  # the same of ends
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    waits: Mapping[str, Histogram] = field(default_factory=dict)  # by partition
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)  # by account
    gpu_seconds: Mapping[str, float] = field(default_factory=dict)


def remember(before: JobMemory, seen: JobsSeen, now: float) -> JobMemory:
    """Return what is remembered after this look."""
    started, waits = _starts(before, seen)
    ended, outcomes = _ends(before, seen)
    seconds = passed_s(before.at, now)
    cpus, gpus = Counter[str](), Counter[str]()
    for job in seen.jobs:
        if job.holds and seconds:
            cpus[job.account] += job.cpus
            gpus[job.account] += job.gpus
    return JobMemory(
        at=now,
        source=seen.source,
        started=started,
        ended=ended,
        outcomes=outcomes,
        waits=waits,
        cpu_seconds=_grown(before.cpu_seconds, cpus, seconds),
        gpu_seconds=_grown(before.gpu_seconds, gpus, seconds),
    )


def _starts(before: JobMemory, seen: JobsSeen) -> tuple[dict[str, int], Mapping[str, Histogram]]:
    started: dict[str, int] = {}
    waits = dict(before.waits)
    for job in seen.jobs:
        if not job.read:
            if job.state != PENDING:
                _unread(started, before.started, job, known=before.at is not None)
        elif job.started:
            started[job.job_id] = job.start
            if _is_new(before, seen, before.started.get(job.job_id), job.start):
                wait_s = max(0, job.start - job.submit)
                waits[job.partition] = observed(waits.get(job.partition), WAIT_S, wait_s)
        elif job.state != PENDING and (before.at is None or job.job_id in before.started):
            # squeue says COMPLETING and hides the rest: it has not started anew.
            started[job.job_id] = before.started.get(job.job_id, ANY)
    return started, waits


def _ends(before: JobMemory, seen: JobsSeen) -> tuple[dict[str, int], Mapping[Outcome, int]]:
    ended: dict[str, int] = {}
    outcomes = dict(before.outcomes)
    for job in seen.jobs:
        if not job.read:
            if job.ended:
                _unread(ended, before.ended, job, known=before.at is not None)
        elif job.ended:
            ended[job.job_id] = job.end
            if _is_new(before, seen, before.ended.get(job.job_id), job.end):
                key = (job.partition, job.account, job.state)
                outcomes[key] = outcomes.get(key, 0) + 1
    return ended, outcomes


def _unread(after: dict[str, int], before: Mapping[str, int], job: Job, *, known: bool) -> None:
    if job.job_id in before:
        after[job.job_id] = before[job.job_id]
    elif not known:
        after[job.job_id] = ANY


def _is_new(before: JobMemory, seen: JobsSeen, counted: int | None, time: int) -> bool:
    if before.at is None or counted in (ANY, time):
        return False
    # Another source may know more of the past than the one before it.
    return before.source == seen.source or time >= before.at - LATE_S


def _grown(
    before: Mapping[str, float], amounts: Mapping[str, int], seconds: float
) -> Mapping[str, float]:
    after = dict(before)
    for account, amount in amounts.items():
        after[account] = after.get(account, 0.0) + amount * seconds
    return after
