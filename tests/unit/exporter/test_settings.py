"""What an exporter is told."""

from datetime import timedelta

import pytest

from shoal.exporter.catalogue import COLLECTORS, Collector
from shoal.exporter.settings import (
    NoToken,
    SecretToken,
    Settings,
    StaticToken,
    collectors,
    duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("1h", 3600), ("1h30m", 5400), ("1.5m", 90), ("500ms", 0.5), ("2d", 172800)],
)
def test_durations_are_read_as_go_and_prometheus_write_them(text, seconds):
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "30", "s", "1h x", "-5s", "1 h"])
def test_what_is_no_duration_is_said_to_be_none(text):
    with pytest.raises(ValueError, match="is no duration"):
        duration(text)


def test_collectors_come_in_their_own_order():
    assert collectors("jobs, nodes") == (Collector.NODES, Collector.JOBS)
    assert collectors(",".join(one.value for one in COLLECTORS)) == COLLECTORS


@pytest.mark.parametrize("text", ["nodes,pods", "exporter"])
def test_a_collector_that_there_is_not_is_named(text):
    with pytest.raises(ValueError, match="is no collector"):
        collectors(text)


def test_kubernetes_is_asked_for_a_key_and_for_the_topology_only():
    slurm_only = (Collector.NODES, Collector.JOBS)
    assert not Settings("c", identity=NoToken(), collectors=slurm_only).needs_kubernetes
    assert Settings("c", identity=NoToken(), collectors=COLLECTORS).needs_kubernetes
    secret = SecretToken("here", "c-rest-jwt-key")
    assert Settings("c", identity=secret, collectors=slurm_only).needs_kubernetes


def test_a_token_is_never_shown():
    assert "hush" not in repr(Settings("c", identity=StaticToken("hush")))


def test_workers_are_told_by_their_cluster_unless_said_otherwise():
    assert Settings("c").selector == "app.kubernetes.io/instance=c,slurm.nebius.ai/worker=true"
    assert Settings("c", worker_selector="a=b").selector == "a=b"
