"""What a process tells about itself, in numbers: by controller, kind and verb, never by object.

What happens is counted when it happens; what merely is (depths, sizes, who leads) is looked at when
somebody asks, so it costs nothing in between. The figures that controller-runtime has under other
names are told under those too, as dashboards and alerts of the upstream operators use them.
"""

import asyncio
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..kube.objects import Key
from ..kubeapi.errors import ApiError
from . import clock
from .controller import Controller
from .errors import DeposedError
from .port import Effect, Port
from .reflector import Reflector
from .store import Store

_SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_PASS_S = (*_SHORT, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_REQUEST_S = (*_SHORT, 2.5, 5.0, 10.0, 30.0)


class Attended(Protocol):
    """What is looked at: `process.Process`, which this module does not know."""

    @property
    def leading(self) -> asyncio.Event:
        """Say whether it holds its Lease."""

    @property
    def stores(self) -> Sequence[Store[Any]]:
        """Return its caches."""

    @property
    def reflectors(self) -> Sequence[Reflector[Any]]:
        """Return what fills them."""

    @property
    def running(self) -> Sequence[Controller]:
        """Return the controllers that work; none on a standby."""

    @property
    def events(self) -> Mapping[str, int]:
        """Return how many events were recorded, sent and dropped."""


class Metrics:
    """The numbers of one process, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        # Every request counts itself: to look for its series each time would cost it 15 µs.
        self._passes = cache(prometheus.Counter(
            "shoal_passes", "Passes, by how they ended.", ("controller", "outcome"),
            registry=registry,
        ).labels)  # fmt: skip
        self._pass_s = cache(prometheus.Histogram(
            "shoal_pass_seconds", "How long a pass takes.", ("controller",),
            registry=registry, buckets=_PASS_S,
        ).labels)  # fmt: skip
        self._wait_s = cache(prometheus.Histogram(
            "shoal_queue_wait_seconds", "How long a key that is due waits for its pass.",
            ("controller",), registry=registry, buckets=_PASS_S,
        ).labels)  # fmt: skip
        self._progress = cache(prometheus.Gauge(
            "shoal_last_progress_timestamp_seconds", "When a pass last ended well.",
            ("controller",), registry=registry,
        ).labels)  # fmt: skip
        self._requests = cache(prometheus.Counter(
            "shoal_api_requests", "Requests of the API server; code 0 is no answer.",
            ("verb", "plural", "code"), registry=registry,
        ).labels)  # fmt: skip
        self._request_s = cache(prometheus.Histogram(
            "shoal_api_request_seconds", "How long an answer takes.", ("verb",),
            registry=registry, buckets=_REQUEST_S,
        ).labels)  # fmt: skip
        self._calls = cache(prometheus.Counter(
            "shoal_calls", "Requests of others than the API server; code 0 is no answer.",
            ("of", "verb", "what", "code"), registry=registry,
        ).labels)  # fmt: skip
        self._call_s = cache(prometheus.Histogram(
            "shoal_call_seconds", "How long others take to answer.", ("of", "verb"),
            registry=registry, buckets=_REQUEST_S,
        ).labels)  # fmt: skip
        self._effects = cache(prometheus.Counter(
            "shoal_effects", "Effects on the world, by how they ended.", ("outcome",),
            registry=registry,
        ).labels)  # fmt: skip
        prometheus.ProcessCollector(registry=registry)
        # When a series was first seen is a series more for each, and nobody asks for it.
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]

    # -- what happens

    def passed(self, controller: str, outcome: str, seconds: float, waited_s: float) -> None:
        """Take note of one pass."""
        self._passes(controller, outcome).inc()
        self._pass_s(controller).observe(seconds)
        self._wait_s(controller).observe(waited_s)
        if outcome == "done":
            self._progress(controller).set(clock.now().timestamp())

    def stuck(self, controller: str, key: Key, seconds: float, why: str) -> None:
        """Ignore it: stuck keys are counted when somebody looks."""

    def request(self, verb: str, plural: str, code: int, seconds: float) -> None:
        """Take note of one request; the shape of the client's `Observe`."""
        # Some calls are known by their path, which may name an object.
        self._requests(verb, plural.rpartition("/")[2], str(code)).inc()
        # A watch takes as long as it takes.
        if verb != "watch":
            self._request_s(verb).observe(seconds)

    def calls(self, of: str) -> Callable[[str, str, int, float], None]:
        """Return what takes note of the requests of somebody else: verb, what, code, seconds."""

        def called(verb: str, what: str, code: int, seconds: float) -> None:
            self._calls(of, verb, what, str(code)).inc()
            self._call_s(of, verb).observe(seconds)

        return called

    def counted(self, port: Port) -> Port:
        """Return `port` with its effects counted."""

        async def carry_out(name: str, effect: Effect) -> Any:  # noqa: ANN401 - as in Port
            outcome = "failed"
            try:
                result = await port(name, effect)
                outcome = "done"
            except DeposedError:
                outcome = "fenced"
                raise
            except ApiError:
                outcome = "refused"
                raise
            finally:
                self._effects(outcome).inc()
            return result

        return carry_out

    # -- what is

    def attend(self, process: Attended) -> None:
        """Look at `process` whenever somebody asks."""
        self._registry.register(_Looked(process))

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return prometheus.generate_latest(_Told(self._registry))


class _Looked(Collector):
    """Sees how a process is."""

    def __init__(self, process: Attended) -> None:
        self._process = process

    def collect(self) -> Iterable[Metric]:
        """Look now."""
        yield from self._of_controllers(self._process.running)
        yield from self._of_watches(self._process.reflectors)
        stores = {s.kind.plural: len(s) for s in self._process.stores}
        yield _gauge("shoal_store_objects", "Objects in a cache.", "plural", stores)
        leading = GaugeMetricFamily("shoal_leading", "Whether this process holds its Lease.")
        leading.add_metric((), float(self._process.leading.is_set()))
        yield leading
        events = CounterMetricFamily("shoal_events", "Events, by fate.", labels=("outcome",))
        for outcome, count in self._process.events.items():
            events.add_metric((outcome,), count)
        yield events

    def _of_controllers(self, running: Sequence[Controller]) -> Iterable[Metric]:
        def each(name: str, words: str, look: Callable[[Controller], float]) -> Metric:
            return _gauge(name, words, "controller", {c.name: look(c) for c in running})

        yield each("shoal_queue_depth", "Keys that are due.", lambda c: c.queue.depth)
        yield each("shoal_queue_keys", "Keys that wait, now or for later.", lambda c: len(c.queue))
        yield each("shoal_workers", "Passes that may run side by side.", lambda c: c.workers)
        yield each("shoal_workers_busy", "Passes under way.", lambda c: c.queue.working)
        yield each("shoal_stuck_keys", "Keys that get nowhere.", lambda c: c.stuck)

    def _of_watches(self, reflectors: Sequence[Reflector[Any]]) -> Iterable[Metric]:
        lists, failures, failing = Tally[str](), Tally[str](), Tally[str]()
        for reflector in reflectors:
            plural = reflector.kind.plural
            lists[plural] += reflector.lists
            failures[plural] += reflector.failures
            failing[plural] += bool(reflector.failing)
        yield _counter("shoal_watch_lists", "Lists, the first and those anew.", "plural", lists)
        yield _counter("shoal_watch_failures", "Watches that broke.", "plural", failures)
        yield _gauge("shoal_watch_failing", "Watches that are broken now.", "plural", failing)


# Ours, and what controller-runtime calls it and its label.
_UPSTREAM = {
    "shoal_pass_seconds": ("controller_runtime_reconcile_time_seconds", "controller"),
    "shoal_workers": ("controller_runtime_max_concurrent_reconciles", "controller"),
    "shoal_workers_busy": ("controller_runtime_active_workers", "controller"),
    "shoal_queue_depth": ("workqueue_depth", "name"),
    "shoal_queue_wait_seconds": ("workqueue_queue_duration_seconds", "name"),
}


def upstream(ours: Metric) -> Iterator[Metric]:
    """Yield what `ours` is in controller-runtime's names, if it has that figure."""
    if ours.name in _UPSTREAM:
        name, label = _UPSTREAM[ours.name]
        theirs = Metric(name, ours.documentation, ours.type)
        for sample in ours.samples:
            labels = {label if k == "controller" else k: v for k, v in sample.labels.items()}
            tail = sample.name.removeprefix(ours.name)
            theirs.add_sample(name + tail, labels, sample.value)
        yield theirs
    elif ours.name == "shoal_passes":
        yield from _results(ours)


def _results(passes: Metric) -> Iterator[Metric]:
    results, errors = Tally[tuple[str, str]](), Tally[str]()
    for sample in passes.samples:
        controller, good = sample.labels["controller"], sample.labels["outcome"] == "done"
        results[controller, "success" if good else "error"] += int(sample.value)
        errors[controller] += 0 if good else int(sample.value)
    name = "controller_runtime_reconcile"
    total = CounterMetricFamily(name, passes.documentation, labels=("controller", "result"))
    for labels, count in results.items():
        total.add_metric(labels, count)
    yield total
    yield _counter(f"{name}_errors", "Passes that did not end well.", "controller", errors)


@dataclass(frozen=True)
class _Told:
    """All of a registry, then the same in controller-runtime's names."""

    registry: prometheus.CollectorRegistry

    def collect(self) -> Iterator[Metric]:
        """Tell it."""
        for metric in self.registry.collect():
            yield metric
            yield from upstream(metric)


def _gauge(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family


def _counter(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, words, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family
