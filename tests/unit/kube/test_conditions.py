"""Conditions: a transition time moves only when the status does."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from shoal.kube.conditions import Condition, carry_transitions, read, settled, write

THEN = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def make(
    status: str = "True", reason: str = "Fine", at: datetime | None = None, **more
) -> Condition:
    return Condition("Ready", status, reason, last_transition=at, **more)


def test_a_new_reason_or_message_does_not_move_the_transition_time():
    (carried,) = carry_transitions([make(reason="Better", message="m")], [make(at=THEN)], NOW)
    assert (carried.last_transition, carried.reason, carried.message) == (THEN, "Better", "m")


def test_a_new_status_moves_the_transition_time():
    (carried,) = carry_transitions([make("False")], [make(at=THEN)], NOW)
    assert carried.last_transition == NOW


def test_a_condition_seen_for_the_first_time_begins_now():
    (carried,) = carry_transitions([make()], [], NOW)
    assert carried.last_transition == NOW


def test_a_condition_that_never_had_a_time_gets_one():
    (carried,) = carry_transitions([make()], [make(at=None)], NOW)
    assert carried.last_transition == NOW


def test_conditions_of_other_types_do_not_matter():
    other = Condition("Other", "False", "No", last_transition=THEN)
    (carried,) = carry_transitions([make("False")], [other], NOW)
    assert carried.last_transition == NOW


def test_a_condition_is_written_as_the_api_has_it():
    there = NOW.astimezone(timezone(timedelta(hours=2)))
    assert write(make(at=there, message="m", observed_generation=3)) == {
        "type": "Ready",
        "status": "True",
        "reason": "Fine",
        "message": "m",
        "observedGeneration": 3,
        "lastTransitionTime": "2026-01-02T00:00:00Z",
    }


def test_what_a_condition_leaves_out_is_no_error():
    assert read({"type": "Ready", "status": "Unknown"}) == Condition("Ready", "Unknown", "")


statuses = st.sampled_from(["True", "False", "Unknown"])
moments = st.integers(10**9, 4 * 10**9).map(lambda second: datetime.fromtimestamp(second, UTC))
conditions = st.builds(
    Condition, st.text(), statuses, st.text(), st.text(), st.integers(0), moments
)


@given(conditions)
def test_a_condition_survives_writing_and_reading(condition):
    assert read(write(condition)) == condition


@given(st.lists(conditions, unique_by=lambda c: c.type), moments)
def test_carrying_over_what_did_not_change_changes_nothing(found, now):
    assert carry_transitions(found, found, now) == found


def test_conditions_are_settled_against_the_status_that_is_there():
    status = {"conditions": [write(make(at=THEN))]}
    (kept,) = settled([make(reason="Better")], status, NOW)
    (begun,) = settled([make()], {}, NOW)
    assert (kept["lastTransitionTime"], kept["reason"]) == ("2026-01-01T00:00:00Z", "Better")
    assert begun["lastTransitionTime"] == "2026-01-02T00:00:00Z"
