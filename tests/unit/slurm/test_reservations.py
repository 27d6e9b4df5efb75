"""Reservations, asked for and seen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shoal.slurm.durations import Open
from shoal.slurm.reservations import FLAGS, RECURRING, Reservation, differences, maintained

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def wanted(*flags: str) -> Reservation:
    return maintained(
        Reservation(
            "SlurmOperatorMaint-w",
            NOON,
            HOUR,
            frozenset({"w-0", "w-1"}),
            users=frozenset({"slurm"}),
            flags=frozenset(flags),
        )
    )


def test_a_maintenance_window_never_waits_for_jobs_and_keeps_what_the_user_asked_for():
    window = wanted("weekly", "MAINT")
    assert window.flags == {"MAINT", "IGNORE_JOBS", "WEEKLY"}
    assert window.maintenance


@pytest.mark.parametrize(
    ("now", "active"),
    [(NOON - HOUR, False), (NOON, True), (NOON + HOUR / 2, True), (NOON + HOUR, False)],
)
def test_it_runs_from_its_start_to_before_its_end(now, active):
    assert wanted().active_at(now) is active


@pytest.mark.parametrize("length", [Open.UNLIMITED, Open.NOT_SET, timedelta.max])
def test_one_without_an_end_runs_for_ever(length):
    endless = replace(wanted(), duration=length)
    assert endless.end is None
    assert endless.active_at(NOON + timedelta(days=3000))


def test_one_in_the_past_is_made_only_by_force():
    assert wanted().creatable_at(NOON - HOUR)
    assert not wanted().creatable_at(NOON)
    assert wanted("FORCE_START").creatable_at(NOON)


def test_what_slurmctld_adds_or_hides_by_itself_is_no_difference():
    seen = replace(wanted(), flags=wanted().flags | {"SPEC_NODES", "REOCCURRING"})
    assert not differences(wanted("FORCE_START"), seen)


def test_a_reservation_without_end_is_kept_for_a_year_and_that_is_no_difference():
    endless = replace(wanted(), duration=Open.UNLIMITED)
    assert not differences(endless, replace(wanted(), duration=timedelta(days=365)))
    assert differences(endless, wanted()) == {"duration"}


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("nodes", frozenset({"w-0"})),
        ("users", frozenset({"root"})),
        ("accounts", frozenset({"a"})),
        ("duration", HOUR * 2),
        ("flags", frozenset({"MAINT"})),
        ("start", NOON + HOUR),
    ],
)
def test_every_other_difference_is_named(field, other):
    assert differences(wanted(), replace(wanted(), **{field: other})) == {field}


@pytest.mark.parametrize("flag", sorted(RECURRING))
def test_the_start_of_a_recurring_one_may_have_moved_on_but_not_back(flag):
    window = wanted(flag)
    assert window.recurring
    assert not differences(window, replace(window, start=NOON + timedelta(days=7)))
    assert differences(window, replace(window, start=NOON - HOUR)) == {"start"}


def test_recurrence_is_said_in_flags_that_slurm_has():
    assert RECURRING < FLAGS
