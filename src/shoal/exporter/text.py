"""Samples as Prometheus reads them: its text format 0.0.4. Pure.

The large families have a line for each of 10,000 nodes or 50,000 jobs. So lines are plain strings
made in one step each, and come in pieces of some dozen: whoever puts them together can let others
have their turn in between.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from .catalogue import Kind, Metric
from .histograms import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PIECE = 25  # lines: up to a quarter of a millisecond

_UNSAFE = re.compile(r'[\\"\n]')
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_WORD_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})

Values = Sequence[str]
Sample = tuple[Values, float]


def escaped(value: str) -> str:
    """Return a label's value as it may stand between quotes."""
    return value.translate(_ESCAPES) if _UNSAFE.search(value) else value


def labelled(names: Values, values: Values) -> str:
    """Return labels without their braces; those with an empty value are left out."""
    return ",".join(
        [f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True) if value]
    )


def number(value: float) -> str:
    """Return a number, whole ones without a fraction."""
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value):
        return str(int(value)) if value == int(value) else repr(value)
    return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")


def head(metric: Metric) -> str:
    """Return the lines that say what a metric is."""
    words = metric.words.translate(_WORD_ESCAPES)
    return f"# HELP {metric.name} {words}\n# TYPE {metric.name} {metric.kind.value}\n"


def family(metric: Metric, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield all of a metric: values of its labels in their order, and a number; none, no head."""
    assert metric.kind is not Kind.HISTOGRAM
    yield from column(
        metric, ((labelled(metric.labels, values), value) for values, value in samples)
    )


def column(metric: Metric, samples: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield all of a metric whose labels are written already."""
    name = metric.name
    return pieces(
        metric,
        (
            f"{name}{{{labels}}} {number(value)}\n" if labels else f"{name} {number(value)}\n"
            for labels, value in samples
        ),
    )


def pieces(metric: Metric, lines: Iterable[str]) -> Iterator[str]:
    """Yield the head, and lines that are written already, in pieces."""
    rest = iter(lines)
    piece = "".join(islice(rest, PIECE))
    if not piece:
        return
    yield head(metric) + piece
    while piece := "".join(islice(rest, PIECE)):
        yield piece


def histogram(metric: Metric, series: Iterable[tuple[Values, Histogram]]) -> Iterator[str]:
    """Yield all of a histogram."""
    bounds = [*map(number, metric.buckets), "+Inf"]
    return pieces(metric, (_buckets(metric, bounds, *one) for one in series))


def _buckets(metric: Metric, bounds: Sequence[str], values: Values, told: Histogram) -> str:
    labels = labelled(metric.labels, values)
    before, plain = (f"{labels}," if labels else ""), (f"{{{labels}}}" if labels else "")
    lines = [
        f'{metric.name}_bucket{{{before}le="{bound}"}} {count}\n'
        for bound, count in zip(bounds, told.upto(), strict=True)
    ]
    lines.append(f"{metric.name}_sum{plain} {number(told.total)}\n")
    lines.append(f"{metric.name}_count{plain} {told.count}\n")
    return "".join(lines)
