"""Node states, as slurmrestd lists them and as scontrol and sinfo write them. Pure.

A state is a set of words: one base state and any number of flags. A flag that we have not heard of
is kept and changes nothing. A base state that is missing, unheard of or UNKNOWN makes the whole
state unknown, and an unknown node is neither idle nor drained.
"""

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

# slurm.h's base states and flags, by the names that data_parser v0.0.40 to v0.0.45 gives them.
BASES = frozenset(
    {
        "ALLOCATED", "DOWN", "ERROR", "FUTURE", "IDLE", "INVALID", "MIXED", "UNKNOWN",
    }
)  # fmt: skip
FLAGS = frozenset(
    {
        "BLOCKED", "CLOUD", "COMPLETING", "DRAIN", "DYNAMIC_FUTURE", "DYNAMIC_NORM", "EXTERNAL",
        "FAIL",
        "INVALID_REG", "MAINTENANCE", "NOT_RESPONDING", "PERFCTRS", "PLANNED", "POWERED_DOWN",
        "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_DOWN_ASAP", "POWER_DOWN_FORCE",
        "POWER_DRAIN", "POWER_UP", "REBOOT_CANCELED", "REBOOT_ISSUED", "REBOOT_REQUESTED",
        "RESERVED", "RESUME", "UNDRAIN",
    }
)  # fmt: skip
_VAGUE = frozenset({"UNKNOWN", "INVALID"})  # base states by which Slurm says that it does not know

# man sinfo, NODE STATE CODES.
_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
# sinfo sums a state up in one word, and that word hides the base state: DRAINED may have been IDLE,
# DOWN or UNKNOWN. What it does not say is not made up here, so ask sinfo for StateComplete.
_MEANINGS: dict[str, tuple[str, ...]] = {
    "ALLOC": ("ALLOCATED",),
    "BOOT": ("REBOOT_REQUESTED",),
    "CANCEL_REBOOT": ("REBOOT_CANCELED",),
    "CANC_R": ("REBOOT_CANCELED",),
    "COMP": ("COMPLETING",),
    "DRAINED": ("DRAIN",),
    "DRAINING": ("DRAIN", "DRAINING"),
    "DRNG": ("DRAIN", "DRAINING"),
    "FAILG": ("FAIL", "FAILING"),
    "FAILING": ("FAIL", "FAILING"),
    "FUTR": ("FUTURE",),
    "INVAL": ("INVALID_REG",),
    "MAINT": ("MAINTENANCE",),
    "MIX": ("MIXED",),
    "NO_RESPOND": ("NOT_RESPONDING",),
    "NPC": ("PERFCTRS",),
    "PLND": ("PLANNED",),
    "POWERED_DN": ("POWERED_DOWN",),
    "POWRING_DN": ("POWERING_DOWN",),
    "POW_DN": ("POWER_DOWN",),
    "POW_UP": ("POWER_UP",),
    "REBOOT": ("REBOOT_REQUESTED",),
    "RESM": ("RESUME",),
    "RESV": ("RESERVED",),
    "UNK": ("UNKNOWN",),
}

# DRAINING and FAILING are sinfo's: it says them of a node with jobs only.
BUSY = frozenset({"ALLOCATED", "MIXED", "COMPLETING", "DRAINING", "FAILING"})
POWER = frozenset(
    {
        "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_DOWN_ASAP",
        "POWER_DOWN_FORCE", "POWER_DRAIN", "POWER_UP",
    }
)  # fmt: skip
_BROKEN = frozenset({"DOWN", "NOT_RESPONDING", "UNKNOWN", "ERROR", "FAIL", "INVALID"})


class Drain(enum.Enum):
    """What we know about a node's drain; UNKNOWN is an answer, never a default."""

    SERVING = enum.auto()  # nobody asked it to drain; it may be down all the same
    DRAINING = enum.auto()  # asked, and a job is still on it
    DRAINED = enum.auto()  # asked, and no job is on it
    UNKNOWN = enum.auto()


