"""What can be said against an object, and what it takes to find that out. Pure."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ...kube.kinds import Kind
from ...kube.objects import Object


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
