"""Which troubles of a SlurmCluster become events, and how often."""

from datetime import UTC, datetime, timedelta

import pytest

from shoal.controllers.nebius_happenings import LONG, Patience, news
from shoal.kube.conditions import Condition

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE = ("ns", "one")
LOGIN, COMMON = "LoginAvailable", "CommonAvailable"
UNBOUND = "not scheduled: 0/3 nodes: pod has unbound immediate PersistentVolumeClaims."


def condition(message="", type_=LOGIN, status="False", reason="NotAvailable", since=NOW):
    return Condition(type_, status, reason, message, 1, since)


def reasons(before, after):
    return [one.reason for one in news(before, after)]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ConfigRefused: no", "ConfigRefused"),
        ("Missing: Secret s is not there", "Missing"),
        ("KeyLost: Secret s is gone", "KeyLost"),
        ("Refused: Service s: it belongs to Job j", "ObjectRefused"),
        ("Invalid: spec.x", "SpecInvalid"),
        ("DatabaseTaken: claim c", "DatabaseTaken"),
        ("PodsFailing: pod p: ImagePullBackOff", "PodsFailing"),
        ("RootFilling: the Job that fills it has given up: x", "PopulateJailFailed"),
    ],
)
def test_a_trouble_is_told_when_it_comes_and_not_again(message, reason):
    now = [condition(message)]
    assert reasons([], now) == [reason]
    assert reasons([condition(status="True")], now) == [reason]
    assert reasons(now, now) == []


@pytest.mark.parametrize(
    "one",
    [
        condition("Starting: 0 of 1 pods are ready"),
        condition("RootFilling: the shared root is being filled"),
        condition(f"PodsFailing: pod p: {UNBOUND}"),
        condition("maintenance: downscale", reason="Maintenance"),
        condition("Missing: of one that is ready", status="True"),
    ],
)
def test_what_only_takes_its_time_is_no_trouble(one):
    assert news([], [one]) == []


def test_another_trouble_is_told_and_other_words_where_they_say_more_than_a_count():
    before = [condition("ConfigRefused: a")]
    assert reasons(before, [condition("ConfigRefused: b")]) == ["ConfigRefused"]
    assert reasons(before, [condition("Missing: b")]) == ["Missing"]
    failing = [condition("PodsFailing: pod p: restarted 3 times")]
    assert reasons(failing, [condition("PodsFailing: pod p: restarted 4 times")]) == []


def test_what_many_parts_have_is_told_once():
    both = [condition("KeyLost: s", LOGIN), condition("KeyLost: s", COMMON)]
    assert reasons([], both) == ["KeyLost"]


def test_partitions_without_their_nodesets_are_told():
    (told,) = news([], [condition("there is no NodeSet x", "NodeSetRefsResolved")])
    assert (told.reason, told.type, told.note) == (
        "IgnoredNodeSetRefs",
        "Warning",
        "there is no NodeSet x",
    )


def test_a_claim_that_nobody_binds_is_told_when_it_takes_long():
    patience, waits = Patience(), [condition(f"PodsFailing: pod p: {UNBOUND}")]
    patience.overdue(ONE, waits, NOW)
    ((told,), _) = patience.overdue(ONE, waits, NOW + LONG)
    assert (told.reason, UNBOUND in told.note) == ("NotReadyForLong", True)


def test_a_part_that_is_late_is_told_once_and_looked_at_again_in_time():
    patience, waits = Patience(), [condition("Starting: 0 of 1")]
    assert patience.overdue(ONE, waits, NOW) == ([], LONG.total_seconds())
    (late,), again = patience.overdue(ONE, waits, NOW + LONG)
    assert (late.reason, again) == ("NotReadyForLong", None)
    assert late.note == f"not ready for more than 10 minutes: {LOGIN}: Starting: 0 of 1"
    assert patience.overdue(ONE, waits, NOW + 2 * LONG) == ([], None)
    # It was ready meanwhile.
    assert patience.overdue(ONE, [condition(status="True")], NOW + 2 * LONG) == ([], None)
    anew = [condition("Starting: 0 of 1", since=NOW + 2 * LONG)]
    assert patience.overdue(ONE, anew, NOW + 2 * LONG)[0] == []
    assert len(patience.overdue(ONE, anew, NOW + 3 * LONG)[0]) == 1


def test_a_new_process_does_not_tell_what_was_told_before_it():
    waits, later = [condition("Starting: 0 of 1")], NOW + LONG + timedelta(seconds=1)
    assert Patience().overdue(ONE, waits, later) == ([], None)


def test_a_part_that_was_in_known_trouble_is_not_late_at_once():
    patience = Patience()
    assert patience.overdue(ONE, [condition("Missing: s")], NOW) == ([], None)
    mended = [condition("Starting: 0 of 1")]
    assert patience.overdue(ONE, mended, NOW + 2 * LONG) == ([], LONG.total_seconds())


def test_what_is_away_for_maintenance_or_in_known_trouble_is_not_late():
    away = [condition("x", reason="Maintenance"), condition("Missing: s", COMMON)]
    assert Patience().overdue(ONE, away, NOW) == ([], None)
