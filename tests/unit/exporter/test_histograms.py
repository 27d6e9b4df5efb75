"""Histograms."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exporter.histograms import observed

BOUNDS = (1.0, 10.0, 100.0)


def test_a_value_on_a_bound_counts_below_it():
    assert observed(None, BOUNDS, 10.0).counts == (0, 1, 0, 0)


def test_a_value_above_all_bounds_still_counts():
    told = observed(None, BOUNDS, 1e6)
    assert (told.counts, told.total, told.count) == ((0, 0, 0, 1), 1e6, 1)


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1))
def test_buckets_add_up_as_prometheus_counts_them(values):
    told = None
    for value in values:
        told = observed(told, BOUNDS, value)
    upto = list(told.upto())
    assert upto == [sum(v <= bound for v in values) for bound in (*BOUNDS, float("inf"))]
    assert upto[-1] == told.count == len(values)
