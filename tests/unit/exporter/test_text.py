"""Prometheus' text format, read back by Prometheus' own reader."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from shoal.exporter import text
from shoal.exporter.catalogue import Collector, Kind, Metric
from shoal.exporter.histograms import observed

from .builders import samples, value

GAUGE = Metric("a_gauge", Kind.GAUGE, Collector.NODES, "Some\nwords \\ here.", ("one", "two"))
PLAIN = Metric("plain", Kind.COUNTER, Collector.NODES, "A number.")
SPREAD = Metric("spread", Kind.HISTOGRAM, Collector.JOBS, "Many.", ("one",), buckets=(1.0, 2.5))

# The format knows no carriage return within a line, and no character that UTF-8 lacks.
ANY = st.text(st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029"), min_size=1)


@given(ANY, ANY)
def test_whatever_a_label_holds_comes_back_as_it_was(one, two):
    written = "".join(text.family(GAUGE, [((one, two), 1)]))
    assert len(written.split("\n")) == 4
    assert samples(written) == {("a_gauge", frozenset({("one", one), ("two", two)})): 1.0}


def test_a_label_without_a_value_is_left_out():
    written = "".join(text.family(GAUGE, [(("", "b"), 1), (("", ""), 2)]))
    assert 'a_gauge{two="b"} 1\na_gauge 2\n' in written


def test_a_metric_without_series_says_nothing():
    assert not "".join(text.family(GAUGE, []))


def test_words_are_one_line():
    (family,) = text_string_to_metric_families("".join(text.family(GAUGE, [(("a", "b"), 1)])))
    assert family.documentation == "Some\nwords \\ here."


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0"),
        (3.0, "3"),
        (0.25, "0.25"),
        (1_800_000_000.0, "1800000000"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (1 << 70, str(1 << 70)),
    ],
)
def test_numbers_are_written_whole_where_they_are(number, written):
    assert text.number(number) == written


def test_a_number_that_is_none_is_said_to_be_none():
    assert text.number(math.nan) == "NaN"


@given(st.floats(allow_nan=False))
def test_a_number_comes_back_as_it_was(number):
    assert float(text.number(number)) == number


def test_many_lines_come_in_pieces_with_one_head():
    count = 3 * text.PIECE + 1
    pieces = list(text.family(GAUGE, (((str(n), "x"), n) for n in range(count))))
    assert len(pieces) == 4
    assert [piece.startswith("# ") for piece in pieces] == [True, False, False, False]
    assert len(samples("".join(pieces))) == count


def test_a_histogram_has_all_its_buckets_its_sum_and_its_count():
    told = observed(observed(None, SPREAD.buckets, 2.0), SPREAD.buckets, 9.0)
    written = "".join(text.histogram(SPREAD, [(("a",), told)]))
    assert value(written, "spread_bucket", one="a", le="1.0") is None  # bounds are as written
    assert value(written, "spread_bucket", one="a", le="1") == 0
    assert value(written, "spread_bucket", one="a", le="2.5") == 1
    assert value(written, "spread_bucket", one="a", le="+Inf") == 2
    assert value(written, "spread_sum", one="a") == 11
    assert value(written, "spread_count", one="a") == 2


def test_a_number_without_labels_has_no_braces():
    assert "".join(text.family(PLAIN, [((), 5)])).endswith("\nplain 5\n")
