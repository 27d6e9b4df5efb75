"""The controllers of slinky.slurm.net: which object wakes which, and how each is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..dialects.slinky import read, report, types
from ..dialects.slinky.types import (
    ACCOUNTING,
    CONTROLLER,
    KINDS,
    LOGIN_SET,
    NODE_SET,
    REST_API,
    TOKEN,
    TYPES,
)
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource, controller_of
from ..kubeapi.errors import ApiError
from ..model.cluster import Cluster
from ..model.login import LoginSet
from ..model.nodeset import NodeSet
from ..model.rest import RestApi
from ..runtime.controller import Controller, Reconcile
from ..runtime.watches import Keys, Watch, main, owned
from ..slurmapi.errors import SlurmError
from .accounting import AccountingController
from .controller import ControllerController
from .login import LoginController
from .nodeset import NodeSetController
from .passes import Hands
from .rest import RestController
from .slurms import Slurm, Slurms
from .token import TokenController
from .world import World

OWN: Mapping[Kind, type[Resource]] = {kind: TYPES[kind.kind] for kind in KINDS}
references = read.references
INSTANCE = "app.kubernetes.io/instance"


@dataclass(frozen=True)
class Settings:
    """What the operator is told on its command line."""

    images: Mapping[str, str] = field(default_factory=dict)
    domain: str = "cluster.local"
    workers: Mapping[Kind, int] = field(default_factory=dict)  # passes side by side; 1 otherwise


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
        nodesets = self.world.users(CONTROLLER, space, name, NODE_SET)
        living = [nodeset for nodeset in nodesets if not nodeset.deleting]
        return read.cluster(obj, living, accounting, self.around(space))

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
        """Return the slurmrestd to ask about a cluster: the oldest."""
        found = self.world.users(CONTROLLER, cluster.namespace, cluster.name, REST_API)
        living = [rest for rest in found if not rest.deleting]
        oldest = min(
            living,
            key=lambda r: (r.metadata.creation_timestamp or "", r.metadata.name),
            default=None,
        )
        return read.rest(oldest, self.around(cluster.namespace)) if oldest else None

    def jwt_key(self, cluster: Cluster) -> bytes | None:
        """Return the key that a cluster's tokens are signed with."""
        ref, found = cluster.keys.jwt, self.world.found(cluster.namespace).secrets
        return found.get(ref.name, {}).get(ref.key) if ref else None


def controllers(hands: Hands, slurms: Slurms, settings: Settings) -> Sequence[Controller]:
    """Return the dialect's controllers."""
    reader, waker = Reader(hands.world, settings), Waker(hands.world)

    async def slurm(cluster: Cluster) -> Slurm | None:
        return await slurms.of(cluster, reader.rest_of(cluster), reader.jwt_key(cluster))

    # Each reads its own kind: the table mixes them, so their readers are not typed by kind here.
    reconcile: Mapping[Kind, Reconcile] = {
        CONTROLLER: ControllerController(hands, CONTROLLER, reader.cluster, slurm).reconcile,  # type: ignore[arg-type]
        ACCOUNTING: AccountingController(
            hands,
            ACCOUNTING,
            lambda obj: read.accounting(obj, reader.around(obj.metadata.namespace)),  # type: ignore[arg-type]
        ).reconcile,
        REST_API: RestController(hands, REST_API, reader.rest).reconcile,  # type: ignore[arg-type]
        LOGIN_SET: LoginController(hands, LOGIN_SET, reader.login, report.login).reconcile,  # type: ignore[arg-type]
        NODE_SET: NodeSetController(
            hands,
            NODE_SET,
            reader.nodeset,  # type: ignore[arg-type]
            slurm,
            report.nodeset,
        ).reconcile,
        TOKEN: TokenController(
            hands,
            TOKEN,
            lambda obj: read.token(obj, hands.world.found(obj.metadata.namespace)),  # type: ignore[arg-type]
            report.token,
        ).reconcile,
    }
    return [
        Controller(
            kind.kind.lower(),
            waker.watches(kind),
            hands.telling(kind, reconcile[kind]),
            workers=settings.workers.get(kind, 1),
            expected=(ApiError, SlurmError),
        )
        for kind in KINDS
    ]


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
    NODE_SET: (kinds.POD, kinds.CONFIG_MAP),
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
        if kind in OF_A_CLUSTER:
            rows.append(Watch(CONTROLLER, self._users(CONTROLLER, kind)))
            rows.append(Watch(kinds.SECRET, self._through_cluster(kinds.SECRET, kind)))
        if kind == REST_API:
            rows.append(Watch(ACCOUNTING, self._through_cluster(ACCOUNTING, kind)))
            rows.append(Watch(kinds.CONFIG_MAP, self._configured(kind)))
        return rows

    def _users(self, of: Kind, by: Kind) -> Callable[[Resource], Keys]:
        def keys(obj: Resource) -> Iterable[Key]:
            return [user.key for user in self.world.users(of, *obj.key, by)]

        return keys

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


def _by_program(kind: Kind) -> Callable[[Resource], Keys]:
    def keys(pod: Resource) -> Iterable[Key]:
        labels = pod.metadata.labels
        if PROGRAMS.get(labels.get(NAME, "")) != kind or INSTANCE not in labels:
            return ()
        return ((pod.metadata.namespace, labels[INSTANCE]),)

    return keys


def _controller_of(nodeset: types.NodeSet) -> Keys:
    return ((nodeset.metadata.namespace, nodeset.spec.controller_ref.name),)
