"""A request as slurmrestd hands it on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """A request for a path that is served."""

    version: int
    names: list[str]  # what stood in the path's gaps
    query: Mapping[str, str]
    body: Any
    user: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def since(self) -> int | None:
        """Return since when the caller wants to hear of changes."""
        return int(self.query["update_time"]) if "update_time" in self.query else None

    def warn_of_strangers(self, known: frozenset[str]) -> None:
        """Ignore fields that slurmrestd has not heard of, and say so."""
        for name in [name for name in self.body if name not in known]:
            self.warnings.append(f'Ignoring unknown field "{name}" of type string')
            del self.body[name]


class Unchanged(Exception):  # noqa: N818 - an answer of the server, no error of ours
    """Nothing changed: 304, and no body."""
