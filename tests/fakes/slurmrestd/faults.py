"""What can go wrong between us and slurmrestd, and lies that it tells."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Says:
    """It says this instead, and does nothing."""

    code: int
    body: Any = field(default_factory=dict)  # bytes and str go as they are
    content_type: str = "application/json"


@dataclass(frozen=True)
class Late:
    """It answers, after so many seconds; infinity is a hang."""

    seconds: float


@dataclass(frozen=True)
class Lost:
    """The line is cut, before or after the call was done."""

    after: bool = False


@dataclass(frozen=True)
class Cut:
    """Only so many bytes of the body come; `line`: because the line is cut."""

    size: int
    line: bool = False


Fault = Says | Late | Lost | Cut


@dataclass
class Planned:
    """A fault, and when it comes."""

    fault: Fault
    match: str  # in "METHOD /path"
    times: int
    skip: int

    def due(self, name: str) -> bool:
        """Say whether this call meets it, and count."""
        if self.match not in name or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True
