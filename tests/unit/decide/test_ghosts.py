from datetime import timedelta

import pytest

from shoal.decide import workers
from shoal.decide.ghosts import CHANCE, RECENT, ghosts, suspected
from shoal.decide.plan import LookInside, RequeueJob, Wait
from shoal.model.workers import Batch

from .fleets import NOW, fleet, slurm_node, wanted, worker

SECOND = timedelta(seconds=1)
STARTED = NOW - timedelta(minutes=3)
BEGAN = STARTED - 8 * SECOND  # young, when its worker was replaced
JOB = Batch(7, "w-0", BEGAN)
UID = "uid-w-0"


def seen(*jobs, started=STARTED, registered=STARTED, state="ALLOCATED", steps=False, **fields):
    """Return a fleet with one worker whose slurmd began three minutes ago, and its job before."""
    one = worker(0, started=started, **fields)
    node = slurm_node("w-0", state, started_at=registered)
    looked = {} if steps is None else {UID: steps}
    return fleet(one, slurm=[node], steps=looked, batches=jobs or (JOB,))


def kinds(plan):
    return [type(action) for action in plan]


def test_a_job_that_began_before_its_slurmd_and_of_which_nothing_runs_is_requeued():
    job = RequeueJob(ghosts(seen())[0].why, 7, "w-0", BEGAN)
    assert ghosts(seen())[0] == job
    assert job in workers.plan(wanted(1), seen())


def test_nothing_is_requeued_before_somebody_has_looked_inside():
    assert kinds(ghosts(seen(steps=None))) == [LookInside, Wait]


def test_a_job_whose_worker_runs_a_step_is_left_alone_whatever_the_clocks_say():
    assert kinds(ghosts(seen(steps=True))) == [Wait]


def test_slurm_has_its_chance_first():
    late = NOW - CHANCE + SECOND
    assert kinds(ghosts(seen(registered=late))) == [Wait]
    assert RequeueJob in kinds(ghosts(seen(registered=NOW - CHANCE)))


@pytest.mark.parametrize("registered", [None, STARTED - timedelta(minutes=1)])
def test_a_slurmd_that_slurm_has_not_heard_of_yet_proves_nothing(registered):
    assert kinds(ghosts(seen(registered=registered))) == [Wait]


def test_a_job_that_has_just_begun_by_slurms_clock_is_looked_at_again_and_no_more():
    # kubelet's clock is ahead.
    young = Batch(7, "w-0", NOW - 10 * SECOND)
    assert kinds(ghosts(seen(young, started=NOW - SECOND))) == [Wait]


def test_a_node_that_does_not_answer_proves_nothing():
    assert kinds(ghosts(seen(state="ALLOCATED+NOT_RESPONDING"))) == [Wait]


@pytest.mark.parametrize(
    "job",
    [
        Batch(7, "w-0", STARTED),
        Batch(7, "w-0", STARTED + SECOND),
        Batch(7, "w-1", BEGAN),
    ],
    ids=["as it began", "after it", "elsewhere"],
)
def test_a_job_that_the_slurmd_itself_started_is_left_alone(job):
    assert ghosts(seen(job)) == []


def test_of_several_jobs_only_the_older_ones_are_requeued():
    newer = Batch(8, "w-0", STARTED + SECOND)
    found = [a.job_id for a in ghosts(seen(JOB, newer)) if isinstance(a, RequeueJob)]
    assert found == [7]


@pytest.mark.parametrize(
    "fields",
    [{"ready": False}, {"deleting": True}, {"started": None}, {"started": NOW - 2 * RECENT}],
    ids=["not ready", "going", "nobody says", "long ago"],
)
def test_other_workers_are_not_looked_at(fields):
    job = Batch(7, "w-0", NOW - 3 * RECENT)
    assert ghosts(seen(job, **fields)) == []


def test_jobs_are_asked_for_only_where_a_busy_worker_has_begun_not_long_ago():
    assert suspected(seen())
    assert not suspected(seen(state="IDLE"))
    assert not suspected(seen(started=NOW - RECENT - SECOND))
    assert not suspected(seen(started=None))
    assert not suspected(fleet(worker(0, started=STARTED), slurm=None))