@dataclass(frozen=True)
class NodeState:
    """A node's state. What is asked of thousands of nodes a pass is worked out once."""

    words: frozenset[str] = frozenset()

    def has(self, *words: str) -> bool:
        """Say whether any of `words` is in it."""
        return not self.words.isdisjoint(words)

    @cached_property
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
        return self.flags - FLAGS - BUSY

    @cached_property
    def known(self) -> bool:
        """Say whether Slurm knows in what state the node is."""
        return self.base is not None and self.base not in _VAGUE

    @cached_property
    def busy(self) -> bool:
        """Say whether a job is on it, be it one that is just ending."""
        return not self.words.isdisjoint(BUSY)

    @property
    def idle(self) -> bool:
        """Say whether it is up and no job is on it; it may be drained."""
        return self.base == "IDLE" and not self.busy

    @cached_property
    def asked_to_drain(self) -> bool:
        """Say whether a drain is in force."""
        return self.has("DRAIN") and not self.has("UNDRAIN")

    @cached_property
    def drain(self) -> Drain:
        """Return how far its drain is."""
        if self.asked_to_drain and self.busy:
            return Drain.DRAINING
        if not self.known:
            return Drain.UNKNOWN
        return Drain.DRAINED if self.asked_to_drain else Drain.SERVING

    @property
    def draining(self) -> bool:
        """Say whether it drains and a job is still on it."""
        return self.drain is Drain.DRAINING

    @property
    def drained(self) -> bool:
        """Say whether Slurm promises that no job is on it and that none will come."""
        return self.drain is Drain.DRAINED

    @cached_property
    def down(self) -> bool:
        """Say whether Slurm has given it up for now."""
        return self.has("DOWN")

    @cached_property
    def not_responding(self) -> bool:
        """Say whether slurmctld waits for an answer of its slurmd."""
        return self.has("NOT_RESPONDING")

    @property
    def unregistered(self) -> bool:
        """Say whether its slurmd has not yet said what the node is."""
        return self.has("UNKNOWN", "FUTURE")

    @property
    def misregistered(self) -> bool:
        """Say whether its slurmd reported less than the configuration promises."""
        return self.has("INVALID_REG")

    @property
    def in_maintenance(self) -> bool:
        """Say whether it is in a maintenance reservation that runs now."""
        return self.has("MAINTENANCE")

    @property
    def reserved(self) -> bool:
        """Say whether it is in a reservation."""
        return self.has("RESERVED")

    @property
    def rebooting(self) -> bool:
        """Say whether Slurm has asked for its reboot, or will."""
        return self.has("REBOOT_REQUESTED", "REBOOT_ISSUED")

    @property
    def powered_down(self) -> bool:
        """Say whether Slurm's power saving has switched it off."""
        return self.has("POWERED_DOWN")

    @property
    def power_managed(self) -> bool:
        """Say whether Slurm's power saving is at work on it: off, on its way, or about to be."""
        return not self.words.isdisjoint(POWER)

    @property
    def unavailable(self) -> bool:
        """Say whether it is out of service for another reason than power saving."""
        out = not self.words.isdisjoint(_BROKEN) or (self.idle and self.asked_to_drain)
        return out and not self.power_managed

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Return the types of the conditions that it makes true, all with CONDITION_PREFIX."""
        bases = [name for word, name in _BASE_CONDITIONS.items() if self.has(word)][:1]
        flags = [name for word, name in _FLAG_CONDITIONS.items() if self.has(word)]
        return tuple(CONDITION_PREFIX + name for name in (*bases, *flags))

    def down_as_unresponsive(self, reason: str) -> bool:
        """Say whether slurmctld itself gave it up, as its slurmd is silent."""
        return self.down and "Not responding" in reason

    def __str__(self) -> str:
        """Return the form that scontrol shows, flags in alphabetical order."""
        return "+".join([*sorted(self.words & BASES), *sorted(self.flags)])


def parse(told: str | Iterable[str] | None) -> NodeState:
    """Understand slurmrestd's list, or the text of scontrol and sinfo."""
    texts = [told] if isinstance(told, str) else told or ()
    return NodeState(frozenset(word for text in texts for word in _words(text)))


def _words(text: str) -> Iterator[str]:
    # ALLOCATED+ is sinfo's: jobs run there, and others are completing.
    for piece in text.strip().upper().split("+") if text.strip() else ():
        word = piece.rstrip("".join(_SUFFIXES))
        yield from (_SUFFIXES[suffix] for suffix in piece[len(word) :])
        if word:
            yield from _MEANINGS.get(word, (word,))
        elif not piece:
            yield "COMPLETING"


CONDITION_PREFIX = "SlurmNodeState"
# The first of these that holds, then each of those: what a worker shows of its node's state.
_BASE_CONDITIONS = {
    "ALLOCATED": "Allocated",
    "DOWN": "Down",
    "ERROR": "Error",
    "FUTURE": "Future",
    "IDLE": "Idle",
    "MIXED": "Mixed",
    "UNKNOWN": "Unknown",
}
_FLAG_CONDITIONS = {
    "COMPLETING": "Completing",
    "DRAIN": "Drain",
    "FAIL": "Fail",
    "INVALID": "Invalid",
    "INVALID_REG": "InvalidReg",
    "MAINTENANCE": "Maintenance",
    "NOT_RESPONDING": "NotResponding",
    "UNDRAIN": "Undrain",
}
