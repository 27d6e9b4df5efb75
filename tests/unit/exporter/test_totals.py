"""Sums over jobs."""

import pytest

from shoal.exporter.totals import reason_of, totals

from .builders import some_job


def test_jobs_are_counted_by_partition_and_account_and_state():
    told = totals([some_job(1), some_job(2), some_job(3, "FAILED", account="other")])
    assert told.by_partition == {("all", "RUNNING"): 2, ("all", "FAILED"): 1}
    assert told.by_account == {("lab", "RUNNING"): 2, ("other", "FAILED"): 1}


def test_a_job_that_waits_in_several_partitions_counts_in_each():
    told = totals([some_job(state="PENDING", partition="a,b", reason="Priority")])
    assert told.pending == {("a", "Priority"): 1, ("b", "Priority"): 1}
    assert told.by_account == {("lab", "PENDING"): 1}


def test_every_task_of_an_array_that_waits_counts():
    assert totals([some_job(state="PENDING", tasks=7)]).by_account == {("lab", "PENDING"): 7}


def test_only_jobs_that_hold_nodes_use_anything():
    running = some_job(1, cpus=4, gpus=2, memory_mib=1)
    told = totals([running, some_job(2, "PENDING"), some_job(3, "COMPLETED")])
    assert (told.accounts.cpus, told.partitions.gpus) == ({"lab": 4}, {"all": 2})
    assert told.partitions.memory_bytes == {"all": 1 << 20}


def test_a_job_of_which_nothing_is_known_belongs_nowhere():
    told = totals([some_job(partition="", account="", read=False)])
    assert (told.by_partition, told.by_account, told.accounts.cpus) == ({}, {}, {})


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("Priority", "Priority"),
        ("ReqNodeNotAvail, UnavailableNodes:w-[0-3]", "ReqNodeNotAvail"),
        ("(ReqNodeNotAvail(Unavailable:w-0))", "ReqNodeNotAvail"),
        ("", "None"),
    ],
)
def test_a_reason_comes_without_its_details(told, reason):
    assert reason_of(told) == reason
