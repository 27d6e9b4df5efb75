"""Numbers that slurmrestd wraps: `{"set": true, "infinite": false, "number": 5}`. Pure."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec


class Number(msgspec.Struct, frozen=True, gc=False):
    """A number that may be not set or infinite."""

    set: bool = False
    infinite: bool = False
    number: int | float = 0

    @property
    def value(self) -> float | None:
        """Return the number, infinity, or None where it is not set."""
        if self.infinite:
            return math.inf
        return self.number if self.set else None

    @property
    def whole(self) -> int | None:
        """Return the number, or None where it is not set or infinite."""
        return int(self.number) if self.set and not self.infinite else None

    @property
    def time(self) -> int | None:
        """Return seconds since 1970, or None: Slurm writes a time that is not set as 0."""
        return self.whole or None


def wrapped(value: float | None) -> Mapping[str, Any]:
    """Return `value` as slurmrestd reads it; None is "not set", math.inf is infinite."""
    if value is None:
        return {"set": False, "infinite": False, "number": 0}
    if math.isinf(value):
        return {"set": True, "infinite": True, "number": 0}
    return {"set": True, "infinite": False, "number": int(value)}
