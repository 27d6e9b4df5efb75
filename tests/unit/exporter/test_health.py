"""How the exporter itself is."""

import pytest

from shoal.exporter.catalogue import METRICS, Collector
from shoal.exporter.health import Health, cause_of
from shoal.exporter.pages import Page
from shoal.kubeapi.errors import UnreachableError as KubernetesGone
from shoal.slurmapi.errors import (
    BadTokenError,
    ControllerDownError,
    DatabaseDownError,
    MissingError,
    TimedOutError,
    UnreachableError,
    UnreadableError,
)
from shoal.slurmapi.signatures import TokenError

from .builders import samples, value


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (TokenError("scontrol token", "no"), "token"),
        (BadTokenError("GET /nodes/", "no"), "token"),
        (ControllerDownError("GET /nodes/", "no"), "slurmctld"),
        (DatabaseDownError("GET /slurmdb/jobs/", "no"), "slurmdbd"),
        (TimedOutError("GET /nodes/", "no"), "timeout"),
        (UnreachableError("GET /nodes/", "no"), "slurmrestd"),
        (UnreadableError("GET /nodes/", "no"), "answer"),
        (MissingError("GET /nodes/", "no"), "answer"),
        (KubernetesGone("no"), "kubernetes"),
        (TimeoutError(), "timeout"),
        (KeyError("x"), "program"),
    ],
)
def test_every_error_has_a_cause_in_one_word(error, cause):
    assert cause_of(error) == cause


def told(health):
    return "".join(health.told(Page()))


def test_a_collector_that_never_ran_is_neither_up_nor_down():
    text = told(Health.of([Collector.NODES]))
    assert value(text, "slurm_exporter_collector_up", collector="nodes") is None
    name = "slurm_exporter_collector_last_success_timestamp_seconds"
    assert value(text, name, collector="nodes") == 0


def test_a_collector_that_fails_is_down_and_says_why():
    health = Health.of([Collector.NODES, Collector.ACCOUNTING])
    for name, error in (
        (Collector.NODES, None),
        (Collector.ACCOUNTING, DatabaseDownError("GET /slurmdb/jobs/", "no")),
    ):
        health.begun(name)
        health.done(name, 1.5, error)
    text = told(health)
    assert value(text, "slurm_exporter_collector_up", collector="nodes") == 1
    assert value(text, "slurm_exporter_collector_up", collector="accounting") == 0
    labels = {"collector": "accounting", "cause": "slurmdbd"}
    assert value(text, "slurm_exporter_collector_failing", **labels) == 1
    assert value(text, "slurm_exporter_collector_errors_total", collector="accounting") == 1
    assert value(text, "slurm_exporter_collection_attempts_total") == 2
    assert value(text, "slurm_exporter_collection_failures_total") == 1


def test_a_collector_without_anything_to_read_is_absent_and_has_no_age():
    health = Health.of([Collector.ACCOUNTING])
    health.begun(Collector.ACCOUNTING)
    health.courses[Collector.ACCOUNTING].absent = True
    health.done(Collector.ACCOUNTING, 0.0, None)
    text = told(health)
    assert value(text, "slurm_exporter_collector_absent", collector="accounting") == 1
    for name in ("up", "last_success_timestamp_seconds", "failing"):
        assert f"slurm_exporter_collector_{name}{{" not in text


def test_a_run_under_way_is_told():
    health = Health.of([Collector.NODES])
    health.begun(Collector.NODES)
    assert value(told(health), "slurm_exporter_collector_inflight", collector="nodes") == 1


def test_requests_are_counted_by_what_they_are_about_and_how_they_ended():
    health = Health.of([])
    for code in (200, 200, 511):
        health.requested("GET", "nodes", code, 0.5)
    text = told(health)
    name = "slurm_exporter_slurm_requests_total"
    assert value(text, name, family="nodes", code="200") == 2
    assert value(text, name, family="nodes", code="511") == 1
    assert value(text, "slurm_exporter_slurm_request_seconds_total", family="nodes") == 1.5


def test_every_metric_of_the_exporters_own_is_told():
    health = Health.of([Collector.NODES, Collector.ACCOUNTING])
    health.source = "list"
    health.courses[Collector.ACCOUNTING].absent = True
    health.begun(Collector.NODES)
    health.done(Collector.NODES, 1.0, TimeoutError())
    health.requested("GET", "nodes", 200, 0.5)
    names = {name for name, _ in samples(told(health))}
    assert names == {m.name for m in METRICS if m.collector is Collector.ITSELF}


def test_a_process_knows_what_it_costs():
    text = told(Health.of([]))
    assert value(text, "process_resident_memory_bytes") > 1 << 20
    assert value(text, "process_cpu_seconds_total") > 0
    assert value(text, "process_start_time_seconds") > 1_500_000_000
