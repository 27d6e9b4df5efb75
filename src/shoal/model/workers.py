"""The workers of a NodeSet as they were seen: pods, their nodes, and what Slurm says. Pure.

Unknown is a value: `slurm` is None where Slurm did not answer, a node that it does not name is not
in it, and a worker into which nobody looked is not in `steps`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from ..kube.nodes import Node
from ..kube.objects import Object
from ..kube.pods import Pod
from ..slurm.nodes import CONDITION_PREFIX, NodeState
from .nodeset import NodeSet


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node of Slurm's."""

    name: str
    state: NodeState
    reason: str = ""
    reason_at: datetime | None = None
    started_at: datetime | None = None  # its slurmd
    comment: str = ""
    features: tuple[str, ...] = ()
    active_features: tuple[str, ...] = ()
    topology: str = ""
    reservation: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A run of a batch job."""

    job_id: int
    host: str  # the node in Slurm that its script runs on
    start: datetime


@dataclass(frozen=True)
class Worker:
    """One worker. It is made anew only with its pod, so what is asked often is worked out once."""

    pod: Pod
    node: str  # in Slurm
    number: int | None  # None: it is its Kubernetes node's worker
    revision: str  # by which it was made
    mode: str  # of the NodeSet, when it was made

    @property
    def name(self) -> str:
        """Return its pod's name."""
        return self.pod.metadata.name

    @cached_property
    def uid(self) -> str:
        """Return its pod's uid."""
        return self.pod.metadata.uid

    @cached_property
    def ready(self) -> bool:
        """Say whether its pod serves."""
        return self.pod.ready

    def available(self, now: datetime, after: timedelta) -> bool:
        """Say whether its pod has served for long enough."""
        return self.pod.available(now, after) if after else self.ready

    @cached_property
    def shown(self) -> Mapping[str, str | None]:
        """Return what its pod shows of its Slurm node: type of condition -> message."""
        # One that is not true is shown as if it had no message, and so never as it should be.
        return {
            c.type: c.message if c.status == "True" else None
            for c in self.pod.status.conditions
            if c.type.startswith(CONDITION_PREFIX)
        }

    @cached_property
    def pod_info(self) -> str:
        """Return which pod it is, as the comment of its Slurm node begins; without an end."""
        # What Kubernetes takes as a name needs no escape in JSON.
        meta, host = self.pod.metadata, self.pod.spec.node_name
        return f'{{"namespace":"{meta.namespace}","podName":"{meta.name}","node":"{host}",'

    @cached_property
    def living(self) -> bool:
        """Say whether it has not ended, and nobody ended it."""
        return not self.pod.over and not self.pod.deleting


@dataclass(frozen=True)
class Fleet:
    """All that is known of a NodeSet's workers at one moment."""

    workers: tuple[Worker, ...]
    now: datetime
    slurm: Mapping[str, SlurmNode] | None = None  # by name; None: Slurm did not answer
    nodes: Mapping[str, Node] = field(default_factory=dict)  # Kubernetes', by name
    # When the time limits of the jobs on a Slurm node have run out; one without jobs is not in it.
    # None: nobody asked, as it does not matter now, or nobody knows.
    ends: Mapping[str, datetime] | None = None
    steps: Mapping[str, bool] = field(default_factory=dict)  # by pod's uid: whether steps run in it
    claims: Mapping[str, Object] = field(default_factory=dict)  # by name: the workers' claims
    abandoned: bool = False  # its cluster is gone: there is no Slurm to ask
    batches: tuple[Batch, ...] = ()  # jobs that Slurm takes for running, where anybody asked
    others: frozenset[str] = frozenset()  # Slurm nodes of other NodeSets, where names may meet

    def slurm_node(self, worker: Worker) -> SlurmNode | None:
        """Return a worker's Slurm node; None: Slurm does not answer, or does not know it."""
        return self.slurm.get(worker.node) if self.slurm is not None else None

    def node(self, worker: Worker) -> Node | None:
        """Return the Kubernetes node that a worker is on."""
        return self.nodes.get(worker.pod.spec.node_name)


@dataclass(frozen=True)
class Muster:
    """What the status of a NodeSet is made of."""

    nodeset: NodeSet
    fleet: Fleet
    generation: int  # of the object that asks for them
    revision: str  # that new workers are made by
    desired: int  # how many there should be
    collisions: int = 0  # names of revisions that were found taken
    pinned: Mapping[int, str] = field(default_factory=dict)  # number -> Kubernetes node
