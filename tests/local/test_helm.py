"""Helm installs, upgrades and removes charts, as people do in clusters of their own."""

import json
from pathlib import Path

import pytest

from .clusters import Local

CHART = """
apiVersion: v2
name: demo
version: 0.1.0
# As charts that people publish have it; a Helm that does not know its Kubernetes refuses.
kubeVersion: ">=1.31.0-0"
"""
VALUES = "replicas: 1\n"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: shoal/pause:1
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """Give a small chart: a Deployment."""
    folder = tmp_path / "demo"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(CHART)
    (folder / "values.yaml").write_text(VALUES)
    (folder / "templates/deployment.yaml").write_text(DEPLOYMENT)
    return folder


def ready(cluster: Local) -> int:
    return cluster.get("deployment", "demo")["status"].get("readyReplicas", 0)


def test_a_chart_is_installed_upgraded_rolled_back_and_uninstalled(ns, chart):
    wait = ("--wait", "--timeout=120s")
    ns.helm("install", "demo", chart, *wait)
    assert ready(ns) == 1
    ns.helm("upgrade", "demo", chart, "--set=replicas=2", *wait)
    assert ready(ns) == 2
    ns.helm("rollback", "demo", "1", *wait)
    assert ready(ns) == 1
    history = json.loads(ns.helm("history", "demo", "--output=json").out)
    assert [entry["status"] for entry in history] == ["superseded", "superseded", "deployed"]
    ns.helm("uninstall", "demo", *wait)
    assert not ns.exists("deployment", "demo")
    assert json.loads(ns.helm("list", "--all", "--output=json").out) == []


def test_a_chart_renders_offline_for_this_kubernetes(ns, chart):
    rendered = ns.helm("template", "demo", chart).out
    assert "kind: Deployment" in rendered
