"""Hostlists such as `w-[0-3,5],login`, and the names that they stand for. Pure.

Slurm's own reader (24.11 and 26.05 were asked) differs in what it lets pass, and all of that is an
error here, as it would be read as other names than were meant:

* `n[[1]]` and `n]1` are names to Slurm, `n[1, 3]` is n1 and n03 to it.
* A number from 2^64-1 on becomes 2^64-1. Here a number has up to 18 digits after its leading zeros.
* `switch{s1}` and other functions are known to slurmctld alone.

Of several groups in a name (`r[0-1]n[00-03]`) the last counts fastest, in Slurm too for up to two.
A fold is what `scontrol show hostlistsorted` gives: the last number of a name is folded, not the
ones before it. Where padded and plain numbers meet (n9, n09, n10), it follows ClusterShell.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

MAX_NAMES = 1_000_000
MAX_RANGE = 65_536  # MAX_RANGE in Slurm's hostlist.c; one name more, and it refuses the hostlist

_DIGITS = "0123456789"
_MAX_DIGITS = 18
_SHOWN = 60
_TOKEN = re.compile(r"(?P<gap>[\s,]+)|\[(?P<group>[^\[\]]*)\]|(?P<word>[\w./:-]+)", re.ASCII)
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_NAME = re.compile(r"[\w./:-]+", re.ASCII)

# The ways to write one part of a name: a single one for plain text.
_Ways = Sequence[str]


class HostlistError(ValueError):
    """A hostlist that Slurm refuses or reads as other names; says where, and why."""

    def __init__(self, text: str, position: int, why: str) -> None:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        super().__init__(f"hostlist {shown!r}, character {position + 1}: {why}")
        self.position = position


def expand(text: str) -> tuple[str, ...]:
    """Return the names in the order written, each once."""
    names: dict[str, None] = {}
    total = 0
    for position, parts in _items(text):
        total += prod(len(ways) for ways in parts)
        _check_size(text, position, total)
        for chosen in product(*parts):
            name = "".join(chosen)
            _check_number(text, position, name)
            names[name] = None
    return tuple(names)


def fold(names: Iterable[str]) -> str:
    """Return the shortest hostlist in Slurm's own form: sorted, and the same for the same names."""
    numbers: dict[str, list[str]] = {}
    for name in set(names):
        if not _NAME.fullmatch(name):
            raise HostlistError(
                name, _first_stray(name), "a name has letters, digits and - _ . / : only"
            )
        _check_number(name, 0, name)
        prefix = name.rstrip(_DIGITS)
        numbers.setdefault(prefix, []).append(name[len(prefix) :])
    prefixes = sorted(numbers, key=_natural)
    return ",".join(item for prefix in prefixes for item in _folded(prefix, numbers[prefix]))


def _items(text: str) -> Iterator[tuple[int, list[_Ways]]]:
    parts: list[_Ways] = []
    start = position = 0
    size = 1
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise HostlistError(text, position, _stray(text, position))
        if token["gap"]:
            if parts:
                yield start, parts
            parts, size, start = [], 1, token.end()
        elif token["word"]:
            parts.append((token["word"],))
        else:
            parts.append(_group(text, token.start("group"), token["group"]))
            size *= len(parts[-1])
            _check_size(text, start, size)  # before the next group is written out
        position = token.end()
    if parts:
        yield start, parts


def _stray(text: str, position: int) -> str:
    """Say what is wrong with the character that starts neither a word nor a whole group."""
    character = text[position]
    if character == "]":
        return "a ] without its ["
    if character == "[":
        inner = text.find("[", position + 1)
        outer = text.find("]", position)
        return "a [ inside of [...]" if 0 < inner < outer else "a [ without its ]"
    if character in "{}":
        return "a function such as switch{...} is known to slurmctld alone; write the names"
    return f"{character!r} is not for names; separate them by commas"


def _group(text: str, position: int, inside: str) -> _Ways:
    ways: list[str] = []
    for part in inside.split(","):
        found = _RANGE.fullmatch(part)
        if not found:
            raise HostlistError(
                text, position, f"{part!r} is no number and no range; write [0-3,5]"
            )
        low, high = found[1], found[2] or found[1]
        if max(len(low.lstrip("0")), len(high.lstrip("0"))) > _MAX_DIGITS:
            raise HostlistError(text, position, f"Slurm reads at most {_MAX_DIGITS} digits")
        first, last = int(low), int(high)
        if first > last:
            raise HostlistError(text, position, f"the range {part} runs backwards")
        if last - first >= MAX_RANGE:
            raise HostlistError(
                text, position, f"Slurm takes at most {MAX_RANGE} names in a range; split {part}"
            )
        _check_size(text, position, len(ways) + last - first)
        width = len(low)  # as Slurm: `1-010` is not padded, `01-3` is
        ways.extend(f"{number:0{width}d}" for number in range(first, last + 1))
        position += len(part) + 1
    return ways


def _check_size(text: str, position: int, names: int) -> None:
    if names > MAX_NAMES:
        raise HostlistError(text, position, f"stands for more than {MAX_NAMES} names")


def _check_number(text: str, position: int, name: str) -> None:
    # Most names are shorter than that, and it is asked for each one.
    if len(name) <= _MAX_DIGITS:
        return
    if len(name[len(name.rstrip(_DIGITS)) :].lstrip("0")) > _MAX_DIGITS:
        raise HostlistError(
            text,
            position,
            f"{name} ends in more than {_MAX_DIGITS} digits, which Slurm reads as another number;"
            " end it in a letter",
        )


def _first_stray(name: str) -> int:
    found = _NAME.match(name)
    return found.end() if found else 0


def _natural(prefix: str) -> tuple[list[str | int], str]:
    """Order a2 before a10; words and numbers take turns, so that like meets like."""
    words = re.split(r"([0-9]+)", prefix)
    return [int(word) if at % 2 else word for at, word in enumerate(words)], prefix


def _folded(prefix: str, numbers: list[str]) -> list[str]:
    bare = [prefix] if "" in numbers else []
    runs = list(_runs(sorted(filter(None, numbers), key=lambda number: (len(number), number))))
    if not runs:
        return bare
    if len(runs) == 1 and "-" not in runs[0]:
        return [*bare, f"{prefix}{runs[0]}"]
    return [*bare, f"{prefix}[{','.join(runs)}]"]


def _runs(numbers: list[str]) -> Iterator[str]:
    """Return the ranges in `numbers`, which come by width and then by value."""
    padded = {len(number) for number in numbers if number[0] == "0" and number != "0"}
    first = last = ""
    for number in numbers:
        # 9 is followed by 10 as long as neither of them belongs to padded ones.
        joins = len(number) == len(last) or not padded & {len(number), len(last)}
        if last and joins and int(last) + 1 == int(number) < int(first) + MAX_RANGE:
            last = number
            continue
        if last:
            yield first if first == last else f"{first}-{last}"
        first = last = number
    if last:
        yield first if first == last else f"{first}-{last}"
