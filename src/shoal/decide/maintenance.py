"""Which parts of a cluster with a shared root have pods now. Pure.

A cluster goes down from its workers: they are drained, their jobs end, and only when the last of
them is gone do slurmctld and all that helps it go. It comes up once its root is fit to be used; a
slurmctld that runs is never taken down for that.
"""

import enum
from dataclasses import dataclass

from ..model.maintenance import Mode


class Course(enum.Enum):
    """What becomes of pods."""

    UP = enum.auto()
    STAYING = enum.auto()  # they go down as soon as no worker needs them
    DOWN = enum.auto()
    WAITING = enum.auto()  # they come as soon as the root is filled

    @property
    def pods(self) -> bool:
        """Say whether there are to be pods."""
        return self in (Course.UP, Course.STAYING)

    @property
    def maintained(self) -> bool:
        """Say whether the user wants them away."""
        return self in (Course.STAYING, Course.DOWN)


@dataclass(frozen=True)
class Standing:
    """What a cluster has."""

    workers: int  # pods, also those that end
    filled: bool  # the root is fit to be used
    serving: bool  # slurmctld was started, and not taken down since


def course(mode: Mode, seen: Standing) -> Course:
    """Return what becomes of the pods that have the root, but for workers."""
    if mode.down:
        return Course.STAYING if seen.workers else Course.DOWN
    # Workers cannot leave without a slurmctld, whoever has taken it down.
    return Course.UP if seen.filled or seen.serving or seen.workers else Course.WAITING


def without_root(mode: Mode, seen: Standing) -> Course:
    """Return what becomes of the pods that do not have the root: accounting."""
    found = course(mode, seen)
    return Course.UP if found is Course.WAITING else found


def words(mode: Mode, now: Course, seen: Standing) -> str:
    """Say why pods are away, or will be."""
    if now is Course.STAYING:
        who = "1 worker is" if seen.workers == 1 else f"{seen.workers} workers are"
        return f"maintenance: {mode.value}: goes down when all workers are gone; {who} left"
    return f"maintenance: {mode.value}" if now is Course.DOWN else ""
