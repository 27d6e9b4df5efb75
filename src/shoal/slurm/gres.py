"""Generic resources such as gpu:h200:8(S:0-1),shard:32, as nodes and jobs show them. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NOTHING = frozenset({"", "(null)", "N/A"})
_PLAIN = re.compile(r"[^:,()=\s]+")
_COUNT = re.compile(r"(\d{1,20})([KMGTP]?)", re.ASCII | re.IGNORECASE)
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}  # powers of 1024
_ENTRY = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_COMMA = re.compile(r",(?![^()]*\))")  # not within parentheses
_NO_CONSUME = "no_consume"
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)


@dataclass(frozen=True)
class Gres:
    """Some of one resource; `detail` is what Slurm shows in parentheses behind it."""

    name: str
    count: int = 1
    type: str = ""
    no_consume: bool = False  # jobs may ask for it and take nothing away
    detail: str = ""

    def __post_init__(self) -> None:
        fit = _PLAIN.fullmatch(self.name) and (not self.type or _PLAIN.fullmatch(self.type))
        if not fit or self.type == _NO_CONSUME or re.search(r"[()]", self.detail):
            raise ValueError(
                f"{self.name}:{self.type}({self.detail}) is no GRES: name and type have no colon, "
                "comma, space, equals sign or parenthesis"
            )
        if self.count < 0:
            raise ValueError(f"GRES {self.name}: a count of {self.count} is negative")

    @property
    def sockets(self) -> tuple[int, ...]:
        """Return the sockets that it is near to; empty where Slurm does not say."""
        return _numbers(self.detail, "S:")

    @property
    def indices(self) -> tuple[int, ...]:
        """Return the numbers of the devices in use; empty where Slurm does not say."""
        return _numbers(self.detail, "IDX:")

    def __str__(self) -> str:
        """Return the form that slurm.conf and slurmrestd take."""
        words = [self.name, self.type, _NO_CONSUME if self.no_consume else "", str(self.count)]
        return ":".join(word for word in words if word) + (f"({self.detail})" * bool(self.detail))


def _numbers(detail: str, mark: str) -> tuple[int, ...]:
    if not detail.startswith(mark):
        return ()
    ranges = (_RANGE.fullmatch(part) for part in detail.removeprefix(mark).split(","))
    found = [(int(r[1]), int(r[2] or r[1])) for r in ranges if r]
    return tuple(number for low, high in found for number in range(low, high + 1))


def parse(text: str) -> tuple[Gres, ...]:
    """Return the resources that `text` names; anything else is a ValueError."""
    told = text.strip()
    return () if told in _NOTHING else tuple(_parse(part, text) for part in _COMMA.split(told))


def _parse(part: str, text: str) -> Gres:
    # Some versions write an empty type as (null).
    if entry := _ENTRY.fullmatch(part.strip().replace(":(null)", "")):
        name, *words = entry[1].split(":")
        count = _COUNT.fullmatch(words[-1]) if words else None
        words = words[:-1] if count else words
        kinds = [word for word in words if word != _NO_CONSUME]
        if len(kinds) <= 1 and "" not in (name, *kinds):
            number = int(count[1]) * 1024 ** _UNITS[count[2].upper()] if count else 1
            return Gres(name, number, "".join(kinds), _NO_CONSUME in words, entry[2] or "")
    raise ValueError(
        f"{part!r} in {text!r} is no GRES: use name[:type][:count], such as gpu:h200:8"
    )


def write(entries: Iterable[Gres]) -> str:
    """Return `entries` in the order given, as Slurm reads them."""
    return ",".join(map(str, entries))


def total(entries: Iterable[Gres], name: str) -> int:
    """Return how many of `name` there are, of any type."""
    return sum(entry.count for entry in entries if entry.name == name)
