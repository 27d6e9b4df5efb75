"""In which order workers go."""

from datetime import timedelta

import pytest

from shoal.decide.order import end, first_to_go

from .fleets import NAMING, NOW, fleet, slurm_node, worker

COST, CORDON = NAMING.annotations.pod_deletion_cost, NAMING.annotations.pod_cordon
HOUR = timedelta(hours=1)


def order(*workers, **fields):
    seen = fleet(*workers, **fields)
    return [w.name for w in first_to_go(list(workers), seen, NAMING.annotations)]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"host": ""}, {"began": False}),
        ({"began": False}, {}),
        ({"phase": "Unknown"}, {"ready": False}),
        ({"ready": False}, {"annotations": {COST: "-5"}}),
        ({"annotations": {COST: "-5"}}, {}),
        ({}, {"annotations": {COST: "1"}}),
        ({"annotations": {CORDON: "true"}}, {}),
    ],
)
def test_who_costs_less_goes_first(first, then):
    # The higher number would go first if all else were equal.
    assert order(worker(1, **then), worker(0, **first)) == ["w-0", "w-1"]


def test_of_equals_the_highest_number_goes_first():
    assert order(worker(0), worker(10), worker(9)) == ["w-10", "w-9", "w-0"]


def test_the_idle_go_first_and_then_those_whose_jobs_end_first():
    ends = {"w-2": NOW + 2 * HOUR, "w-1": NOW + HOUR}
    slurm = [slurm_node("w-2", "MIXED"), slurm_node("w-1", "MIXED+DRAIN"), slurm_node("w-0")]
    there = (worker(2), worker(1), worker(0))
    assert order(*there, slurm=slurm, ends=ends) == ["w-0", "w-1", "w-2"]


def test_a_job_that_is_not_known_yet_ends_after_all_that_are():
    slurm = [slurm_node("w-1", "MIXED"), slurm_node("w-0", "MIXED")]
    assert order(worker(1), worker(0), slurm=slurm, ends={"w-0": NOW + HOUR}) == ["w-0", "w-1"]


def test_a_job_that_is_over_costs_nothing_though_its_deadline_is_known():
    slurm = [slurm_node("w-1", "MIXED"), slurm_node("w-0")]
    ends = {"w-0": NOW + 2 * HOUR, "w-1": NOW + HOUR}
    assert order(worker(1), worker(0), slurm=slurm, ends=ends) == ["w-0", "w-1"]


def test_a_deletion_cost_outweighs_a_deadline():
    dear = worker(0, annotations={COST: "100"})
    slurm = [slurm_node("w-0"), slurm_node("w-1", "MIXED")]
    assert order(dear, worker(1), slurm=slurm, ends={"w-1": NOW + HOUR}) == ["w-1", "w-0"]


def test_a_cost_that_is_no_number_is_none():
    assert order(worker(1, annotations={COST: "much"}), worker(0)) == ["w-1", "w-0"]


def test_where_nobody_knows_when_jobs_end_a_busy_one_is_not_taken_for_an_idle_one():
    busy, idle = worker(1), worker(0)
    slurm = [slurm_node("w-1", "MIXED"), slurm_node("w-0")]
    assert order(busy, idle, slurm=slurm) == ["w-0", "w-1"]
    assert end(idle, fleet(busy, idle, slurm=slurm)) is None


def test_of_workers_without_a_number_the_youngest_goes_first():
    old = worker(name="a", host="k-1", ready_since=NOW - 2 * HOUR)
    young = worker(name="b", host="k-2", ready_since=NOW - HOUR)
    assert order(old, young) == ["b", "a"]
