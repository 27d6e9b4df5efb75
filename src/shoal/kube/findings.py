"""What can be said against an object, and what it takes to find that out. Pure."""

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .kinds import Kind
from .objects import Object


@dataclass(frozen=True)
class Wrong:
    """A field that cannot stay as it is; the message says why, and what to do."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True)
class Doubtful:
    """A field that may not do what its writer hopes for."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


Finding = Wrong | Doubtful
Findings = Iterator[Finding]


@dataclass(frozen=True)
class Verdict:
    """What is said of a write: it may happen if there are no errors."""

    errors: tuple[Wrong, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Return the errors as one text."""
        return "; ".join(str(error) for error in self.errors)


def created(found: Iterable[Finding]) -> Verdict:
    """Judge an object that is new by what was found in it."""
    once = dict.fromkeys(found)
    errors = tuple(one for one in once if isinstance(one, Wrong))
    return Verdict(errors, tuple(str(one) for one in once if isinstance(one, Doubtful)))


def updated(
    found: Iterable[Finding], before: Iterable[Finding], changes: Iterable[Wrong]
) -> Verdict:
    """Judge a change by what it changes; `before` is what was found in the old object.

    What was wrong before is a warning, not an error, so that an object that was once let in can
    still be scaled, marked and deleted.
    """
    once, known = dict.fromkeys(found), set(before)
    fresh = [one for one in once if isinstance(one, Wrong) and one not in known]
    left = [one for one in once if one in known or isinstance(one, Doubtful)]
    return Verdict((*fresh, *changes), tuple(map(str, left)))


class Unknown(enum.Enum):
    """What an answer is when nobody knows."""

    UNKNOWN = "unknown"


Answer = Object | Literal[Unknown.UNKNOWN] | None


class Lookups(Protocol):
    """Other objects, as far as they are known."""

    def find(self, kind: Kind, namespace: str, name: str) -> Answer:
        """Return an object; None only if it certainly is not there."""

    def every(self, kind: Kind, namespace: str) -> Sequence[Object]:
        """Return those of a namespace that are known."""


@dataclass(frozen=True)
class Known:
    """Knows some objects, and of the kinds in `all_of` that there are no others."""

    objects: tuple[Object, ...] = ()
    all_of: frozenset[Kind] = frozenset()

    def find(self, kind: Kind, namespace: str, name: str) -> Answer:
        """Return an object; None only if it certainly is not there."""
        for obj in self.every(kind, namespace):
            if obj["metadata"]["name"] == name:
                return obj
        return None if kind in self.all_of else Unknown.UNKNOWN

    def every(self, kind: Kind, namespace: str) -> Sequence[Object]:
        """Return those of a namespace that are known."""
        return [
            obj
            for obj in self.objects
            if obj["kind"] == kind.kind and obj["metadata"].get("namespace", "") == namespace
        ]
