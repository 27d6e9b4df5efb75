"""What nodes went through while the exporter looked: GPU seconds, failures, outages. Pure.

(before, what is seen now, the time) -> after. What happened while nobody looked is not made up: a
gap longer than LONGEST_GAP_S adds no seconds to any state.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from .catalogue import OUTAGE_S
from .histograms import Histogram, observed

LONGEST_GAP_S = 600.0
# Reasons are free text: of a node with more of them than this, the oldest are forgotten.
MOST_REASONS = 20

State = tuple[str, str, str, str]  # base, drain, maintenance, reserved: the values of those labels


@dataclass(frozen=True)
class Standing:
    """What is remembered of a node from one look to the next."""

    name: str
    state: State
    gpus: int = 0
    reason: str = ""
    failed: bool = False  # down or drained, other than by power saving
    unavailable: bool = False
    draining: bool = False


@dataclass(frozen=True)
class Spells:
    """How long nodes were in some condition: since when those are that are, and what is over."""

    since: Mapping[str, float] = field(default_factory=dict)
    over: Mapping[str, Histogram] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeMemory:
    """All that is remembered of nodes. Who is no longer among them is forgotten."""

    at: float | None = None  # of the last look, seconds since 1970
    failed: Mapping[str, bool] = field(default_factory=dict)
    gpu_seconds: Mapping[str, Mapping[State, float]] = field(default_factory=dict)
    fails: Mapping[str, Mapping[tuple[State, str], int]] = field(default_factory=dict)
    unavailable: Spells = Spells()
    draining: Spells = Spells()


def remember(before: NodeMemory, nodes: Iterable[Standing], now: float) -> NodeMemory:
    """Return what is remembered after this look."""
    seen = list(nodes)
    return NodeMemory(
        at=now,
        failed={node.name: node.failed for node in seen},
        gpu_seconds=_gpu_seconds(before, seen, passed_s(before.at, now)),
        fails=_fails(before, seen),
        unavailable=_spells(before.unavailable, seen, lambda node: node.unavailable, now),
        draining=_spells(before.draining, seen, lambda node: node.draining, now),
    )


def passed_s(before: float | None, now: float) -> float:
    """Return the seconds to count; 0 after the first look, a long gap, or a clock set back."""
    if before is None or not 0 < now - before <= LONGEST_GAP_S:
        return 0.0
    return now - before


def _gpu_seconds(
    before: NodeMemory, seen: list[Standing], seconds: float
) -> dict[str, Mapping[State, float]]:
    after: dict[str, Mapping[State, float]] = {}
    for node in seen:
        if node.gpus:
            had = before.gpu_seconds.get(node.name, {})
            after[node.name] = {**had, node.state: had.get(node.state, 0.0) + node.gpus * seconds}
    return after


def _fails(before: NodeMemory, seen: list[Standing]) -> dict[str, Mapping[tuple[State, str], int]]:
    after = {node.name: before.fails[node.name] for node in seen if node.name in before.fails}
    for node in seen:
        # Of a node that is new nobody knows whether it failed just now.
        if node.failed and before.failed.get(node.name) is False:
            counts = dict(after.get(node.name, {}))
            key = (node.state, node.reason)
            counts[key] = counts.pop(key, 0) + 1  # to the end: it is the newest
            while len(counts) > MOST_REASONS:
                del counts[next(iter(counts))]
            after[node.name] = counts
    return after


def _spells(
    before: Spells, seen: list[Standing], within: Callable[[Standing], bool], now: float
) -> Spells:
    since: dict[str, float] = {}
    over: dict[str, Histogram] = {}
    for node in seen:
        name = node.name
        if name in before.over:
            over[name] = before.over[name]
        if within(node):
            since[name] = before.since.get(name, now)
        elif name in before.since:
            lasted_s = max(0.0, now - before.since[name])
            over[name] = observed(over.get(name), OUTAGE_S, lasted_s)
    return Spells(since, over)
