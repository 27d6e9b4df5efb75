"""What collectors saw, as frozen data. Pure.

Nodes and statistics are slurmrestd's own records. Jobs come from several sources, so they have a
shape of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from ..slurm import jobs as language
from ..slurm.jobs import RUNNING, TERMINAL
from ..slurmapi.accounting import PastJob
from ..slurmapi.controller import Statistics
from ..slurmapi.nodes import Node

UNKNOWN = "UNKNOWN"


class Job(msgspec.Struct, frozen=True, gc=False):
    """A job, whoever told of it. Times are seconds since 1970, 0 where there is none."""

    job_id: str
    state: str  # the base state: PENDING, RUNNING, ...
    holds: bool = False  # nodes
    read: bool = True  # False: only the state is known yet
    reason: str = ""
    partition: str = ""  # of a job that waits perhaps several, parted by commas
    account: str = ""
    name: str = ""
    user: str = ""
    user_id: str = ""
    mail: str = ""
    standard_error: str = ""
    standard_output: str = ""
    array_job: str = ""
    array_task: str = ""
    tasks: int = 1  # that wait, of an array
    submit: int = 0
    start: int = 0
    end: int = 0  # of one that runs: when its time is over
    nodes: str = ""  # a hostlist
    cpus: int = 0  # that it has, or asks for
    memory_mib: int = 0
    gpus: int = 0

    @property
    def ended(self) -> bool:
        """Say whether it is over."""
        return self.state in TERMINAL

    @property
    def started(self) -> bool:
        """Say whether it runs, or did."""
        # One that was cancelled in the queue has a start, too, and never had a node.
        return self.start > 0 and (self.state in RUNNING or (self.ended and bool(self.nodes)))


def base_of(words: Sequence[str]) -> tuple[str, bool]:
    """Return the base state that `words` name, and whether the job holds its nodes, or may."""
    state = language.parse(words)
    return state.base or (min(state.words) if state.words else UNKNOWN), state.holds_nodes


@dataclass(frozen=True)
class Place:
    """Where a worker is."""

    nvlink_group: str = ""
    nodeset: str = ""


@dataclass(frozen=True)
class NodesSeen:
    """All nodes."""

    nodes: Sequence[Node]


@dataclass(frozen=True)
class JobsSeen:
    """All jobs that a source knows, and which source that was."""

    jobs: Sequence[Job]
    source: str

    @property
    def unread(self) -> int:
        """Return of how many only the state is known."""
        return sum(not job.read for job in self.jobs)


@dataclass(frozen=True)
class DiagSeen:
    """slurmctld's counters."""

    statistics: Statistics


@dataclass(frozen=True)
class TopologySeen:
    """Where the workers are, by the name of their node, and the instance ids of the nodes."""

    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True)
class Absent:
    """Nothing to see, and nothing wrong: this cluster has no such part."""

    words: str


@dataclass(frozen=True)
class EndedSeen:
    """Jobs that slurmdbd says ended, and until when it was asked."""

    jobs: Sequence[PastJob]
    until: int
