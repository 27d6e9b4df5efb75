"""Sums over jobs and nodes: by partition, by account, by reason. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .snapshot import Job

Pair = tuple[str, str]


@dataclass(frozen=True)
class InUse:
    """What jobs have of each resource, by partition or by account."""

    cpus: Mapping[str, int]
    gpus: Mapping[str, int]
    memory_bytes: Mapping[str, int]


@dataclass(frozen=True)
class JobTotals:
    """What all jobs come to."""

    by_partition: Mapping[Pair, int]  # and state
    by_account: Mapping[Pair, int]  # and state
    pending: Mapping[Pair, int]  # partition and reason
    partitions: InUse
    accounts: InUse


@dataclass
class _Sum:
    cpus: Counter[str] = field(default_factory=Counter)
    gpus: Counter[str] = field(default_factory=Counter)
    memory_bytes: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, job: Job) -> None:
        self.cpus[name] += job.cpus
        self.gpus[name] += job.gpus
        self.memory_bytes[name] += job.memory_mib << 20

    def told(self) -> InUse:
        return InUse(self.cpus, self.gpus, self.memory_bytes)


def totals(jobs: Iterable[Job]) -> JobTotals:
    """Add all jobs up; those of which nothing but the state is known belong nowhere yet."""
    read = [job for job in jobs if job.partition]
    by_partition, by_account, pending = Counter[Pair](), Counter[Pair](), Counter[Pair]()
    partitions, accounts = _Sum(), _Sum()
    for job in read:
        by_account[job.account, job.state] += job.tasks
        # One that waits in several partitions counts in each.
        for partition in job.partition.split(","):
            by_partition[partition, job.state] += job.tasks
            if job.state == "PENDING":
                pending[partition, reason_of(job.reason)] += job.tasks
        if job.holds:
            partitions.add(job.partition, job)
            accounts.add(job.account, job)
    return JobTotals(by_partition, by_account, pending, partitions.told(), accounts.told())


def reason_of(text: str) -> str:
    """Return a reason without its details: `ReqNodeNotAvail, UnavailableNodes:w-[0-3]`."""
    return text.strip("()").partition(",")[0].partition("(")[0].strip() or "None"
