"""Maintenance windows: when a reservation is made, changed, left alone and taken away."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shoal.decide.plan import Wait
from shoal.decide.windows import (
    CREATED,
    Absence,
    Asked,
    ChangeReservation,
    CreateReservation,
    DeleteReservation,
    Kept,
    commands,
    keep,
)
from shoal.kube.conditions import Condition
from shoal.model.nodeset import Window
from shoal.slurm.reservations import Reservation

NAME = "SlurmOperatorMaint-w"
NOW = datetime(2026, 5, 6, 12, 0, tzinfo=UTC)  # a Wednesday
HOUR = timedelta(hours=1)
NODES = frozenset({"w-0", "w-1"})
USUAL = frozenset({"MAINT", "IGNORE_JOBS"})


def asking(start: datetime = NOW + HOUR, *flags: str, nodes=NODES, **more) -> Asked:
    window = Window(NAME, start, HOUR, flags)
    return Asked(NAME, window, nodes, **{"held": True, "generation": 1, **more})


def there(start: datetime = NOW + HOUR, *flags: str, **more) -> Reservation:
    """Return what Slurm shows of a window."""
    shown = USUAL | {"SPEC_NODES"} | set(flags) - {"FORCE_START"}
    usual = {"duration": HOUR, "nodes": NODES, "users": frozenset({"slurm"}), "flags": shown}
    return Reservation(NAME, start, **usual | more)


def shown(status: str, reason: str, generation: int = 1) -> Condition:
    return Condition(CREATED, status, reason, "", generation)


def decided(asked: Asked, seen, before: Condition | None = None, now: datetime = NOW) -> Kept:
    return keep(asked, seen, before, now)


# -- made


def test_a_window_to_come_is_made_behind_a_finalizer():
    kept = decided(asking(held=False), Absence.NONE)
    wanted = Reservation(NAME, NOW + HOUR, HOUR, NODES, frozenset({"slurm"}), flags=USUAL)
    assert kept.plan == (
        CreateReservation("a window from 2026-05-06T13:00:00Z on is wanted", wanted),
    )
    assert kept.hold
    assert (kept.condition.status, kept.condition.reason) == ("False", "Creating")


def test_a_window_that_is_there_is_left_alone_and_told():
    kept = decided(asking(), there())
    assert kept.plan == ()
    assert kept.hold
    assert (kept.condition.status, kept.condition.reason) == ("True", "Created")
    assert kept.condition.observed_generation == 1


def test_the_users_flags_come_to_ours_and_odd_times_are_rounded_up():
    asked = asking(NOW + timedelta(seconds=90, microseconds=5), "FLEX", "MAINT")
    asked = replace(asked, window=replace(asked.window, duration=timedelta(seconds=61)))
    (create,) = decided(asked, Absence.NONE).plan
    assert create.reservation.flags == USUAL | {"FLEX"}
    assert create.reservation.duration == timedelta(minutes=2)
    assert create.reservation.start.microsecond == 0
    assert decided(asked, create.reservation).plan == ()


def test_a_window_that_has_passed_is_not_made_and_the_cure_is_told():
    kept = decided(asking(NOW - HOUR, held=False), Absence.NONE)
    assert (kept.plan, kept.hold) == ((), False)
    assert kept.condition.reason == "NotExists"
    assert "scheduledUpdate.startTime" in kept.condition.message
    assert "set a later one" in kept.condition.message


def test_a_window_without_registered_nodes_waits_for_them():
    kept = decided(asking(nodes=frozenset(), held=False), Absence.NONE)
    assert (kept.plan, kept.hold, kept.condition.reason) == ((), False, "NoNodes")


def test_a_window_to_come_that_somebody_deleted_is_made_again():
    for before in (shown("True", "Created"), shown("False", "NotExists")):
        kept = decided(asking(), Absence.NONE, before)
        assert [type(action) for action in kept.plan] == [CreateReservation]


def test_a_window_that_has_just_begun_is_still_made():
    begun = NOW - timedelta(minutes=5)
    (create,) = decided(asking(begun), Absence.NONE).plan
    assert create.reservation.start == begun
    assert decided(asking(begun - timedelta(seconds=1)), Absence.NONE).plan == ()


# -- forced


def test_a_forced_window_that_has_begun_gets_what_is_left_of_it_and_no_flag():
    (create,) = decided(asking(NOW - timedelta(minutes=20), "FORCE_START"), Absence.NONE).plan
    made = create.reservation
    assert (made.start, made.duration) == (NOW, timedelta(minutes=40))
    assert made.flags == USUAL


def test_a_forced_window_to_come_needs_no_flag():
    (create,) = decided(asking(NOW + HOUR, "FORCE_START"), Absence.NONE).plan
    assert create.reservation.flags == USUAL


def test_a_forced_window_that_comes_back_begins_in_its_middle_where_slurm_can():
    asked = asking(NOW - timedelta(days=3, minutes=20), "FORCE_START", "DAILY")
    (create,) = decided(replace(asked, forcible=True), Absence.NONE).plan
    assert create.reservation.start == NOW - timedelta(minutes=20)
    assert create.reservation.flags == USUAL | {"FORCE_START", "DAILY"}
    (create,) = decided(asked, Absence.NONE).plan
    assert create.reservation.start == NOW + timedelta(days=1, minutes=-20)
    assert create.reservation.flags == USUAL | {"DAILY"}


def test_a_forced_window_of_another_day_does_not_begin_today():
    asked = asking(NOW - timedelta(days=3, minutes=20), "FORCE_START", "WEEKEND", forcible=True)
    (create,) = decided(asked, Absence.NONE).plan
    assert create.reservation.start == NOW + timedelta(days=3, minutes=-20)


def test_a_forced_window_whose_creation_came_to_nothing_is_tried_again():
    asked = asking(NOW - timedelta(minutes=10), "FORCE_START")
    first = decided(asked, Absence.NONE)
    assert decided(asked, Absence.NONE, first.condition).plan == first.plan


def test_a_forced_window_that_is_over_is_not_made_for_ever_again():
    begun = NOW - timedelta(minutes=60)
    assert decided(asking(begun, "FORCE_START"), Absence.NONE).plan == ()


def test_a_window_that_somebody_ended_stays_ended_until_the_spec_changes():
    for begun in (timedelta(minutes=3), timedelta(minutes=10)):
        asked = asking(NOW - begun, "FORCE_START")
        ended = decided(asked, Absence.NONE, shown("True", "Created"))
        assert (ended.plan, ended.condition.reason) == ((), "NotExists")
        assert decided(asked, Absence.NONE, ended.condition).plan == ()
        assert decided(replace(asked, generation=2), Absence.NONE, ended.condition).plan != ()


# -- recurring


@pytest.mark.parametrize(
    ("flag", "start"),
    [
        ("HOURLY", datetime(2026, 5, 6, 12, 30, tzinfo=UTC)),
        ("DAILY", datetime(2026, 5, 7, 1, 30, tzinfo=UTC)),
        ("WEEKLY", datetime(2026, 5, 8, 1, 30, tzinfo=UTC)),  # a Friday, as the first
        ("WEEKDAY", datetime(2026, 5, 7, 1, 30, tzinfo=UTC)),
        ("WEEKEND", datetime(2026, 5, 9, 1, 30, tzinfo=UTC)),
    ],
)
def test_a_window_that_comes_back_is_made_for_its_next_time(flag, start):
    asked = asking(datetime(2024, 3, 1, 1, 30, tzinfo=UTC), flag)
    (create,) = decided(asked, Absence.NONE).plan
    assert create.reservation.start == start


@pytest.mark.parametrize("flag", ["HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND"])
def test_a_window_that_comes_back_keeps_the_start_that_slurm_moved_on(flag):
    first = NOW - 21 * 24 * HOUR + timedelta(minutes=30)
    moved_on = there(NOW + timedelta(minutes=30), flag, "REOCCURRING")
    assert decided(asking(first, flag), moved_on).plan == ()


def test_a_window_that_comes_back_is_moved_when_the_user_moves_it_earlier():
    asked = asking(NOW - 20 * 24 * HOUR - HOUR, "DAILY")
    (change,) = decided(asked, there(NOW + 3 * HOUR, "DAILY")).plan
    assert change == ChangeReservation("the user wants another start", NAME, start=NOW + 23 * HOUR)


def test_a_floating_window_keeps_its_distance():
    assert decided(asking(NOW + HOUR, "TIME_FLOAT"), there(NOW + 2 * HOUR, "TIME_FLOAT")).plan == ()


# -- changed


def test_a_window_to_come_is_changed_in_what_differs_only():
    seen = there(duration=2 * HOUR, nodes=frozenset({"w-0"}))
    (change,) = decided(asking(NOW + 3 * HOUR, "FLEX"), seen).plan
    assert change == ChangeReservation(
        "the user wants another duration, flags, nodes, start",
        NAME,
        nodes=NODES,
        start=NOW + 3 * HOUR,
        duration=HOUR,
        flags=frozenset({"FLEX"}),
    )


def test_other_users_are_put_right():
    (change,) = decided(asking(), there(users=frozenset({"alice"}))).plan
    assert change == ChangeReservation(
        "the user wants another users", NAME, users=frozenset({"slurm"})
    )


def test_a_flag_that_is_not_wanted_makes_it_anew():
    gone, new = decided(asking(), there(NOW + HOUR, "WEEKLY")).plan
    assert gone == DeleteReservation("it has flags that are not wanted", NAME)
    assert (new.reservation.start, new.reservation.flags) == (NOW + HOUR, USUAL)


def test_a_start_in_the_past_cannot_be_asked_of_a_window_to_come():
    assert decided(asking(NOW - HOUR), there(NOW + HOUR)).plan == ()


def test_in_a_window_that_runs_only_the_nodes_are_changed():
    begun = NOW - timedelta(minutes=5)
    seen = there(begun, "WEEKLY", duration=2 * HOUR, users=frozenset({"alice"}))
    assert decided(asking(NOW + HOUR), seen).plan == ()
    fewer = frozenset({"w-1"})
    kept = decided(asking(NOW + HOUR, nodes=fewer), seen)
    assert kept.plan == (ChangeReservation("its nodes changed", NAME, nodes=fewer),)


def test_a_window_that_is_over_is_slurms_to_take_away():
    assert decided(asking(NOW + HOUR), there(NOW - 2 * HOUR)).plan == ()


@pytest.mark.parametrize("start", [NOW + HOUR, NOW - timedelta(minutes=5)])
def test_a_slurm_that_has_lost_its_nodes_is_no_reason_to_change_a_window(start):
    kept = decided(asking(start, nodes=frozenset()), there(start))
    assert (kept.plan, kept.hold, kept.condition.status) == ((), True, "True")


@pytest.mark.parametrize("absence", [Absence.SILENT, Absence.LOST])
def test_silence_changes_nothing_and_tells_nothing_new(absence):
    before = shown("True", "Created")
    kept = decided(asking(), absence, before)
    assert (kept.plan, kept.condition, kept.hold) == ((), before, True)


# -- taken away

UNWANTED = {
    "another strategy": {"window": None},
    "no workers": {"workers": False},
    "deleted": {"deleting": True},
}


@pytest.mark.parametrize("why", UNWANTED)
def test_a_window_that_is_not_wanted_is_taken_away_before_the_finalizer_goes(why):
    asked = replace(asking(), **UNWANTED[why])
    kept = decided(asked, there())
    assert [type(action) for action in kept.plan] == [DeleteReservation]
    assert (kept.condition, kept.hold) == (None, True)
    assert decided(asked, Absence.NONE) == Kept((), None, hold=False)


@pytest.mark.parametrize("why", UNWANTED)
def test_without_an_answer_the_finalizer_stays_and_without_a_cluster_it_goes(why):
    asked = replace(asking(), **UNWANTED[why])
    (wait,) = decided(asked, Absence.SILENT).plan
    assert isinstance(wait, Wait)
    assert decided(asked, Absence.SILENT).hold
    assert decided(asked, Absence.LOST) == Kept((), None, hold=False)


@pytest.mark.parametrize("why", UNWANTED)
def test_who_never_had_a_window_waits_for_nobody(why):
    asked = replace(asking(held=False), **UNWANTED[why])
    assert decided(asked, Absence.SILENT) == Kept((), None, hold=False)


# -- by scontrol


def test_a_creation_in_the_words_of_scontrol():
    (create,) = decided(asking(NOW + HOUR, "WEEKLY"), Absence.NONE).plan
    assert commands(create) == (
        "env", "TZ=UTC0", "scontrol", "create", "reservation", f"ReservationName={NAME}",
        "StartTime=2026-05-06T13:00:00", "Duration=60", "Nodes=w-[0-1]", "Users=slurm",
        "Flags=IGNORE_JOBS,MAINT,WEEKLY",
    )  # fmt: skip


def test_a_time_of_any_zone_is_told_in_that_of_the_command():
    asked = asking(datetime.fromisoformat("2026-05-06T20:00:00+05:30"))
    (create,) = decided(asked, Absence.NONE).plan
    assert "StartTime=2026-05-06T14:30:00" in commands(create)


def test_a_change_names_what_changes_only():
    change = ChangeReservation("", NAME, nodes=frozenset({"w-1"}))
    words = ("env", "TZ=UTC0", "scontrol", "update", "reservation")
    assert commands(change) == (*words, f"ReservationName={NAME}", "Nodes=w-1")
    flags = replace(change, nodes=None, duration=HOUR, flags=frozenset({"FLEX", "SPEC_NODES"}))
    assert commands(flags)[-2:] == ("Duration=60", "Flags=FLEX")


def test_a_deletion_in_the_words_of_scontrol():
    words = ("env", "TZ=UTC0", "scontrol", "delete", f"ReservationName={NAME}")
    assert commands(DeleteReservation("", NAME)) == words
