"""How many workers there are, where their number is given."""

import pytest

from shoal.decide.scale import OTHER_MODE, SCALE_IN, by_number, over
from shoal.model.nodeset import Mode

from .fleets import fleet, wanted, worker


def change(replicas, *workers, **fields):
    return by_number(wanted(replicas, **fields), fleet(*workers))


def numbers(made):
    return [action.number for action in made.create]


def test_nothing_is_done_when_all_is_as_asked():
    made = change(2, worker(0), worker(1))
    assert (made.create, dict(made.going)) == ((), {})


def test_missing_workers_get_the_lowest_free_numbers():
    assert numbers(change(4, worker(1), worker(5))) == [0, 2]
    assert numbers(change(3)) == [0, 1, 2]


@pytest.mark.parametrize("there", [worker(0, deleting=True), worker(0, phase="Failed")])
def test_a_number_is_free_only_once_its_pod_is_gone(there):
    assert numbers(change(2, there)) == [1]
    assert numbers(change(1, there)) == []


def test_a_worker_comes_back_to_the_node_it_is_bound_to():
    made = change(2, worker(0), pinned={1: "k-7"})
    assert [(a.number, a.node) for a in made.create] == [(1, "k-7")]


def test_the_surplus_goes_those_first_that_cost_least():
    made = change(1, worker(0), worker(1), worker(2, began=False), worker(3, ready=False))
    assert made.going == dict.fromkeys(["uid-w-2", "uid-w-3", "uid-w-1"], SCALE_IN)


@pytest.mark.parametrize("gone", [worker(0, phase="Succeeded"), worker(0, deleting=True)])
def test_nobody_goes_in_the_place_of_one_that_ends_anyway(gone):
    assert dict(change(2, gone, worker(1), worker(2)).going) == {}


def test_workers_of_the_other_mode_go_and_are_not_counted_as_surplus():
    other = worker(0, name="w-x", host="k-9", mode=Mode.EVERY_NODE)
    made = change(1, other, worker(0))
    assert made.going == {other.uid: OTHER_MODE}
    assert made.create == ()


def test_over_are_those_that_ended_and_nobody_cleared_away():
    ended = worker(1, phase="Failed")
    assert over(fleet(worker(0), ended, worker(2, phase="Failed", deleting=True))) == [ended]
