"""Reservations: a set of nodes kept free from a time on. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .durations import Limit, Open

# What slurmrestd calls them in data_parser v0.0.42 to v0.0.45; one we have not heard of is kept.
FLAGS = frozenset(
    {
        "ALL_NODES", "ANY_NODES", "DAILY", "DURATION_MINUS", "DURATION_PLUS", "FLEX", "FORCE_START",
        "HOURLY", "IGNORE_JOBS", "MAGNETIC", "MAINT", "NO_ANY_NODES", "NO_DAILY", "NO_FLEX",
        "NO_HOLD_JOBS_AFTER_END", "NO_HOURLY", "NO_IGNORE_JOBS", "NO_MAGNETIC", "NO_MAINT",
        "NO_PART_NODES", "NO_PURGE_COMP", "NO_STATIC", "NO_USER_DELETE", "NO_WEEKDAY", "NO_WEEKEND",
        "NO_WEEKLY", "OVERLAP", "PART_NODES", "PURGE_COMP", "REOCCURRING", "REPLACE",
        "REPLACE_DOWN", "SKIP", "SPEC_NODES", "STATIC", "TIME_FLOAT", "TRES_PER_NODE",
        "USER_DELETE", "WEEKDAY", "WEEKEND", "WEEKLY",
    }
)  # fmt: skip
# After its end such a reservation comes back, and slurmctld itself moves its start on.
RECURRING = frozenset({"HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND"})
# slurmctld adds the first two by itself. The third is an order, and it does not show it again.
_NOT_COMPARED = frozenset({"SPEC_NODES", "REOCCURRING", "FORCE_START"})
# As what slurmctld keeps a reservation that was asked for without an end.
_ENDLESS = timedelta(days=365)


@dataclass(frozen=True)
class Reservation:
    """A reservation, wished for or seen."""

    name: str
    start: datetime
    duration: Limit = Open.UNLIMITED
    nodes: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()

    @property
    def recurring(self) -> bool:
        """Say whether it comes back after its end."""
        return not self.flags.isdisjoint(RECURRING)

    @property
    def maintenance(self) -> bool:
        """Say whether its nodes are in maintenance while it runs."""
        return "MAINT" in self.flags

    @property
    def end(self) -> datetime | None:
        """Return when it ends; None means never."""
        if isinstance(self.duration, Open):
            return None
        try:
            return self.start + self.duration
        except OverflowError:
            return None

    def active_at(self, now: datetime) -> bool:
        """Say whether it runs at `now`."""
        return self.start <= now and (self.end is None or now < self.end)

    def creatable_at(self, now: datetime) -> bool:
        """Say whether slurmctld takes it at `now`: a start in the past has to be forced."""
        return self.start > now or "FORCE_START" in self.flags


def maintained(reservation: Reservation) -> Reservation:
    """Return it as a maintenance window: jobs that run there do not stand in its way."""
    asked = {flag.upper() for flag in reservation.flags}
    return replace(reservation, flags=frozenset({"MAINT", "IGNORE_JOBS"} | asked))


def differences(wanted: Reservation, seen: Reservation) -> frozenset[str]:
    """Return the names of the fields in which `seen` is not what was `wanted`."""
    pairs = {
        "nodes": (wanted.nodes, seen.nodes),
        "users": (wanted.users, seen.users),
        "accounts": (wanted.accounts, seen.accounts),
        "duration": (_length(wanted), _length(seen)),
        "flags": (wanted.flags - _NOT_COMPARED, seen.flags - _NOT_COMPARED),
        "start": (_comparable(wanted, seen), seen.start),
    }
    return frozenset(field for field, (one, other) in pairs.items() if one != other)


def _length(reservation: Reservation) -> Limit:
    return _ENDLESS if reservation.duration is Open.UNLIMITED else reservation.duration


def _comparable(wanted: Reservation, seen: Reservation) -> datetime:
    # One that recurs keeps the start that slurmctld has moved on.
    moved_on = wanted.recurring and seen.start > wanted.start
    return seen.start if moved_on else wanted.start
