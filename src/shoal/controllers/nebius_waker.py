"""Which event wakes which object of slurm.nebius.ai."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..dialects.nebius import defaults, naming, nodeset_types
from ..dialects.nebius.naming import NAMING
from ..dialects.nebius.types import NODE_SET, SLURM_CLUSTER, SlurmCluster
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource, controller_of
from ..runtime.watches import Keys, Watch, main, owned
from .slinky_waker import node_changed
from .world import World

# What each kind makes, and wants to hear of.
MADE: Mapping[Kind, Sequence[Kind]] = {
    SLURM_CLUSTER: (
        kinds.STATEFUL_SET,
        kinds.DEPLOYMENT,
        kinds.DAEMON_SET,
        kinds.SERVICE,
        kinds.CONFIG_MAP,
        kinds.SECRET,
        kinds.POD_DISRUPTION_BUDGET,
        kinds.JOB,
        kinds.POD,
        kinds.CONTROLLER_REVISION,
        kinds.SERVICE_MONITOR,
        kinds.POD_MONITOR,
        kinds.MARIADB,
        kinds.GRANT,
        kinds.APP_ARMOR_PROFILE,
        kinds.SERVICE_ACCOUNT,
        kinds.ROLE,
        kinds.ROLE_BINDING,
    ),
    NODE_SET: (kinds.POD, kinds.CONFIG_MAP, kinds.SERVICE, kinds.CONTROLLER_REVISION),
}
# What workers of a cluster wait for among what is made for it: keys, its root, slurmctld.
AWAITED = (kinds.SECRET, kinds.JOB, kinds.STATEFUL_SET)
BROUGHT = (kinds.SECRET, kinds.CONFIG_MAP)


@dataclass(frozen=True)
class Waker:
    """Which events wake which keys."""

    world: World

    def clusters(self) -> Sequence[Watch]:
        """Return what wakes SlurmClusters."""
        return [
            *self._own(SLURM_CLUSTER, MADE[SLURM_CLUSTER]),
            Watch(NODE_SET, _cluster_of),
            Watch(kinds.POD, _by_labels),
        ]

    def workers(self) -> Sequence[Watch]:
        """Return what wakes the workers of SlurmClusters that are of no NodeSet."""
        made = (kinds.POD, kinds.CONFIG_MAP, kinds.SERVICE, kinds.CONTROLLER_REVISION, *AWAITED)
        return [
            *self._own(SLURM_CLUSTER, made),
            Watch(kinds.NODE, self._on_node(SLURM_CLUSTER), node_changed),
        ]

    def nodesets(self) -> Sequence[Watch]:
        """Return what wakes NodeSets."""
        through = [Watch(kind, self._through_cluster(kind)) for kind in BROUGHT]
        return [
            *self._own(NODE_SET, MADE[NODE_SET]),
            Watch(SLURM_CLUSTER, lambda obj: self.of_cluster(obj.key)),
            *through,
            *(Watch(kind, self._beside) for kind in AWAITED),
            Watch(kinds.NODE, self._on_node(NODE_SET), node_changed),
        ]

    def of_cluster(self, cluster: Key) -> Iterable[Key]:
        """Name the NodeSets of a cluster."""
        return [one.key for one in self.world.users(SLURM_CLUSTER, *cluster, NODE_SET)]

    def itself(self, cluster: Key) -> Iterable[Key]:
        """Name the cluster, if it is there."""
        return [cluster] if self.world.get(SLURM_CLUSTER, cluster) else []

    def leaving(self, obj: SlurmCluster) -> bool:
        """Say whether workers of a cluster that is deleted are drained, and need its slurmctld."""
        if NAMING.finalizer in obj.metadata.finalizers:
            return True
        return any(one.deleting for one in self.world.users(SLURM_CLUSTER, *obj.key, NODE_SET))

    def _own(self, kind: Kind, made: Iterable[Kind]) -> list[Watch]:
        rows = [main(kind), *(owned(one, by=kind) for one in made)]
        return [*rows, *(Watch(used, self._users(used, kind)) for used in BROUGHT)]

    def _users(self, of: Kind, by: Kind) -> Callable[[Resource], Keys]:
        def keys(obj: Resource) -> Iterable[Key]:
            return [user.key for user in self.world.users(of, *obj.key, by)]

        return keys

    def _through_cluster(self, of: Kind) -> Callable[[Resource], Keys]:
        def keys(obj: Resource) -> Iterable[Key]:
            clusters = self.world.users(of, *obj.key, SLURM_CLUSTER)
            return [key for cluster in clusters for key in self.of_cluster(cluster.key)]

        return keys

    def _beside(self, obj: Resource) -> Iterable[Key]:
        """Name the NodeSets of the cluster that an object was made for."""
        owner = controller_of(obj)
        if owner is None or owner.kind != SLURM_CLUSTER.kind:
            return ()
        return self.of_cluster((obj.metadata.namespace, owner.name))

    def _on_node(self, kind: Kind) -> Callable[[Resource], Keys]:
        """Name those who have a worker on a node."""

        def keys(node: Resource) -> Iterable[Key]:
            found: dict[Key, None] = {}
            for pod in self.world.pods_on(node.metadata.name):
                owner = controller_of(pod)
                if owner and owner.kind == kind.kind and owner.api_version == kind.api_version:
                    found[pod.metadata.namespace, owner.name] = None
            return found

        return keys


def _cluster_of(nodeset: nodeset_types.NodeSet) -> Iterable[Key]:
    name = defaults.cluster_of(nodeset)
    return ((nodeset.metadata.namespace, name),) if name else ()


def _by_labels(pod: Resource) -> Iterable[Key]:
    labels = pod.metadata.labels
    if labels.get(naming.NAME) != naming.APP or naming.INSTANCE not in labels:
        return ()
    return ((pod.metadata.namespace, labels[naming.INSTANCE]),)
