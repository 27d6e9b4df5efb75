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
    force: str  # on a NodeSet that is deleted: its jobs may be lost
    has_state: str  # on a cluster, with its uid: slurmctld has run on a state that was to stay
    accept_empty_state: str  # on a cluster: the user gives up that state, and the jobs with it


@dataclass(frozen=True)
class Naming:
    """How a dialect marks what is ours."""

    labels: Labels
    annotations: Annotations
    reason_prefix: str  # of drains that are ours
    feature_prefix: str  # of node features that are ours
    worker_taint: str  # tolerated by every worker
    finalizer: str  # holds a NodeSet, and its cluster, until its workers have no jobs
    window_finalizer: str  # holds a NodeSet while Slurm has a reservation for it
    reservation: str  # with a place for the NodeSet's name: its maintenance window in Slurm

    def digest(self, of: str) -> str:
        """Return the annotation that holds the digest of something that a pod was started with."""
        return self.annotations.digest.format(of)
