"""Alerts as data, and as Prometheus and its operator read them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

Json = dict[str, object]

# What tells clusters apart: labels of the target, see docs/monitoring.md. In an expression `$place`
# stands for them; where Prometheus knows only one cluster they are empty, and all works the same.
PLACE = "namespace, slurm_cluster"
WHERE = "{{ $labels.namespace }}/{{ $labels.slurm_cluster }}"


class Severity(StrEnum):
    """Who hears of it."""

    CRITICAL = "critical"  # somebody is woken
    WARNING = "warning"  # somebody looks during the day
    INFO = "info"  # nobody is told; it is there for whoever looks


@dataclass(frozen=True)
class Alert:
    """A state that somebody should know of once it has lasted for `lasts`."""

    name: str
    expr: str
    lasts: str
    severity: Severity
    summary: str
    description: str

    @property
    def text(self) -> str:
        """Return the expression as Prometheus evaluates it."""
        return " ".join(self.expr.split()).replace("$place", PLACE)

    @property
    def anchor(self) -> str:
        """Return its section in docs/runbooks.md."""
        return self.name.lower()


@dataclass(frozen=True)
class Group:
    """Alerts about one thing, evaluated together."""

    name: str
    alerts: tuple[Alert, ...]


def rule(alert: Alert, runbooks: str) -> Json:
    """Return an alert as a rule that links to its runbook below `runbooks`."""
    return {
        "alert": alert.name,
        "expr": alert.text,
        "for": alert.lasts,
        "labels": {"severity": str(alert.severity)},
        "annotations": {
            "summary": alert.summary.replace("$where", WHERE),
            "description": " ".join(alert.description.split()).replace("$where", WHERE),
            "runbook_url": f"{runbooks}#{alert.anchor}",
        },
    }


def evaluated(group: Group, runbooks: str) -> Json:
    """Return a group as Prometheus evaluates it."""
    return {
        "name": f"shoal-{group.name}",
        "rules": [rule(alert, runbooks) for alert in group.alerts],
    }


def file(group: Group, runbooks: str) -> Json:
    """Return a group as a rule file of Prometheus."""
    return {"groups": [evaluated(group, runbooks)]}


def custom_resource(groups: Sequence[Group], runbooks: str) -> Json:
    """Return all groups as one object for the Prometheus operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "shoal"},
        "spec": {"groups": [evaluated(group, runbooks) for group in groups]},
    }
