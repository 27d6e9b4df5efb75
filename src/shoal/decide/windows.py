"""The maintenance window of a NodeSet: a reservation of Slurm's. Pure.

Made for a time to come, changed as the user changes it, and taken away when it is no longer wanted;
while it runs, only its nodes are changed. One that comes back keeps the start to which Slurm has
moved it, as long as that is one of the times that the user asked for.
"""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ..kube.conditions import Condition
from ..model.nodeset import Window
from ..slurm import durations, hostlists
from ..slurm.durations import Open
from ..slurm.reservations import RECURRING, Reservation, differences, maintained
from .plan import Action, Plan, Wait

CREATED = "ReservationCreated"
USERS = frozenset({"slurm"})  # Slurm wants one: whose jobs may run meanwhile
AGAIN_S = 15.0
FIELD = "spec.updateStrategy.scheduledUpdate.startTime"
# Slurm 26.05 takes it for what comes back alone, and 24.11 has no word for it; so it is sent only
# where nothing else helps.
FORCED = "FORCE_START"
FLOATING = "TIME_FLOAT"
# Without it slurmctld takes a start of up to ten minutes ago; the rest is for clocks that differ.
GRACE = timedelta(minutes=5)
_DAY = timedelta(days=1)
_PERIODS: Mapping[str, timedelta] = {
    "HOURLY": timedelta(hours=1),
    "DAILY": _DAY,
    "WEEKDAY": _DAY,
    "WEEKEND": _DAY,
    "WEEKLY": 7 * _DAY,
}
_DAYS = {"WEEKDAY": False, "WEEKEND": True}
# slurmctld sets these by itself, and scontrol has no words for them.
_ITS_OWN = frozenset({"SPEC_NODES", "REOCCURRING"})


@dataclass(frozen=True)
class CreateReservation(Action):
    """Make a reservation."""

    reservation: Reservation


@dataclass(frozen=True)
class ChangeReservation(Action):
    """Change a reservation; None leaves something as it is, and flags are added."""

    name: str
    nodes: frozenset[str] | None = None
    start: datetime | None = None
    duration: timedelta | None = None
    users: frozenset[str] | None = None
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class DeleteReservation(Action):
    """Take a reservation away."""

    name: str


Change = CreateReservation | ChangeReservation | DeleteReservation


class Absence(enum.Enum):
    """That no reservation was seen, and why."""

    NONE = enum.auto()  # Slurm says that there is none
    SILENT = enum.auto()  # Slurm does not answer
    LOST = enum.auto()  # there is no such cluster any more


@dataclass(frozen=True)
class Asked:
    """What a NodeSet asks for."""

    name: str  # of the reservation
    window: Window | None  # None: the user wants none
    nodes: frozenset[str]  # of Slurm's, that are registered
    workers: bool = True  # it shall have some
    deleting: bool = False
    held: bool = False  # its finalizer is there: there may be a reservation
    forcible: bool = False  # Slurm knows FORCE_START
    generation: int = 0


@dataclass(frozen=True)
class Kept:
    """What to do about a window, and what to tell of it."""

    plan: Plan
    condition: Condition | None  # None: none is shown
    hold: bool  # by a finalizer, before anything is done; once false it goes, after what is done


def keep(
    asked: Asked, seen: Reservation | Absence, before: Condition | None, now: datetime
) -> Kept:
    """Return what to do about a NodeSet's window; `before` is the condition that is shown."""
    window = asked.window
    if window is None or asked.deleting or not asked.workers:
        return _taken_away(asked, seen)
    # Slurm's times have whole seconds.
    window = replace(window, start=window.start.replace(microsecond=0))
    if seen is Absence.NONE:
        return _made(asked, window, before, now)
    if isinstance(seen, Absence):
        # What is not known stays as it was told.
        return Kept((), before, asked.held)
    words = f"reservation {asked.name} is there, from {_time(seen.start)} on"
    condition = Condition(CREATED, "True", "Created", words, asked.generation)
    if not asked.nodes:
        # A table of Slurm's that has lost its nodes is no reason to change anything.
        return Kept((), condition, hold=True)
    return Kept(tuple(_changed(asked, window, seen, now)), condition, hold=True)


def _taken_away(asked: Asked, seen: Reservation | Absence) -> Kept:
    if isinstance(seen, Reservation):
        why = "its NodeSet is being deleted" if asked.deleting else "no window is wanted any more"
        # Held until it is seen to be gone.
        return Kept((DeleteReservation(why, seen.name),), None, hold=True)
    if seen is Absence.SILENT and asked.held:
        why = f"Slurm does not say whether reservation {asked.name} is there"
        return Kept((Wait(why, AGAIN_S),), None, hold=True)
    return Kept((), None, hold=False)


def _made(asked: Asked, window: Window, before: Condition | None, now: datetime) -> Kept:
    def told(reason: str, words: str, *plan: Action) -> Kept:
        condition = Condition(CREATED, "False", reason, words, asked.generation)
        return Kept(plan, condition, hold=bool(plan) or asked.held)

    if not asked.nodes:
        return told("NoNodes", "no worker of this NodeSet is registered in Slurm yet")
    vanished = _vanished(before, asked.generation)
    wanted = None if vanished else _begun(asked, window, now)
    if wanted is None and (start := _coming(window, now)):
        wanted = replace(_wanted(asked, window), start=start)
    if wanted is None:
        words = f"{FIELD}: {_time(window.start)} has passed, and there is no reservation"
        return told("NotExists", f"{words}; set a later one")
    create = CreateReservation(f"a window from {_time(wanted.start)} on is wanted", wanted)
    return told("Creating", f"reservation {asked.name} is being made", create)


