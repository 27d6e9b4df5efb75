from datetime import UTC, datetime, timedelta

import pytest

from shoal.model.nodeset import Retention, Strategy, Update

from .readings import the

START = "2030-01-31T20:00:00Z"


def updated(**asked) -> Update:
    return the("NodeSet", "workers", updateStrategy=asked).update


def scheduled(**asked):
    return updated(type="ScheduledUpdate", scheduledUpdate=asked).window


def test_without_a_word_a_quarter_of_the_workers_is_replaced_at_a_time_and_claims_stay():
    nodeset = the("NodeSet")
    assert nodeset.update == Update(Strategy.ROLLING, "25%", None)
    assert nodeset.retention == Retention(delete_with_set=False, delete_with_worker=False)
    assert (nodeset.revisions, nodeset.min_ready) == (0, timedelta())
    assert (nodeset.pin, nodeset.prune) == (False, False)


def test_a_window_has_the_name_that_admins_know_and_half_an_hour():
    window = scheduled(startTime=START, flags=["weekly", "MAINT", "Weekly"])
    assert window.reservation == "SlurmOperatorMaint-workers"
    assert window.start == datetime(2030, 1, 31, 20, tzinfo=UTC)
    assert window.duration == timedelta(minutes=30)
    assert window.flags == ("MAINT", "WEEKLY")


@pytest.mark.parametrize("start", ["", "tomorrow", "2030-01-31T20:00:00", "2030-01-31"])
def test_without_a_start_that_can_be_read_no_worker_is_replaced(start):
    assert scheduled(startTime=start) is None
    assert updated(type="ScheduledUpdate").window is None


@pytest.mark.parametrize("text", ["", "soon", "0", "-5m"])
def test_a_duration_that_makes_no_sense_is_the_usual_one(text):
    assert scheduled(startTime=START, duration=text).duration == timedelta(minutes=30)


def test_a_window_of_another_strategy_does_not_count():
    assert updated(type="OnDelete", scheduledUpdate={"startTime": START}).window is None


@pytest.mark.parametrize(
    ("word", "strategy"),
    [
        ("", Strategy.ROLLING),
        ("OnDelete", Strategy.ON_DELETE),
        # What nobody understands ends nobody's job.
        ("Sometimes", Strategy.ON_DELETE),
    ],
)
def test_a_strategy_is_read_by_its_word(word, strategy):
    assert updated(type=word).strategy is strategy


@pytest.mark.parametrize(("word", "deleted"), [("Delete", True), ("Retain", False), ("X", False)])
def test_claims_are_deleted_only_where_that_is_said(word, deleted):
    policy = {"whenDeleted": word, "whenScaled": word}
    found = the("NodeSet", persistentVolumeClaimRetentionPolicy=policy).retention
    assert found == Retention(deleted, deleted)
