"""What decisions about the workers of a NodeSet go by, beside what was seen. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ..kube.nodes import Node
from ..model.naming import Naming
from ..model.nodeset import NodeSet
from ..model.workers import SlurmNode, Worker
from ..slurm.reasons import Prefixes


@dataclass(frozen=True)
class Healing:
    """What is remembered of a worker that Slurm does not know."""

    since: datetime  # it was first seen so
    tries: int = 0  # workers of this name that were replaced for it
    last: datetime | None = None  # when


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a worker; each counts as itself, and no other like it."""

    worker: Worker
    node: SlurmNode
    host: Node | None
    place: str  # the host's name


@dataclass(frozen=True)
class Calm:
    """About whom there was nothing to do, by what wish, and what was seen of them then."""

    wish: "Wanted | None" = None
    sights: Mapping[str, Sight] = field(default_factory=dict)  # by pod's uid


NOBODY = Calm()


@dataclass(frozen=True)
class Wanted:
    """What the workers shall be."""

    nodeset: NodeSet
    naming: Naming
    revision: str  # that new workers are made by
    shown: frozenset[str] = frozenset()  # types of node conditions that explain a cordon
    pinned: Mapping[int, str] = field(default_factory=dict)  # number -> Kubernetes node
    healing: Mapping[str, Healing] = field(default_factory=dict)  # by the node in Slurm
    failures: Mapping[str, Healing] = field(default_factory=dict)  # by Kubernetes node
    deleted_at: datetime | None = None  # the NodeSet goes
    uid: str = ""  # the NodeSet's
    places: bool = False  # Slurm takes a node's place in the topology
    shape: str = ""  # a digest of what workers tell Slurm of their nodes; empty: nobody says
    alone: bool = True  # its cluster stays when the NodeSet goes
    forced: bool = False  # the user says that its jobs may be lost
    calm: Calm = NOBODY  # about whom there was nothing to do in the last pass

    @property
    def deleting(self) -> bool:
        """Say whether the NodeSet goes."""
        return self.deleted_at is not None

    @property
    def prefixes(self) -> Prefixes:
        """Return how our reasons begin."""
        return Prefixes(self.naming.reason_prefix)
