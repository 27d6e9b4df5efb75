"""The controllers of slinky.slurm.net."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from ..dialects.slinky import read, report, types
from ..dialects.slinky.naming import NAMING
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
from ..kube.kinds import Kind
from ..kube.objects import Resource
from ..kubeapi.errors import ApiError
from ..kubeapi.exec import in_pod
from ..model.cluster import Cluster
from ..runtime.controller import Controller, Reconcile
from ..slurmapi.errors import SlurmError
from ..slurmapi.tokens import Run
from .accounting import AccountingController
from .controller import ControllerController
from .happenings import Before
from .holding import Holding
from .inside import look_inside
from .login import LoginController
from .nodeset import NodeSetController
from .passes import Hands
from .pulse import Pulse
from .rest import RestController
from .slinky_reader import Reader, Settings
from .slinky_waker import Waker
from .slurms import Slurm, Slurms
from .token import TokenController
from .windows import Windows

OWN: Mapping[Kind, type[Resource]] = {kind: TYPES[kind.kind] for kind in KINDS}
references = read.references


@dataclass(frozen=True)
class Table:
    """Which reconciler looks after which kind, and by what means."""

    hands: Hands
    slurms: Slurms
    settings: Settings

    @cached_property
    def reader(self) -> Reader:
        """Return what reads the objects."""
        return Reader(self.hands.world, self.settings)

    @cached_property
    def waker(self) -> Waker:
        """Return what knows which event wakes whom."""
        return Waker(self.hands.world)

    async def slurm(self, cluster: Cluster) -> Slurm | None:
        """Return a cluster's Slurm; None: there is nobody to ask."""
        rest, key = self.reader.rest_of(cluster), self.reader.jwt_key(cluster)
        return await self.slurms.of(cluster, rest, key)

    def tools(self, cluster: Cluster) -> Run | None:
        """Return what runs Slurm's own tools; None: slurmctld is not ours."""
        names = [name for name, _ in cluster.controllers]
        if not names:
            return None
        return in_pod(self.hands.client, cluster.namespace, names[0], "slurmctld")

    # Each reads its own kind: the table mixes them, so their readers are not typed by kind here.

    def reconcilers(self) -> Mapping[Kind, Reconcile]:
        """Return who runs the passes of each kind."""
        hands, reader = self.hands, self.reader
        return {
            CONTROLLER: self._holding(
                CONTROLLER,
                ControllerController(hands, CONTROLLER, reader.cluster, self.slurm).reconcile,  # type: ignore[arg-type]
            ),
            ACCOUNTING: AccountingController(
                hands,
                ACCOUNTING,
                lambda obj: read.accounting(obj, reader.around(obj.metadata.namespace)),  # type: ignore[arg-type]
            ).reconcile,
            REST_API: self._holding(
                REST_API,
                RestController(hands, REST_API, reader.rest).reconcile,  # type: ignore[arg-type]
            ),
            LOGIN_SET: LoginController(hands, LOGIN_SET, reader.login, report.login).reconcile,  # type: ignore[arg-type]
            NODE_SET: self._nodesets(),
            TOKEN: TokenController(
                hands,
                TOKEN,
                lambda obj: read.token(obj, hands.world.found(obj.metadata.namespace)),  # type: ignore[arg-type]
                report.token,
            ).reconcile,
        }

    def _nodesets(self) -> Reconcile:
        return NodeSetController(
            self.hands,
            NODE_SET,
            self.reader.nodeset,  # type: ignore[arg-type]
            self.slurm,
            report.nodeset,
            read.pinned,  # type: ignore[arg-type]
            partial(look_inside, self.hands.client),
            NAMING,
            Windows(self.hands, NODE_SET, NAMING, self.tools),
            self.settings.shown,
            before=_before,  # type: ignore[arg-type]
        ).reconcile

    def _holding(self, kind: Kind, then: Reconcile) -> Reconcile:
        leaving = self.waker.leaving
        return Holding(self.hands, kind, NAMING.finalizer, leaving, then).reconcile  # type: ignore[arg-type]


def _before(obj: types.NodeSet) -> Before:
    return Before(int(obj.status.desired or 0), obj.status.node_set_hash)


def controllers(hands: Hands, slurms: Slurms, settings: Settings) -> Sequence[Controller]:
    """Return the dialect's controllers."""
    table = Table(hands, slurms, settings)
    slurms.tools = table.tools
    pulse = Pulse(slurms, table.waker.nodesets)
    return [
        Controller(
            kind.kind.lower(),
            table.waker.watches(kind),
            hands.telling(kind, reconcile),
            workers=settings.workers.get(kind, 1),
            expected=(ApiError, SlurmError),
            sources=(pulse.run,) if kind == NODE_SET else (),
        )
        for kind, reconcile in table.reconcilers().items()
    ]
