"""Time limits as Slurm writes them: 90, 30:00, 1-12, 2-03:04:05, UNLIMITED, NOT_SET. Pure."""

import enum
import re
from datetime import timedelta


class Open(enum.Enum):
    """A time limit that is no length of time."""

    UNLIMITED = "UNLIMITED"
    NOT_SET = "NOT_SET"


Limit = timedelta | Open

_WORDS = {
    "UNLIMITED": Open.UNLIMITED,
    "INFINITE": Open.UNLIMITED,
    "-1": Open.UNLIMITED,
    "NOT_SET": Open.NOT_SET,
    "PARTITION_LIMIT": Open.NOT_SET,  # scontrol's word for it
}
# man sbatch, --time. Without days, a single colon parts minutes from seconds; with days, hours from
# minutes. Nine digits hold more than Slurm does, and keep the numbers small.
_N = r"(\d{1,9})"
_FORMS = (
    (re.compile(_N, re.ASCII), ("minutes",)),
    (re.compile(f"{_N}:{_N}", re.ASCII), ("minutes", "seconds")),
    (re.compile(f"{_N}:{_N}:{_N}", re.ASCII), ("hours", "minutes", "seconds")),
    (re.compile(f"{_N}-{_N}", re.ASCII), ("days", "hours")),
    (re.compile(f"{_N}-{_N}:{_N}", re.ASCII), ("days", "hours", "minutes")),
    (re.compile(f"{_N}-{_N}:{_N}:{_N}", re.ASCII), ("days", "hours", "minutes", "seconds")),
)


def parse(text: str) -> Limit:
    """Return the time limit that `text` means; anything else is a ValueError."""
    if word := _WORDS.get(text.upper()):
        return word
    for form, units in _FORMS:
        if found := form.fullmatch(text):
            numbers = map(int, found.groups())
            try:
                return timedelta(**dict(zip(units, numbers, strict=True)))
            except OverflowError:
                break
    raise ValueError(
        f"{text!r} is no time limit: use minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS "
        "or UNLIMITED"
    )


def write(limit: Limit) -> str:
    """Return `limit` as scontrol shows it; a part of a second is dropped."""
    if isinstance(limit, Open):
        return limit.value
    if limit < timedelta(0):
        raise ValueError(f"a time limit of {limit.total_seconds():g} s: it must not be negative")
    minutes, seconds = divmod(limit.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours:02}:{minutes:02}:{seconds:02}"
    return f"{limit.days}-{clock}" if limit.days else clock


def minutes(limit: timedelta) -> int:
    """Return whole minutes, rounded up as Slurm does: its limits have no seconds."""
    return -(-limit // timedelta(minutes=1))
