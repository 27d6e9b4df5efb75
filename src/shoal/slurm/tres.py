"""Trackable resources such as cpu=4,mem=16G,gres/gpu:h200=8,billing=4. Pure.

Memory is in MiB, as in Slurm; all else is a plain count. K, M, G, T and P are powers of 1024.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal

MEMORY = "mem"
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_MIB = _UNITS["M"]
_NAME = re.compile(r"[^=,\s]+")
_AMOUNT = re.compile(r"(\d{1,30}(?:\.\d{1,9})?)([KMGTP]?)", re.ASCII | re.IGNORECASE)
# The built-in ones come first, in the order of their numbers in the database.
_ORDER = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
_NOTHING = frozenset({"", "(null)", "N/A"})


class Tres(Mapping[str, int]):
    """Amounts by name, frozen; a resource that is not named has the amount 0."""

    __slots__ = ("_amounts",)

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        for name, amount in (amounts or {}).items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no TRES name: it has no comma, space or equals sign")
            if amount < 0:
                raise ValueError(f"TRES {name}={amount}: an amount is not negative")
        self._amounts = dict(amounts or {})

    def __getitem__(self, name: str) -> int:
        return self._amounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __hash__(self) -> int:
        return hash(frozenset(self._amounts.items()))

    def __repr__(self) -> str:
        return f"Tres({write(self)!r})"

    def __add__(self, other: "Tres") -> "Tres":
        names = dict.fromkeys((*self, *other))
        return Tres({name: self.amount(name) + other.amount(name) for name in names})

    def amount(self, name: str) -> int:
        """Return how much of `name` there is; 0 where it is not named."""
        return self._amounts.get(name, 0)

    def fits_in(self, room: "Tres") -> bool:
        """Say whether there is room for every amount."""
        return all(amount <= room.amount(name) for name, amount in self.items())

    @property
    def gpus(self) -> int:
        """Return the number of GPUs of any type."""
        # gres/gpu counts them all; where only types are tracked, they are added up.
        if "gres/gpu" in self._amounts:
            return self._amounts["gres/gpu"]
        return sum(n for name, n in self.items() if name.startswith("gres/gpu:"))


def parse(text: str) -> Tres:
    """Return the resources that `text` names; anything else is a ValueError."""
    amounts: dict[str, int] = {}
    told = "" if text.strip() in _NOTHING else text.strip()
    for part in told.split(",") if told else ():
        name, _, value = part.partition("=")
        amount = _AMOUNT.fullmatch(value)
        if amount is None or not _NAME.fullmatch(name):
            raise ValueError(f"{part!r} in {text!r} is no TRES: use name=amount, such as mem=16G")
        if name in amounts:
            raise ValueError(f"{name} stands twice in {text!r}: name each TRES once")
        amounts[name] = _counted(name, Decimal(amount[1]), amount[2].upper())
    return Tres(amounts)


def _counted(name: str, number: Decimal, unit: str) -> int:
    power = _UNITS[unit or ("M" if name == MEMORY else "")] - (_MIB if name == MEMORY else 0)
    # slurmctld rounds what it shows, so that mem=3.91G is no whole number of MiB.
    return int((number * Decimal(1024) ** power).to_integral_value(ROUND_HALF_UP))


def write(tres: Mapping[str, int]) -> str:
    """Return `tres` as Slurm reads it, always in the same order."""
    names = sorted(tres, key=lambda name: (_rank(name), name))
    return ",".join(f"{name}={_amount(name, tres[name])}" for name in names)


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _amount(name: str, number: int) -> str:
    if name != MEMORY:
        return str(number)
    # Without a unit Slurm's tools disagree on what a number of memory means.
    units = iter("MGTP")
    unit = next(units)
    while number and number % 1024 == 0 and (larger := next(units, "")):
        number, unit = number // 1024, larger
    return f"{number}{unit}"