def _vanished(before: Condition | None, generation: int) -> bool:
    """Say whether there was a reservation for this very spec, which somebody took away or ended."""
    if before is None or before.observed_generation != generation:
        return False
    return before.status == "True" or before.reason == "NotExists"


def _begun(asked: Asked, window: Window, now: datetime) -> Reservation | None:
    """Return the window that should run now, as Slurm can still begin it; None: it cannot."""
    period = _period(window)
    past = (now - window.start) // period * period if period else timedelta()
    start = window.start + past
    if not start <= now < start + window.duration or not _fits(window, start):
        return None
    wanted = replace(_wanted(asked, window), start=start)
    if now - start <= GRACE:
        return wanted
    if FORCED not in window.flags:
        return None
    if period is None:
        # What is left of it.
        begin = now.replace(microsecond=0)
        return replace(wanted, start=begin, duration=_lasting(start + window.duration - begin))
    return replace(wanted, flags=wanted.flags | {FORCED}) if asked.forcible else None


def _coming(window: Window, now: datetime) -> datetime | None:
    """Return the next time at which it shall begin; None: there is none."""
    period = _period(window)
    if window.start > now or period is None:
        return window.start if window.start > now else None
    start = window.start + ((now - window.start) // period + 1) * period
    while not _fits(window, start):
        start += _DAY
    return start


def _fits(window: Window, start: datetime) -> bool:
    """Say whether a day is one of those that a window is for, if it is for some only."""
    days = {weekend for flag, weekend in _DAYS.items() if flag in window.flags}
    return len(days) != 1 or (start.weekday() >= 5) in days


def _period(window: Window) -> timedelta | None:
    return min((_PERIODS[flag] for flag in window.flags if flag in RECURRING), default=None)


def _wanted(asked: Asked, window: Window) -> Reservation:
    flags = frozenset(window.flags) - {FORCED}
    lasting = _lasting(window.duration)
    return maintained(
        Reservation(asked.name, window.start, lasting, asked.nodes, USERS, flags=flags)
    )


def _lasting(duration: timedelta) -> timedelta:
    # In whole minutes, as Slurm has it.
    return timedelta(minutes=max(durations.minutes(duration), 1))


def _changed(asked: Asked, window: Window, seen: Reservation, now: datetime) -> Iterator[Action]:
    wanted = _wanted(asked, window)
    if seen.active_at(now):
        if wanted.nodes != seen.nodes:
            yield ChangeReservation("its nodes changed", seen.name, nodes=wanted.nodes)
        return
    if seen.end is not None and seen.end <= now:
        return  # Slurm itself moves it on, or takes it away
    differ = differences(replace(wanted, start=seen.start), seen)
    start = None if _on_time(window, seen) else _coming(window, now)
    if not differ and start is None:
        return
    if "flags" in differ and seen.flags - _ITS_OWN - {FORCED} - wanted.flags:
        # Not every flag can be taken away, so all of it is.
        why = "it has flags that are not wanted"
        yield DeleteReservation(why, seen.name)
        yield CreateReservation(why, replace(wanted, start=start or seen.start))
        return
    yield ChangeReservation(
        f"the user wants another {', '.join(sorted(differ | ({'start'} if start else set())))}",
        seen.name,
        nodes=wanted.nodes if "nodes" in differ else None,
        start=start,
        duration=_lasting(window.duration) if "duration" in differ else None,
        users=wanted.users if "users" in differ else None,
        flags=wanted.flags - seen.flags,
    )


def _on_time(window: Window, seen: Reservation) -> bool:
    """Say whether it begins at the time that the user asked for, or at one of them."""
    if FLOATING in window.flags:
        return True  # it keeps its distance, so its start is never the same
    late = seen.start - window.start
    period = _period(window)
    return not (late % period if period and late > timedelta() else late)


def whole(new: Reservation) -> ChangeReservation:
    """Return a new reservation as the change that it is: of everything."""
    lasting = None if isinstance(new.duration, Open) else new.duration
    return ChangeReservation("", new.name, new.nodes, new.start, lasting, new.users, new.flags)


# -- for a slurmrestd that cannot write reservations


def commands(action: Change) -> Sequence[str]:
    """Return the words of scontrol that do the same, to be run as SlurmUser or root; no shell."""
    match action:
        case CreateReservation(reservation=new):
            return (*_SCONTROL, "create", "reservation", *_words(whole(new)))
        case ChangeReservation():
            return (*_SCONTROL, "update", "reservation", *_words(action))
        case DeleteReservation(name=name):
            return (*_SCONTROL, "delete", f"ReservationName={name}")


# scontrol reads times in the zone of whoever runs it.
_SCONTROL = ("env", "TZ=UTC0", "scontrol")


def _words(change: ChangeReservation) -> Iterator[str]:
    yield f"ReservationName={change.name}"
    if change.start is not None:
        yield f"StartTime={_time(change.start).removesuffix('Z')}"
    if change.duration is not None:
        yield f"Duration={durations.minutes(change.duration)}"
    if change.nodes is not None:
        yield f"Nodes={hostlists.fold(change.nodes)}"
    if change.users is not None:
        yield f"Users={','.join(sorted(change.users))}"
    if given := sorted(change.flags - _ITS_OWN):
        yield f"Flags={','.join(given)}"


def _time(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
