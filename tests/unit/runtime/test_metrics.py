"""The numbers: what is counted, under which names, and by what."""

import asyncio
import re
from dataclasses import dataclass, field

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shoal.kube.kinds import NODE, POD
from shoal.kube.objects import Meta, Resource
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import UnreachableError
from shoal.runtime.controller import Controller, Done, Trouble
from shoal.runtime.errors import DeposedError
from shoal.runtime.metrics import Metrics
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store


def values(metrics: Metrics) -> dict[str, float]:
    """Return every sample, by its name and labels as Prometheus writes them."""
    return {
        s.name + "".join(f" {k}={v}" for k, v in sorted(s.labels.items())): s.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for s in family.samples
    }


async def nothing(_key) -> Done:
    return Done()


@dataclass
class Seen:
    """A process as the metrics look at it."""

    stores: list[Store] = field(default_factory=list)
    reflectors: list[Reflector] = field(default_factory=list)
    running: list[Controller] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    leading: asyncio.Event = field(default_factory=asyncio.Event)


async def test_passes_are_counted_by_controller_and_outcome():
    metrics = Metrics()
    metrics.passed("nodeset", "done", 0.02, 0.001)
    metrics.passed("nodeset", "failed", 0.02, 0.001)
    metrics.passed("nodeset", "done", 0.02, 0.001)
    seen = values(metrics)
    assert seen["shoal_passes_total controller=nodeset outcome=done"] == 2
    assert seen["shoal_passes_total controller=nodeset outcome=failed"] == 1
    assert seen["shoal_pass_seconds_count controller=nodeset"] == 3
    assert seen["shoal_queue_wait_seconds_count controller=nodeset"] == 3


async def test_only_a_good_pass_is_progress():
    metrics = Metrics()
    metrics.passed("nodeset", "failed", 0.02, 0.0)
    assert "shoal_last_progress_timestamp_seconds controller=nodeset" not in values(metrics)
    metrics.passed("nodeset", "done", 0.02, 0.0)
    assert values(metrics)["shoal_last_progress_timestamp_seconds controller=nodeset"] > 1.7e9


def test_requests_are_counted_by_verb_plural_and_code():
    metrics = Metrics()
    metrics.request("apply", "pods", 200, 0.01)
    metrics.request("apply", "pods", 0, 10.0)
    seen = values(metrics)
    assert seen["shoal_api_requests_total code=200 plural=pods verb=apply"] == 1
    assert seen["shoal_api_requests_total code=0 plural=pods verb=apply"] == 1
    assert seen["shoal_api_request_seconds_count verb=apply"] == 2


def test_requests_of_others_are_counted_apart():
    metrics = Metrics()
    metrics.calls("slurmrestd")("GET", "nodes", 200, 0.01)
    seen = values(metrics)
    assert seen["shoal_calls_total code=200 of=slurmrestd verb=GET what=nodes"] == 1
    assert seen["shoal_call_seconds_count of=slurmrestd verb=GET"] == 1


def test_a_request_known_by_its_path_does_not_become_a_label_for_each_object():
    metrics = Metrics()
    for number in range(3):
        path = f"/api/v1/namespaces/ns/pods/w-{number}/binding"
        metrics.request("create", path, 201, 0.01)
    assert values(metrics)["shoal_api_requests_total code=201 plural=binding verb=create"] == 3


def test_a_watch_does_not_spoil_the_times_of_answers():
    metrics = Metrics()
    metrics.request("watch", "pods", 200, 300.0)
    seen = values(metrics)
    assert seen["shoal_api_requests_total code=200 plural=pods verb=watch"] == 1
    assert not [name for name in seen if name.startswith("shoal_api_request_seconds_count")]


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (None, "done"),
        (DeposedError("x"), "fenced"),
        (UnreachableError("x"), "refused"),
        (RuntimeError("x"), "failed"),
    ],
)
async def test_effects_are_counted_and_pass_through(failure, outcome):
    metrics = Metrics()

    async def port(_name, effect):
        if failure:
            raise failure
        return await effect()

    async def effect() -> int:
        return 7

    carried = metrics.counted(port)("PATCH /x", effect)
    if failure:
        with pytest.raises(type(failure)):
            await carried
    else:
        assert await carried == 7
    assert values(metrics)[f"shoal_effects_total outcome={outcome}"] == 1


