"""Workers of one shape. Pure."""

import enum
from dataclasses import dataclass

from ..kube.objects import Object
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
    oversubscribe: bool = False  # several workers may share a node
    protect: bool = True  # busy workers are not evicted
    cluster: str = ""  # the object that stands for its cluster

    def pod_name(self, number: int) -> str:
        """Return what worker `number` is called."""
        return f"{self.part.name}-{self.index(number)}"

    def hostname(self, number: int) -> str:
        """Return the hostname of worker `number`, which is its Slurm node's name too."""
        return f"{self.hostname_prefix}{self.index(number)}"

    def index(self, number: int) -> str:
        """Return a worker's number as its names have it."""
        return f"{number:0{self.padding}d}"
