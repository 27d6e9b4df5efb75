"""Which of slurmrestd's versions we speak, and what each of them can do. Pure.

slurmrestd serves several versions of its data at once (24.11: v0.0.40 to v0.0.42, 26.05: v0.0.42 to
v0.0.45). The newest that both sides know is used, so one server has one version, and what a server
can do follows from it.
"""

from enum import Enum

# Newest first. Each came with one Slurm release.
RELEASES = {45: "26.05", 44: "25.11", 43: "25.05", 42: "24.11", 41: "24.05"}
SPOKEN = tuple(RELEASES)


class Capability(Enum):
    """What not every slurmrestd can do: words for people, and the version that brought it."""

    DATABASE_PING = ("asking slurmdbd whether it is up", 42)
    NODE_TOPOLOGY = ("setting a node's place in the topology", 43)
    RESERVATION_WRITES = ("creating and changing reservations", 43)
    RESERVATION_DELETION = ("deleting reservations", 43)
    NODE_CREATION = ("creating nodes", 44)
    PARTITION_WRITES = ("creating, changing and deleting partitions", 45)
    CONFIG_READ = ("reading the configuration", 45)
    REQUEUE = ("requeueing jobs", 45)

    def __init__(self, words: str, since: int) -> None:
        self.words = words
        self.since = since

    @property
    def release(self) -> str:
        """Return the Slurm release that has it first."""
        return RELEASES[self.since]


def path_of(version: int) -> str:
    """Return the version as it stands in a path."""
    return f"v0.0.{version}"
