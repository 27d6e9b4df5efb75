"""What tells Prometheus about a cluster. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.objects import Object
from .part import Part


@dataclass(frozen=True)
class PodMonitor:
    """How Prometheus reads the exporter."""

    job_label: str = "slurm-exporter"
    interval: str = "30s"
    scrape_timeout: str = "20s"
    relabel: tuple[Object, ...] = ()
    metric_relabel: tuple[Object, ...] = ()


@dataclass(frozen=True)
class Exporter:
    """A pod that asks Slurm now and then, and answers Prometheus."""

    part: Part
    name: str
    monitor: PodMonitor | None = None  # None: nobody here knows PodMonitors
    collection_interval: str = "30s"
    settings: Mapping[str, str] = field(default_factory=dict)  # more flags, by their names
    cluster: str = ""  # the object that stands for its cluster
    account: str = ""  # how the account of its own is called, and its role; empty: the user's
