"""Who drains, and who serves again."""

from datetime import timedelta

import pytest

from shoal.decide.drains import drains
from shoal.decide.plan import DrainWorker, ResumeWorker
from shoal.slurm.reasons import Prefixes

from .fleets import NAMING, NOW, fleet, slurm_node, worker

PREFIXES = Prefixes(NAMING.reason_prefix)
OURS = "slurm-operator: work"
MINUTE = timedelta(minutes=1)


def done(state, reason="", why=None, *, one=None, **fields):
    """Return what is done about a worker that is to be drained because of `why`."""
    one = one or worker()
    seen = fleet(one, slurm=[slurm_node(one.node, state, reason=reason, **fields)])
    return list(drains(seen, lambda _: why, PREFIXES))


DRAIN = [DrainWorker("work", "w-0", "w-0")]


def test_a_worker_that_serves_is_drained_and_then_left_alone():
    assert done("IDLE", why="work") == DRAIN
    assert done("MIXED+DRAIN", OURS, "work") == []


def test_a_drain_of_ours_says_why_as_it_is_now():
    assert done("IDLE+DRAIN", "slurm-operator: earlier", "work") == DRAIN


@pytest.mark.parametrize("state", ["IDLE", "IDLE+DRAIN", "DOWN", "DOWN+DRAIN", "MIXED+DRAIN"])
@pytest.mark.parametrize("why", [None, "work"])
def test_a_foreign_reason_never_changes(state, why):
    assert done(state, "bad disk", why) == []
    assert done(state, "slurm-operators are on strike", why) == []


@pytest.mark.parametrize("why", [None, "work"])
def test_a_drain_without_a_word_is_somebodys(why):
    assert done("IDLE+DRAIN", "", why) == []


def test_a_drain_of_ours_ends_when_nothing_speaks_for_it():
    assert done("IDLE+DRAIN", OURS) == [
        ResumeWorker("nothing speaks against it any more", "w-0", "w-0")
    ]
    assert done("IDLE") == []


@pytest.mark.parametrize("one", [worker(ready=False), worker(began=False), worker(deleting=True)])
def test_a_drain_is_not_lifted_before_the_new_slurmd_is_there(one):
    assert done("IDLE+DRAIN", OURS, one=one) == []


def test_nothing_is_told_of_a_worker_that_slurm_does_not_know():
    one = worker()
    for answer in (None, [], [slurm_node("other-0")]):
        assert list(drains(fleet(one, slurm=answer), lambda _: "work", PREFIXES)) == []
        assert list(drains(fleet(one, slurm=answer), lambda _: None, PREFIXES)) == []


# -- down


DOWN = "DOWN+DYNAMIC_NORM"
BACK = [ResumeWorker("its pod serves again", "w-0", "w-0", down=True)]


@pytest.mark.parametrize("reason", ["Not responding", OURS])
def test_what_went_down_with_an_earlier_pod_serves_again_with_the_next(reason):
    """slurm-operator 1.2.1 leaves a worker down after an update where ReturnToService is 0."""
    one = worker(ready_since=NOW)
    assert done(DOWN, reason, one=one, reason_at=NOW - MINUTE) == BACK
    assert done(DOWN, reason, one=one, reason_at=NOW + MINUTE) == []
    assert done(DOWN, reason, one=one) == []
    assert done(f"{DOWN}+NOT_RESPONDING", reason, one=one, reason_at=NOW - MINUTE) == []


def test_one_that_slurmctld_gave_up_is_drained_too_as_it_may_come_back_by_itself():
    assert done(f"{DOWN}+NOT_RESPONDING", "Not responding", "work") == DRAIN


def test_a_drain_that_somebody_added_to_a_silent_node_without_a_word_stays():
    one, told = worker(ready_since=NOW), {"reason_at": NOW - MINUTE}
    assert done(f"{DOWN}+DRAIN", "Not responding", one=one, **told) == []
    assert done(f"{DOWN}+DRAIN", "Not responding", "work", one=one, **told) == []


@pytest.mark.parametrize("why", [None, "work"])
@pytest.mark.parametrize("state", [DOWN, f"{DOWN}+DRAIN", "IDLE+DRAIN"])
def test_what_an_admin_said_stays_his_when_slurmctld_adds_that_the_node_is_silent(state, why):
    one = worker(ready_since=NOW)
    said = {"reason": "bad disk : Not responding", "reason_at": NOW - MINUTE}
    assert done(state, why=why, one=one, **said) == []


def test_what_an_admin_set_down_stays_down_with_a_new_pod():
    one = worker(ready_since=NOW)
    assert done(DOWN, "bad disk", one=one, reason_at=NOW - MINUTE) == []
    assert done(DOWN, "", one=one, reason_at=NOW - MINUTE) == []
