"""Workers of one shape. Pure."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..kube.objects import Object
from .jailed import JailedWorkers, Registration
from .part import KeyRef, Part


class Mode(enum.Enum):
    """How many workers there are."""

    REPLICAS = "StatefulSet"  # as many as asked for
    EVERY_NODE = "DaemonSet"  # one on each node that fits


@dataclass(frozen=True)
class Partition:
    """A partition of these workers alone."""

    config: str = ""  # its options, as slurm.conf has them


@dataclass(frozen=True)
class Ssh:
    """People with a job on a worker may log in to it."""

    sssd: KeyRef
    config: str  # the ConfigMap with sshd_config
    extra_sshd: str = ""


class Strategy(enum.Enum):
    """When running workers are replaced by newer ones."""

    ROLLING = "RollingUpdate"  # as soon as they are drained, so many at a time
    ON_DELETE = "OnDelete"  # when somebody deletes them
    SCHEDULED = "ScheduledUpdate"  # in a maintenance window


@dataclass(frozen=True)
class Window:
    """A maintenance window: a reservation of Slurm's."""

    reservation: str  # its name
    start: datetime
    duration: timedelta
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Update:
    """How running workers are replaced by newer ones."""

    strategy: Strategy = Strategy.ROLLING
    max_unavailable: int | str = "25%"  # of the workers, at a time; rounded up
    window: Window | None = None


@dataclass(frozen=True)
class Retention:
    """What becomes of a worker's claims."""

    delete_with_set: bool = False  # when the NodeSet is deleted
    delete_with_worker: bool = False  # when the worker is scaled in


@dataclass(frozen=True)
class NodeSet:
    """Workers of one shape."""

    part: Part
    slurm_name: str  # of its feature, its node set and its partition in Slurm
    hostname_prefix: str  # a worker's Slurm node is this and its number
    service: str  # the headless Service that all workers of the cluster share
    budget: str  # the PodDisruptionBudget that they share
    mode: Mode = Mode.REPLICAS
    replicas: int = 1
    padding: int = 0  # digits of a worker's number
    extra: str = ""  # keys of the Slurm node
    partition: Partition | None = None
    ssh: Ssh | None = None
    claims: tuple[Object, ...] = ()
    retention: Retention = Retention()
    update: Update = Update()
    revisions: int = 0  # how many old ones are kept
    min_ready: timedelta = timedelta()  # after that a ready worker counts as available
    pin: bool = False  # a worker comes back to the Kubernetes node it was on
    prune: bool = False  # Slurm forgets nodes whose Kubernetes node is gone
    oversubscribe: bool = False  # several workers may share a node
    protect: bool = True  # busy workers are not evicted
    cluster: str = ""  # the object that stands for its cluster
    revision: str = ""  # that new workers are made by
    # Labels that pods of all workers have, of any NodeSet, and no other pod; empty: the program's.
    alike: Mapping[str, str] = field(default_factory=dict)
    jailed: JailedWorkers | None = None  # where its pods have a shared root

    @property
    def in_conf(self) -> bool:
        """Say whether slurm.conf names its nodes: Slurm forgets no such node, nor need it."""
        return self.jailed is not None and self.jailed.registration is Registration.STATIC

    @property
    def on_nodes_network(self) -> bool:
        """Say whether its workers are on the network of their nodes, and called after them."""
        return bool(self.part.pods.spec.get("hostNetwork"))

    def pod_name(self, number: int) -> str:
        """Return what worker `number` is called."""
        return f"{self.part.name}-{self.index(number)}"

    def pod_name_on(self, node: str) -> str:
        """Return what the worker of a Kubernetes node is called, where every node has one."""
        return f"{self.part.name}-{node}"

    def hostname(self, number: int) -> str:
        """Return the hostname of worker `number`, which is its Slurm node's name too."""
        return f"{self.hostname_prefix}{self.index(number)}"

    def index(self, number: int) -> str:
        """Return a worker's number as its names have it."""
        return f"{number:0{self.padding}d}"
