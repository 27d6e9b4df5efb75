"""Keys and prefixes by which a dialect marks objects, pods and Slurm nodes. Pure.

The names of single objects are not here: each part of the model carries its own, filled in.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    """Label keys."""

    cluster: str
    active: str  # on the slurmctld that serves, where there are several
    pod_name: str
    pod_index: str
    pod_hostname: str  # the name of the worker's Slurm node
    pod_protect: str
    scaling_mode: str
    revision: str


@dataclass(frozen=True)
class Annotations:
    """Annotation keys; `digest` has a place for what was digested."""

    digest: str
    pod_cordon: str
    pod_deletion_cost: str
    pod_deadline: str
    topology: str
    features: str
    node_cordon_reason: str
    hostname_override: str


@dataclass(frozen=True)
class Naming:
    """How a dialect marks what is ours."""

    labels: Labels
    annotations: Annotations
    reason_prefix: str  # of drains that are ours
    feature_prefix: str  # of node features that are ours
    worker_taint: str  # tolerated by every worker

    def digest(self, of: str) -> str:
        """Return the annotation that holds the digest of something that a pod was started with."""
        return self.annotations.digest.format(of)
