"""Durations as Kubernetes writes them: 15m, 1h30m, 1.5h. Pure."""

import re
from datetime import timedelta

_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Go takes both: the micro sign and the Greek letter.
_UNITS_S |= {"\u00b5s": 1e-6, "\u03bcs": 1e-6}
_PIECE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|h|m|s)", re.ASCII)
LONGEST_S = 9.2e9  # what Go counts in 64 bits of nanoseconds


def duration(text: str, field: str) -> timedelta:
    """Read a duration; an error names `field`."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    pieces = _PIECE.findall(rest)
    if (rest != "0" and "".join(number + unit for number, unit in pieces) != rest) or not rest:
        raise ValueError(f"{field}: {text!r} is no duration; write it as 15m or 1h30m")
    seconds = sum(float(number) * _UNITS_S[unit] for number, unit in pieces)
    if seconds > LONGEST_S:
        raise ValueError(f"{field}: {text!r} is longer than 292 years; write a shorter one")
    return timedelta(seconds=sign * seconds)
