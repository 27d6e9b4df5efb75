"""Why a node is drained or down, and whose reason that is. Pure.

A reason is the only place where a drain says who asked for it: Slurm's user name is the same for
everybody who holds the key. So a reason begins with a prefix of its owner, and a drain whose reason
begins otherwise is never changed.
"""

import enum
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_CHARACTERS = 256

_TO_SPACE = str.maketrans("\t\r\n\u2028\u2029", "     ")
# What scontrol adds after the reason: who set it and when.
_SIGNATURE = re.compile(
    r"\s*\[(?P<by>[^\[\]]+)@(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown|None)\]\s*\Z", re.ASCII
)
_NOTHING = frozenset({"", "(null)", "none"})  # scontrol's and sinfo's way to say that there is none


class Owner(enum.Enum):
    """Whose reason it is."""

    OURS = enum.auto()
    FOREIGN = enum.auto()
    NOBODY = enum.auto()  # empty: slurmrestd lets anybody drain without a word


@dataclass(frozen=True)
class Prefixes:
    """How the reasons of one owner begin; the dialect supplies them."""

    ours: str  # what we write
    also: tuple[str, ...] = ()  # what counts as ours too: older versions, programs on the nodes

    def owner_of(self, reason: str) -> Owner:
        """Say whose `reason` is."""
        if not reason.strip():
            return Owner.NOBODY
        # A prefix may end in a space, and whoever stores a reason may trim it.
        return Owner.OURS if f"{reason} ".startswith((self.ours, *self.also)) else Owner.FOREIGN

    def may_drain(self, reason: str) -> bool:
        """Say whether a drain of ours would overwrite nobody else's reason."""
        return self.owner_of(reason) is not Owner.FOREIGN

    def may_undrain(self, reason: str) -> bool:
        """Say whether a drain with `reason` is ours to lift; one without a reason is not."""
        return self.owner_of(reason) is Owner.OURS

    def sign(self, text: str) -> str:
        """Return `text` as a reason of ours, fit for Slurm."""
        return self.ours + sanitised(text.removeprefix(self.ours))


@dataclass(frozen=True)
class Reason:
    """A reason with what scontrol says about it; empty where it says nothing."""

    text: str
    by: str = ""
    at: str = ""  # in slurmctld's time zone, which it does not name


def parse(text: str) -> Reason:
    """Understand what scontrol and sinfo show as a reason."""
    told = text.strip()
    found = _SIGNATURE.search(told)
    reason = told[: found.start()] if found else told
    plain = "" if reason in _NOTHING else reason
    return Reason(plain, found["by"], found["at"]) if found else Reason(plain)


def sanitised(text: str) -> str:
    """Return `text` on one line, without control characters, of at most 256 characters."""
    # Surrogates go too: they come from bytes that are no UTF-8, and cannot be sent.
    spaced = text.translate(_TO_SPACE)
    printable = "".join(c for c in spaced if unicodedata.category(c) not in {"Cc", "Cs"})
    return printable.strip()[:MAX_CHARACTERS].rstrip()


def first_mark(reason: str, marks: Iterable[str]) -> str | None:
    """Return the first of `marks` that stands anywhere in `reason`: their order is their rank."""
    return next((mark for mark in marks if mark in reason), None)
