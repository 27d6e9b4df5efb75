"""The operator's monitor finds what the chart makes."""

import sys

from charts.helm import Helm
from observe.shipped import objects
from shoal.cli.environment import settings
from shoal.local import programs
from shoal.local.bar import progress


def test_the_monitor_of_the_operator_selects_the_charts_service(tmp_path):
    folder = programs.provide(settings(), progress(sys.stderr), ("helm",))
    service = Helm(folder / "helm", tmp_path).render().one("Service", "slurm-operator-metrics")
    (monitor,) = (
        obj
        for obj in objects("monitors")
        if obj.get("metadata", {}).get("name") == "slurm-operator"
    )
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["namespaceSelector"]["matchNames"] == [service["metadata"]["namespace"]]
    ports = {port["name"] for port in service["spec"]["ports"]}
    assert {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]} == ports
