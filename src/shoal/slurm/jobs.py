"""Job states, why a job waits, and when it ends at the latest. Pure.

As with nodes, a state is a set of words. A job whose state is not fully understood is taken to hold
its nodes: nothing is ever taken from under it.
"""

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from .durations import Limit, Open

RUNNING = frozenset({"RUNNING", "SUSPENDED"})
TERMINAL = frozenset(
    {
        "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
        "PREEMPTED", "TIMEOUT",
    }
)  # fmt: skip
BASES = frozenset({"PENDING"}) | RUNNING | TERMINAL
# Flags under which a job that does not run still occupies nodes, or may.
HOLDING = frozenset(
    {
        "COMPLETING", "CONFIGURING", "EXPEDITING", "POWER_UP_NODE", "RECONFIG_FAIL", "REQUEUED",
        "REQUEUE_FED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED",
    }
)  # fmt: skip
HARMLESS = frozenset({"LAUNCH_FAILED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "REVOKED", "SPECIAL_EXIT"})

# man squeue, JOB STATE CODES.
_CODES = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "LF": "LAUNCH_FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
}


@dataclass(frozen=True)
class JobState:
    """A job's state."""

    words: frozenset[str] = frozenset()

    @property
    def base(self) -> str | None:
        """Return the base state; None when there is none, or none that we have heard of."""
        bases = self.words & BASES
        return next(iter(bases)) if len(bases) == 1 else None

    @property
    def flags(self) -> frozenset[str]:
        """Return everything else, heard of or not."""
        return self.words - BASES

    @property
    def unheard_of(self) -> frozenset[str]:
        """Return the words that this version of shoal does not know."""
        return self.flags - HOLDING - HARMLESS

    @property
    def holds_nodes(self) -> bool:
        """Say whether it occupies the nodes it names, or may."""
        free = self.base is not None and self.base not in RUNNING and self.flags <= HARMLESS
        return not free

    @property
    def pending(self) -> bool:
        """Say whether it waits in the queue and occupies nothing."""
        return self.base == "PENDING" and not self.holds_nodes

    @property
    def running(self) -> bool:
        """Say whether it has begun and not ended; a suspended job counts."""
        return self.base in RUNNING

    @property
    def finished(self) -> bool:
        """Say whether it has ended for good and has left its nodes."""
        return self.base in TERMINAL and not self.holds_nodes

    def __str__(self) -> str:
        """Return base state and flags, flags in alphabetical order."""
        return "+".join([*sorted(self.words & BASES), *sorted(self.flags)])


def parse(told: str | Iterable[str] | None) -> JobState:
    """Understand slurmrestd's list, or a state as squeue, scontrol and sacct write it."""
    texts = [told] if isinstance(told, str) else told or ()
    return JobState(frozenset(word for text in texts for word in _words(text)))


def _words(text: str) -> Iterator[str]:
    # sacct says "CANCELLED by 1000", and ends what it cuts off with a plus sign.
    for word in text.upper().partition(" BY ")[0].replace("+", " ").split():
        yield _CODES.get(word, word)


class Waiting(enum.Enum):
    """What a pending job waits for."""

    NODES = "more or other nodes"
    TURN = "jobs before it"
    JOBS = "other jobs it depends on"
    TIME = "a time or a reservation"
    LIMIT = "a limit of its account or QOS"
    RELEASE = "somebody to release it"
    CHANGE = "another request or configuration"
    UNKNOWN = "something we do not know"


# https://slurm.schedmd.com/job_reason_codes.html; the limits are told by how their names begin.
_WAITING: dict[str, Waiting] = {
    "AccountNotAllowed": Waiting.CHANGE,
    "AccountingPolicy": Waiting.LIMIT,
    "BadConstraints": Waiting.CHANGE,
    "BeginTime": Waiting.TIME,
    "BurstBufferOperation": Waiting.CHANGE,
    "BurstBufferResources": Waiting.TURN,
    "BurstBufferStageIn": Waiting.TIME,
    "Cleaning": Waiting.TIME,
    "Constraints": Waiting.CHANGE,
    "DeadLine": Waiting.CHANGE,
    "Dependency": Waiting.JOBS,
    "DependencyNeverSatisfied": Waiting.CHANGE,
    "FedJobLock": Waiting.TIME,
    "FrontEndDown": Waiting.NODES,
    "InactiveLimit": Waiting.CHANGE,
    "InvalidAccount": Waiting.CHANGE,
    "InvalidQOS": Waiting.CHANGE,
    "JobArrayTaskLimit": Waiting.JOBS,
    "JobHeldAdmin": Waiting.RELEASE,
    "JobHeldUser": Waiting.RELEASE,
    "JobHoldMaxRequeue": Waiting.RELEASE,
    "JobLaunchFailure": Waiting.RELEASE,
    "Licenses": Waiting.TURN,
    "MaxMemPerLimit": Waiting.CHANGE,
    "NodeDown": Waiting.NODES,
    "NvidiaImexChannels": Waiting.TURN,
    "None": Waiting.TURN,  # the scheduler has not looked at it yet
    "PartitionConfig": Waiting.CHANGE,
    "PartitionDown": Waiting.CHANGE,
    "PartitionInactive": Waiting.CHANGE,
    "PartitionNodeLimit": Waiting.CHANGE,
    "PartitionTimeLimit": Waiting.CHANGE,
    "PowerNotAvail": Waiting.NODES,
    "PowerReserved": Waiting.NODES,
    "Priority": Waiting.TURN,
    "Prolog": Waiting.TIME,
    "QOSNotAllowed": Waiting.CHANGE,
    "ReqNodeNotAvail": Waiting.NODES,
    "Reservation": Waiting.TIME,
    "ReservationDeleted": Waiting.RELEASE,
    "ReservationInvalid": Waiting.CHANGE,
    "Resources": Waiting.NODES,
    "SchedDefer": Waiting.TURN,
    "job requeued in held state": Waiting.RELEASE,
    "launch failed requeued held": Waiting.RELEASE,
}
_LIMITS = ("Assoc", "QOS", "Max")


def waiting_for(reason: str) -> Waiting:
    """Return what a pending job with Slurm's `reason` waits for; a new reason is UNKNOWN."""
    # Details may follow: "ReqNodeNotAvail, UnavailableNodes:w-[0-3]", or the same in parentheses.
    word = reason.strip().strip("()").split(",")[0].split("(")[0].strip()
    # scontrol writes an underscore where squeue writes a space.
    if known := _WAITING.get(word.replace("_", " ")):
        return known
    return Waiting.LIMIT if word.startswith(_LIMITS) else Waiting.UNKNOWN


def deadline(start: datetime | None, limit: Limit) -> datetime | None:
    """Return when a job ends at the latest; None means no end that we know of."""
    if start is None or isinstance(limit, Open):
        return None
    try:
        return start + limit
    except OverflowError:  # Slurm allows 8,000 years
        return None


@dataclass(frozen=True)
class Stay:
    """One job's hold on its nodes; `until` is its deadline."""

    nodes: tuple[str, ...]
    until: datetime | None


def latest(stays: Iterable[Stay]) -> dict[str, datetime | None]:
    """Return for each node when the last of its jobs ends; None, which is no end, wins."""
    ends: dict[str, datetime | None] = {}
    for stay in stays:
        for node in stay.nodes:
            ends[node] = _later(ends.get(node, stay.until), stay.until)
    return ends


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else max(one, other)
