"""Histograms as frozen data. Pure."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Histogram:
    """How many values fell into each bucket, those above the last bound included, and their sum."""

    counts: tuple[int, ...]
    total: float = 0.0

    @property
    def count(self) -> int:
        """Return how many values there were."""
        return sum(self.counts)

    def upto(self) -> Iterator[int]:
        """Yield for each bucket how many values are in it or in one before it."""
        return accumulate(self.counts)


def observed(before: Histogram | None, bounds: Sequence[float], value: float) -> Histogram:
    """Return `before` with one value more; None is a histogram without any."""
    counts = list(before.counts) if before else [0] * (len(bounds) + 1)
    # A value on a bound belongs below it: Prometheus' label is `le`.
    counts[bisect_left(bounds, value)] += 1
    return Histogram(tuple(counts), (before.total if before else 0.0) + value)
