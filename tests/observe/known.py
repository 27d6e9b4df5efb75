"""Every series that exporter and operator have: its name and its labels."""

from collections.abc import Mapping
from functools import cache

from prometheus_client.parser import text_string_to_metric_families

from shoal.exporter.catalogue import METRICS, Kind

from .operator import Operator

# Labels that Prometheus gives to what it reads from a target; docs/monitoring.md says how.
TARGET = frozenset({"namespace", "slurm_cluster", "job", "instance"})
PARTS = {"_bucket": frozenset({"le"}), "_sum": frozenset(), "_count": frozenset()}

Series = Mapping[str, frozenset[str]]


@cache
def exporter() -> Series:
    """Return the names and labels of the exporter's series."""
    found: dict[str, frozenset[str]] = {}
    for metric in METRICS:
        labels = frozenset(metric.labels)
        if metric.kind is Kind.HISTOGRAM:
            found |= {metric.name + tail: labels | more for tail, more in PARTS.items()}
        else:
            found[metric.name] = labels
    return found


@cache
def operator() -> Series:
    """Return the names and labels of the operator's series."""
    families = text_string_to_metric_families(Operator().text())
    return {s.name: frozenset(s.labels) for family in families for s in family.samples}


@cache
def everything() -> Series:
    """Return both; what both have has no labels of its own."""
    return {**exporter(), **operator()}