async def test_a_process_is_looked_at_when_somebody_asks():
    metrics, process = Metrics(), Seen()
    metrics.attend(process)
    store = Store(POD, Resource)
    controller = Controller("nodeset", (), nothing, workers=4)
    process.stores.append(store)
    process.running.append(controller)
    process.events |= {"recorded": 1000, "sent": 1, "dropped": 0}
    store.put(Resource(Meta(name="w-0", uid="u", resource_version="1")))
    controller.queue.add(("ns", "w-0"), after_s=60)
    process.leading.set()
    seen = values(metrics)
    assert seen["shoal_store_objects plural=pods"] == 1
    assert seen["shoal_queue_depth controller=nodeset"] == 0
    assert seen["shoal_queue_keys controller=nodeset"] == 1
    assert seen["shoal_workers controller=nodeset"] == 4
    assert seen["shoal_workers_busy controller=nodeset"] == 0
    assert seen["shoal_leading"] == 1
    assert seen["shoal_events_total outcome=recorded"] == 1000
    process.leading.clear()
    assert values(metrics)["shoal_leading"] == 0


async def test_stuck_keys_are_counted_while_they_are_stuck():
    metrics, process = Metrics(), Seen()
    metrics.attend(process)
    process.running.append(controller := Controller("nodeset", (), nothing))
    controller._trouble["ns", "a"] = Trouble(0.0, "refused", reported=True)
    controller._trouble["ns", "b"] = Trouble(0.0, "refused")
    assert values(metrics)["shoal_stuck_keys controller=nodeset"] == 1
    controller._trouble.clear()
    assert values(metrics)["shoal_stuck_keys controller=nodeset"] == 0


async def test_watches_of_several_namespaces_are_one_kind():
    metrics, process = Metrics(), Seen()
    metrics.attend(process)
    store = Store(POD, Resource)
    for space, lists, failures in [("a", 1, 0), ("b", 3, 2)]:
        reflector = Reflector(store, Which(POD, space), lambda: None)
        reflector.lists, reflector.failures = lists, failures
        process.reflectors.append(reflector)
    process.reflectors[0].failing = "reset"
    seen = values(metrics)
    assert seen["shoal_watch_lists_total plural=pods"] == 4
    assert seen["shoal_watch_failures_total plural=pods"] == 2
    assert seen["shoal_watch_failing plural=pods"] == 1


async def test_dashboards_for_controller_runtime_find_their_figures():
    metrics, process = Metrics(), Seen()
    metrics.attend(process)
    process.running.append(Controller("nodeset", (), nothing, workers=4))
    for outcome in ("done", "failed", "terminal", "bug"):
        metrics.passed("nodeset", outcome, 0.02, 0.001)
    seen = values(metrics)
    total = "controller_runtime_reconcile_total controller=nodeset"
    assert seen[f"{total} result=success"] == 1
    assert seen[f"{total} result=error"] == 3
    assert seen["controller_runtime_reconcile_errors_total controller=nodeset"] == 3
    assert seen["controller_runtime_reconcile_time_seconds_count controller=nodeset"] == 4
    assert seen["controller_runtime_max_concurrent_reconciles controller=nodeset"] == 4
    assert seen["controller_runtime_active_workers controller=nodeset"] == 0
    assert seen["workqueue_depth name=nodeset"] == 0
    assert seen["workqueue_queue_duration_seconds_count name=nodeset"] == 4


def test_the_process_itself_is_measured():
    seen = values(Metrics())
    assert seen["process_cpu_seconds_total"] > 0
    assert seen["process_resident_memory_bytes"] > 1 << 20


async def test_no_label_names_an_object():
    metrics, process = Metrics(), Seen()
    metrics.attend(process)
    process.stores += [Store(POD, Resource), Store(NODE, Resource)]
    metrics.passed("nodeset", "done", 0.1, 0.1)
    metrics.stuck("nodeset", ("ns", "w-0"), 700.0, "refused")
    metrics.request("get", "pods", 200, 0.1)
    labels = set(re.findall(r'(\w+)="', metrics.text().decode()))
    known = {"controller", "outcome", "result", "name", "verb", "plural", "code", "le"}
    assert labels <= known
    assert "w-0" not in metrics.text().decode()


def test_two_sets_of_metrics_share_nothing():
    first, second = Metrics(), Metrics()
    first.request("get", "pods", 200, 0.1)
    assert [name for name in values(first) if name.startswith("shoal_api_requests")]
    assert not [name for name in values(second) if name.startswith("shoal_api_requests")]
