"""How many workers there are, and which go."""

import pytest

from shoal.decide.plan import CreateWorker, DeleteWorker, DrainWorker, Wait
from shoal.decide.scale import SLURM_RETRY_S, Worker, Workers, scale
from shoal.slurm.nodes import Drain

from .worlds import Seen, World, make_nodeset


def plan(replicas, *workers, drains=None, silent=False):
    seen = World({w.number: w for w in workers}).seen(silent=silent)
    if drains is not None:
        seen = Workers(seen.all, drains)
    return scale(make_nodeset(replicas), seen)


def test_nothing_is_done_when_all_is_as_asked():
    assert plan(2, Seen(0), Seen(1)) == ()
    assert plan(0) == ()


def test_missing_workers_get_the_lowest_free_numbers():
    assert [a.number for a in plan(4, Seen(1), Seen(5))] == [0, 2]
    assert [a.number for a in plan(3)] == [0, 1, 2]


def test_a_number_is_free_only_once_its_pod_is_gone():
    made = plan(2, Seen(0, ending=True))
    assert [type(a) for a in made] == [CreateWorker]
    assert made[0].number == 1


def test_a_surplus_worker_is_drained_and_then_looked_at_again():
    (action,) = plan(1, Seen(0), Seen(1))
    assert action == DrainWorker("surplus", "w-1", "w-1", SLURM_RETRY_S)


def test_a_surplus_worker_that_drains_is_waited_for():
    (action,) = plan(1, Seen(0), Seen(1, drained=True, busy=True))
    assert isinstance(action, Wait)
    assert "w-1 still runs jobs" in action.why


def test_a_surplus_worker_that_is_drained_is_deleted_that_very_one():
    assert plan(1, Seen(0), Seen(1, drained=True)) == (
        DeleteWorker("surplus and drained", "w-1", "uid-1"),
    )


def test_a_drain_that_somebody_else_made_is_not_made_again():
    made = plan(0, Seen(0, drained=True, busy=True), Seen(1, drained=True))
    assert [type(a) for a in made] == [DeleteWorker, Wait]


@pytest.mark.parametrize("drains", [None, {}, {"w-0": Drain.DRAINED}, {"w-1": Drain.UNKNOWN}])
def test_while_nothing_is_known_of_a_worker_it_stays(drains):
    seen = Workers(World({0: Seen(0), 1: Seen(1)}).seen().all, drains)
    (action,) = scale(make_nodeset(1), seen)
    assert isinstance(action, Wait)
    assert "w-1" in action.why


def test_a_worker_that_never_ran_goes_first_whatever_slurm_says():
    made = plan(2, Seen(0), Seen(1, ran=False), Seen(2), silent=True)
    assert made == (DeleteWorker("surplus, and it never ran", "w-1", "uid-1"),)


def test_a_worker_that_ended_is_cleared_away_also_when_it_is_wanted():
    (action,) = plan(2, Seen(0, over=True), Seen(1))
    assert action == DeleteWorker("it ended (Failed)", "w-0", "uid-0")


@pytest.mark.parametrize("gone", [Seen(0, over=True), Seen(0, ending=True)])
def test_nobody_is_drained_in_the_place_of_one_that_ends_anyway(gone):
    made = plan(2, gone, Seen(1), Seen(2))
    assert not [a for a in made if isinstance(a, DrainWorker)]


def test_of_those_that_run_the_highest_numbers_go():
    made = plan(1, Seen(0), Seen(3), Seen(1))
    assert [a.node for a in made] == ["w-3", "w-1"]


def test_what_slurm_says_of_another_node_is_not_taken_for_this_one():
    worker = Worker(0, Seen(0).pod, "other-name")
    assert Workers([worker], {"w-0": Drain.DRAINED}).drain_of(worker) is Drain.UNKNOWN
