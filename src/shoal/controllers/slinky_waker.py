"""Which event wakes which object of slinky.slurm.net."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..dialects.slinky import types
from ..dialects.slinky.types import (
    ACCOUNTING,
    CONTROLLER,
    LOGIN_SET,
    NODE_SET,
    REST_API,
    TOKEN,
)
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.nodes import Node
from ..kube.objects import Key, Resource, controller_of
from ..model.nodeset import Mode
from ..runtime.watches import Keys, Watch, main, owned
from .world import World

INSTANCE = "app.kubernetes.io/instance"
# What each kind makes, and wants to hear of.
MADE: Mapping[Kind, Sequence[Kind]] = {
    CONTROLLER: (
        kinds.STATEFUL_SET,
        kinds.SERVICE,
        kinds.CONFIG_MAP,
        kinds.POD_DISRUPTION_BUDGET,
        kinds.SERVICE_MONITOR,
        kinds.POD,
    ),
    ACCOUNTING: (kinds.STATEFUL_SET, kinds.SERVICE, kinds.SECRET),
    REST_API: (kinds.DEPLOYMENT, kinds.SERVICE),
    LOGIN_SET: (kinds.DEPLOYMENT, kinds.SERVICE, kinds.CONFIG_MAP, kinds.SECRET),
    NODE_SET: (kinds.POD, kinds.CONFIG_MAP, kinds.CONTROLLER_REVISION),
    TOKEN: (kinds.SECRET,),
}
# The program in the pods of each kind, by which a pod is known.
PROGRAMS = {
    "slurmctld": CONTROLLER,
    "slurmdbd": ACCOUNTING,
    "slurmrestd": REST_API,
    "login": LOGIN_SET,
}
NAME = "app.kubernetes.io/name"
EVERY_NODE = Mode.EVERY_NODE.value
OF_A_CLUSTER = (REST_API, LOGIN_SET, NODE_SET)


@dataclass(frozen=True)
class Waker:
    """Which events wake which keys."""

    world: World

    def watches(self, kind: Kind) -> Sequence[Watch]:
        """Return what wakes the objects of a kind."""
        rows = [main(kind), *(owned(made, by=kind) for made in MADE[kind])]
        rows += [Watch(used, self._users(used, kind)) for used in (kinds.SECRET, kinds.CONFIG_MAP)]
        if kind in PROGRAMS.values():
            rows.append(Watch(kinds.POD, _by_program(kind)))
        if kind == CONTROLLER:
            rows.append(Watch(NODE_SET, _controller_of))
            rows.append(Watch(ACCOUNTING, self._users(ACCOUNTING, CONTROLLER)))
        if kind == NODE_SET:
            rows.append(Watch(kinds.NODE, self._on_node, node_changed))
        if kind in OF_A_CLUSTER:
            rows.append(Watch(CONTROLLER, self._users(CONTROLLER, kind)))
            rows.append(Watch(kinds.SECRET, self._through_cluster(kinds.SECRET, kind)))
        if kind == REST_API:
            rows.append(Watch(NODE_SET, self._beside(REST_API)))
            rows.append(Watch(ACCOUNTING, self._through_cluster(ACCOUNTING, kind)))
            rows.append(Watch(kinds.CONFIG_MAP, self._configured(kind)))
        return rows

    def nodesets(self, cluster: Key) -> Iterable[Key]:
        """Name the NodeSets of a cluster."""
        return [one.key for one in self.world.users(CONTROLLER, *cluster, NODE_SET)]

    def leaving(self, obj: types.Controller | types.RestApi) -> bool:
        """Say whether NodeSets of an object's cluster are deleted and not gone yet."""
        if isinstance(obj, types.Controller):
            name = obj.metadata.name
        else:
            name = obj.spec.controller_ref.name
        found = self.world.users(CONTROLLER, obj.metadata.namespace, name, NODE_SET)
        return any(nodeset.deleting for nodeset in found)

    def _beside(self, kind: Kind) -> Callable[[types.NodeSet], Keys]:
        def keys(nodeset: types.NodeSet) -> Keys:
            space, name = _controller_of(nodeset)[0]
            return [one.key for one in self.world.users(CONTROLLER, space, name, kind)]

        return keys

    def _users(self, of: Kind, by: Kind) -> Callable[[Resource], Keys]:
        def keys(obj: Resource) -> Iterable[Key]:
            return [user.key for user in self.world.users(of, *obj.key, by)]

        return keys

    def _on_node(self, node: Resource) -> Iterable[Key]:
        """Name the NodeSets that have a worker on a node, or want one on every node."""
        found = {
            (pod.metadata.namespace, owner.name)
            for pod in self.world.pods_on(node.metadata.name)
            if (owner := controller_of(pod)) is not None and owner.kind == NODE_SET.kind
        }
        every = (one for one in self.world.stores[NODE_SET] if one.spec.scaling_mode == EVERY_NODE)
        return found | {one.key for one in every}

    def _through_cluster(self, of: Kind, by: Kind) -> Callable[[Resource], Keys]:
        def keys(obj: Resource) -> Iterable[Key]:
            space, name = obj.key
            clusters = (one.metadata.name for one in self.world.users(of, space, name, CONTROLLER))
            users = (self.world.users(CONTROLLER, space, one, by) for one in clusters)
            return [user.key for several in users for user in several]

        return keys

    def _configured(self, by: Kind) -> Callable[[Resource], Keys]:
        def keys(config: Resource) -> Iterable[Key]:
            owner = controller_of(config)
            if owner is None or owner.kind != CONTROLLER.kind:
                return ()
            users = self.world.users(CONTROLLER, config.metadata.namespace, owner.name, by)
            return [user.key for user in users]

        return keys


def node_changed(before: Node | None, after: Node | None) -> bool:
    """Let pass what counts of a node; its heartbeat does not."""
    if before is None or after is None:
        return True
    old, new = before.metadata, after.metadata
    return (
        before.spec != after.spec
        or before.status != after.status
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
    )


def _by_program(kind: Kind) -> Callable[[Resource], Keys]:
    def keys(pod: Resource) -> Iterable[Key]:
        labels = pod.metadata.labels
        if PROGRAMS.get(labels.get(NAME, "")) != kind or INSTANCE not in labels:
            return ()
        return ((pod.metadata.namespace, labels[INSTANCE]),)

    return keys


def _controller_of(nodeset: types.NodeSet) -> tuple[Key]:
    return ((nodeset.metadata.namespace, nodeset.spec.controller_ref.name),)
