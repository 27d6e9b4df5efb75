"""Whatever is away or dies while workers come and go, no job notices, and all ends as asked."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from . import cases, jobs, upheavals
from .nodesets import SCALE_IN, Workers, stays, timed

long = pytest.mark.long


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=long) for n in range(2, 6))])
def test_an_operator_killed_at_any_moment_goes_on_where_it_was(
    plain, operator, seed, record_property
):
    both = ((cases.scale_in, f"scaled{seed}"), (cases.rollout, f"renewed{seed}"))
    with (
        upheavals.operator_killed(operator, seed, record_property),
        ThreadPoolExecutor(len(both)) as pool,
    ):
        ends = [pool.submit(case, Workers(plain, name), record_property) for case, name in both]
        assert [end.result() for end in ends] == [None, None]


@long
def test_an_operator_that_is_upgraded_goes_on_where_it_was(plain, operator, record_property):
    both = ((cases.scale_in, "scaled-by-two"), (cases.rollout, "renewed-by-two"))
    with (
        upheavals.operator_upgraded(operator, 1, record_property),
        ThreadPoolExecutor(len(both)) as pool,
    ):
        ends = [pool.submit(case, Workers(plain, name), record_property) for case, name in both]
        assert [end.result() for end in ends] == [None, None]


def interrupted(workers: Workers, upheaval: upheavals.Upheaval, seconds: float, record) -> None:
    """Scale to zero with jobs on two of three, and let something happen meanwhile."""
    site = workers.site
    workers.make(3)
    busy = [workers.node(0), workers.node(1)]
    job, short = jobs.start(site, busy[0]), jobs.start(site, busy[1])
    with upheaval(site, seconds):
        workers.scale(0)
        short.end()
    with timed(record, "those without jobs are gone afterwards by"):
        workers.only(busy[0])
    short.ended_well()
    workers.drains(busy[0], SCALE_IN)
    stays("the worker with a job", lambda: busy[0] in workers.pods() and job.runs(), 3)
    with timed(record, "the last is gone after its job by"):
        job.end()
        job.ended_well()
        workers.only()


def test_a_slurmctld_deleted_while_scaling_in_costs_no_job(workers, record_property):
    interrupted(workers, upheavals.slurmctld_deleted, 0, record_property)


@pytest.mark.parametrize("seconds", [20, pytest.param(120, marks=long)])
def test_without_slurmrestd_no_worker_goes(workers, seconds, record_property):
    interrupted(workers, upheavals.no_slurmrestd, seconds, record_property)


@pytest.mark.parametrize("seconds", [15, pytest.param(120, marks=long)])
def test_an_api_server_that_was_away_while_scaling_in_costs_no_job(
    workers, seconds, record_property
):
    interrupted(workers, upheavals.no_api_server, seconds, record_property)
