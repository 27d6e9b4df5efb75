"""Reads objects of slinky.slurm.net with what belongs to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..dialects.slinky import read, types
from ..dialects.slinky.types import ACCOUNTING, CONTROLLER, NODE_SET, REST_API
from ..kube.kinds import Kind
from ..model.cluster import Cluster
from ..model.login import LoginSet
from ..model.nodeset import NodeSet
from ..model.rest import RestApi
from .world import World


@dataclass(frozen=True)
class Settings:
    """What the operator is told on its command line."""

    images: Mapping[str, str] = field(default_factory=dict)
    domain: str = "cluster.local"
    workers: Mapping[Kind, int] = field(default_factory=dict)  # passes side by side; 1 otherwise
    shown: frozenset[str] = frozenset()  # types of node conditions that explain a cordon
    unused: frozenset[Kind] = frozenset()  # kinds of others that are left alone though they exist
    # Which controllers run, of dialects that have names for them; None: all.
    controllers: frozenset[str] | None = None


@dataclass(frozen=True)
class Reader:
    """Reads objects of the dialect with what belongs to them."""

    world: World
    settings: Settings

    def around(self, namespace: str) -> read.Around:
        """Return what is read together with an object of a namespace."""
        return read.Around(self.world.found(namespace), self.settings.images, self.settings.domain)

    def cluster(self, obj: types.Controller) -> Cluster:
        """Read a Controller."""
        space, name = obj.key
        ref = obj.spec.accounting_ref
        accounting = self.world.get(ACCOUNTING, (space, ref.name)) if ref else None
        # One that is deleted counts until it is gone: its partition may still have jobs.
        nodesets = self.world.users(CONTROLLER, space, name, NODE_SET)
        return read.cluster(obj, nodesets, accounting, self.around(space))

    def cluster_of(self, obj: types.NodeSet | types.LoginSet | types.RestApi) -> Cluster | None:
        """Read the cluster that an object belongs to; None: its Controller is not there."""
        found = self.world.get(CONTROLLER, (obj.metadata.namespace, obj.spec.controller_ref.name))
        return self.cluster(found) if found else None

    def rest(self, obj: types.RestApi) -> tuple[Cluster | None, RestApi]:
        """Read a RestApi."""
        return self.cluster_of(obj), read.rest(obj, self.around(obj.metadata.namespace))

    def login(self, obj: types.LoginSet) -> tuple[Cluster | None, LoginSet]:
        """Read a LoginSet."""
        return self.cluster_of(obj), read.login(obj, self.around(obj.metadata.namespace))

    def nodeset(self, obj: types.NodeSet) -> tuple[Cluster | None, NodeSet]:
        """Read a NodeSet."""
        return self.cluster_of(obj), read.nodeset(obj, self.around(obj.metadata.namespace))

    def rest_of(self, cluster: Cluster) -> RestApi | None:
        """Return the slurmrestd to ask about a cluster: the oldest that stays, or else any."""
        found = self.world.users(CONTROLLER, cluster.namespace, cluster.name, REST_API)
        oldest = min(
            found,
            key=lambda r: (r.deleting, r.metadata.creation_timestamp or "", r.metadata.name),
            default=None,
        )
        return read.rest(oldest, self.around(cluster.namespace)) if oldest else None

    def jwt_key(self, cluster: Cluster) -> bytes | None:
        """Return the key that a cluster's tokens are signed with."""
        ref, found = cluster.keys.jwt, self.world.found(cluster.namespace).secrets
        return found.get(ref.name, {}).get(ref.key) if ref else None
