"""Whatever is away or dies while workers come and go, no job notices, and all ends as asked."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from . import cases, upheavals
from .losses import interrupted
from .nodesets import Workers

long = pytest.mark.long
SECONDS = 120


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


@long
def test_without_slurmrestd_for_two_minutes_no_worker_goes(workers, record_property):
    interrupted(workers, upheavals.no_slurmrestd, SECONDS, record_property)


@long
def test_an_api_server_that_was_away_for_two_minutes_costs_no_job(workers, record_property):
    interrupted(workers, upheavals.no_api_server, SECONDS, record_property)
