"""The monitors give every series the labels that dashboards and alerts go by."""

import pytest

from .known import TARGET
from .shipped import Json, objects

MONITORS = [obj for obj in objects("monitors") if obj.get("kind", "").endswith("Monitor")]
EXPORTER = [obj for obj in MONITORS if obj["metadata"]["name"] == "slurm-exporter"]
OPERATOR = [obj for obj in MONITORS if obj["metadata"]["name"] == "slurm-operator"]
every_exporter = pytest.mark.parametrize("monitor", EXPORTER, ids=lambda obj: obj["kind"])


def endpoints(monitor: Json) -> dict[str, Json]:
    """Return the endpoints of a monitor by the names of their ports."""
    spec = monitor["spec"]
    found = spec["podMetricsEndpoints"] if monitor["kind"] == "PodMonitor" else spec["endpoints"]
    return {endpoint["port"]: endpoint for endpoint in found}


def dropped(rules: list[Json]) -> set[str]:
    return {w for r in rules if r.get("action") == "labeldrop" for w in r["regex"].split("|")}


def test_exporter_and_operator_can_be_found():
    assert {obj["kind"] for obj in EXPORTER} == {"PodMonitor", "ServiceMonitor"}
    assert [obj["kind"] for obj in OPERATOR] == ["ServiceMonitor"]
    assert {obj["apiVersion"] for obj in MONITORS} == {"monitoring.coreos.com/v1"}


@every_exporter
def test_both_pages_of_an_exporter_are_read(monitor):
    assert set(endpoints(monitor)) == {"metrics", "monitoring"}


@every_exporter
def test_series_say_which_cluster_they_are_of(monitor):
    for endpoint in endpoints(monitor).values():
        (rule,) = (one for one in endpoint["relabelings"] if "targetLabel" in one)
        assert rule["targetLabel"] == "slurm_cluster"
        (source,) = rule["sourceLabels"]
        assert source.endswith("_label_app_kubernetes_io_instance")


@every_exporter
def test_a_new_pod_goes_on_with_the_series_of_the_old_one(monitor):
    pages = endpoints(monitor)
    # Prometheus adds `instance` after the first kind of rules, so only the second drops it.
    assert dropped(pages["metrics"]["metricRelabelings"]) == {"instance"}
    assert all(dropped(page["relabelings"]) == {"pod", "container"} for page in pages.values())


def test_no_label_that_queries_go_by_is_dropped_where_they_need_it():
    for monitor in MONITORS:
        for name, endpoint in endpoints(monitor).items():
            gone = dropped(endpoint.get("relabelings", []))
            gone |= dropped(endpoint.get("metricRelabelings", []))
            assert gone & TARGET <= ({"instance"} if name == "metrics" else set())
