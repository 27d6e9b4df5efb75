"""The table of metrics: names that others rely on, and rules that all keep."""

import re

import pytest

from shoal.exporter.catalogue import (
    COLLECTORS,
    JOB_INFO,
    METRICS,
    NAMED,
    NODE_INFO,
    OURS,
    UPSTREAM,
    Collector,
    Kind,
)

# As the upstream exporter has them: name, type, labels.
THEIRS = """
slurm_node_cpus_total gauge node_name
slurm_node_cpus_allocated gauge node_name
slurm_node_cpus_idle gauge node_name
slurm_node_cpus_effective gauge node_name
slurm_node_memory_total_bytes gauge node_name
slurm_node_memory_allocated_bytes gauge node_name
slurm_node_memory_free_bytes gauge node_name
slurm_node_memory_effective_bytes gauge node_name
slurm_node_partition gauge node_name partition
slurm_node_nvlink_instance_group gauge node_name instance_id nvlink_instance_group nodeset_name
slurm_node_gpu_seconds_total counter node_name state_base state_is_drain state_is_maintenance state_is_reserved
slurm_node_fails_total counter node_name state_base state_is_drain state_is_maintenance state_is_reserved reason
slurm_node_unavailability_duration_seconds histogram node_name
slurm_node_draining_duration_seconds histogram node_name
slurm_node_job gauge job_id node_name nvlink_instance_group nodeset_name
slurm_job_duration_seconds gauge job_id
slurm_job_cpus gauge job_id
slurm_job_memory_bytes gauge job_id
slurm_controller_rpc_calls_total counter message_type
slurm_controller_rpc_duration_seconds_total counter message_type
slurm_controller_rpc_user_calls_total counter user user_id
slurm_controller_rpc_user_duration_seconds_total counter user user_id
slurm_controller_server_thread_count gauge
slurm_exporter_collection_duration_seconds gauge
slurm_exporter_collection_attempts_total counter
slurm_exporter_collection_failures_total counter
slurm_exporter_metrics_requests_total counter
slurm_exporter_metrics_exported gauge
slurm_exporter_collector_duration_seconds gauge collector
slurm_exporter_collector_errors_total counter collector
slurm_exporter_collector_inflight gauge collector
slurm_exporter_collector_skipped_total counter collector
"""  # noqa: E501 - a table


def test_the_upstream_exporters_names_types_and_labels_are_kept():
    ours = {" ".join((m.name, m.kind.value, *m.labels)) for m in UPSTREAM}
    wanted = set(THEIRS.strip().splitlines())
    info = {"slurm_node_info gauge " + " ".join(NODE_INFO)}
    info.add("slurm_job_info gauge " + " ".join(JOB_INFO))
    assert ours == wanted | info


def test_the_labels_that_the_upstream_exporter_has_on_nodes_and_jobs_are_kept():
    assert {"node_name", "instance_id", "state_base", "reason", "comment"} <= set(NODE_INFO)
    assert {"state_is_powering_up", "is_unavailable", "reservation_name"} <= set(NODE_INFO)
    assert {"job_state_reason", "slurm_partition", "user_mail", "finished_time"} <= set(JOB_INFO)


def test_no_name_stands_twice():
    assert len(NAMED) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_a_name_is_one_that_prometheus_takes(metric):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) for label in metric.labels)
    assert len(set(metric.labels)) == len(metric.labels)
    assert metric.words.endswith(".")


# Of the upstream names we can choose none: they call gauges `_total`.
@pytest.mark.parametrize("metric", OURS, ids=lambda m: m.name)
def test_counters_and_only_counters_of_ours_are_called_total(metric):
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_histograms_and_only_histograms_have_bounds_that_grow(metric):
    assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM)
    assert list(metric.buckets) == sorted(set(metric.buckets))


def test_series_of_single_jobs_are_marked_as_such():
    marked = {m.name for m in METRICS if m.per_job}
    assert marked == {m.name for m in METRICS if "job_id" in m.labels}


def test_the_exporters_own_metrics_are_on_the_other_port():
    assert {m.port for m in METRICS if m.collector is Collector.ITSELF} == {8081}
    assert {m.port for m in METRICS if m.collector is not Collector.ITSELF} == {8080}
    assert Collector.ITSELF not in COLLECTORS
