"""The reader of queries sees every metric and label."""

import pytest

from .promql import named


@pytest.mark.parametrize(
    ("query", "metrics", "labels"),
    [
        ("up", [("up", [])], []),
        ('sum by (a, b) (rate(x{c="1", d=~"{e}"}[5m]))', [("x", ["c", "d"])], ["a", "b"]),
        ("a and on (i) b unless c offset 5m", [("a", []), ("b", []), ("c", [])], ["i"]),
        ("a * on (i) group_left (j) b > bool 0.5", [("a", []), ("b", [])], ["i", "j"]),
        ("time() - max(t) or vector(0)", [("t", [])], []),
        ('x{r=~"\\\\[(a|b)\\\\].*"} > 1e3', [("x", ["r"])], []),
        ('n{k=~"$k"} / n', [("n", ["k"]), ("n", [])], []),
    ],
)
def test_metrics_and_labels_are_found(query, metrics, labels):
    found = named(query)
    assert found.metrics == [(name, frozenset(by)) for name, by in metrics]
    assert found.labels == set(labels)


def test_a_brace_that_stays_open_is_found_out():
    with pytest.raises(AssertionError, match="no }"):
        named('x{a="1"')
