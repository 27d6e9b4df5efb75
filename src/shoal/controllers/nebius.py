"""The controllers of slurm.nebius.ai."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ..dialects.nebius import naming, read
from ..dialects.nebius.naming import HOLDS, NAMING
from ..dialects.nebius.types import KINDS, NODE_SET, SLURM_CLUSTER, TYPES, SlurmCluster
from ..kube.conditions import Condition, carry_transitions
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..kubeapi.errors import ApiError, ConflictError
from ..kubeapi.exec import in_pod
from ..model.cluster import Cluster
from ..runtime import clock
from ..runtime.apply import Rules
from ..runtime.controller import Controller, Done, Reconcile
from ..runtime.events import about
from ..slurmapi.errors import SlurmError
from ..slurmapi.tokens import Run
from . import nebius_happenings as happenings
from .controller import ControllerController
from .database import Claims
from .filling import slurmctld
from .holding import Holding
from .inside import look_inside
from .nebius_parts import OF_NODE_SETS, PARTS, rules
from .nebius_reader import Reader, without_cluster
from .nebius_waker import Waker
from .nebius_words import Board, Words, muster
from .nodeset import NodeSetController
from .passes import Asked, Hands, Told
from .passes import Words as Say
from .pulse import Pulse
from .slinky_reader import Settings
from .slurm_cluster import ClusterController, Parts
from .slurms import Slurm, Slurms
from .windows import Windows

OWN: Mapping[Kind, type[Resource]] = {kind: TYPES[kind.kind] for kind in KINDS}
references = read.references
# Passes side by side, at least: one cluster that is slow to answer must delay no other.
LEAST_WORKERS = 8
# When to look again after the other pass over the same object was faster. It is no failure: after
# some of those, as in a namespace that ends, the next look would be minutes away.
CONFLICT_AGAIN_S = 1.0
# As users choose them, by upstream's names.
CLUSTER, NODE_SETS = "cluster", "nodeset"


@dataclass(frozen=True)
class Table:
    """Which reconciler looks after which kind, and by what means."""

    hands: Hands
    slurms: Slurms
    settings: Settings
    board: Board = field(default_factory=Board)
    patience: happenings.Patience = field(default_factory=happenings.Patience)

    @cached_property
    def reader(self) -> Reader:
        """Return what reads the objects."""
        return Reader(self.hands.world, self.settings)

    @cached_property
    def waker(self) -> Waker:
        """Return what knows which event wakes whom."""
        return Waker(self.hands.world)

    @cached_property
    def words(self) -> Words:
        """Return what tells how things are."""
        return Words(self.reader, self.board)

    async def slurm(self, cluster: Cluster) -> Slurm | None:
        """Return a cluster's Slurm; None: there is nobody to ask."""
        rest, key = self.reader.rest_of(cluster), self.reader.jwt_key(cluster)
        return await self.slurms.of(cluster, rest, key)

    def tools(self, cluster: Cluster) -> Run | None:
        """Return what runs Slurm's own tools; None: there is no slurmctld of the cluster's."""
        if slurmctld(self.hands.world, cluster) is None:
            return None
        name, _ = cluster.controllers[0]
        return in_pod(self.hands.client, cluster.namespace, name, "slurmctld")

    def saying(self, kind: Kind, words: Say) -> Hands:
        """Return hands that tell of a kind in its own words."""
        return replace(self.hands, words={**self.hands.words, kind: words})

    # -- events

    def news(self, obj: SlurmCluster, told: Told) -> Done:
        """Make events of the troubles in what is told of a cluster, once each."""
        before, now = self.words.before(obj), clock.now()
        after = carry_transitions(told.conditions, before, now)
        late, again_s = self.patience.overdue(obj.key, after, now)
        for what in (*happenings.news(before, after), *late):
            self.hands.record(about(SLURM_CLUSTER, obj), what)
        return Done(again_s)

    def _refusal(self, obj: SlurmCluster, ready: Condition, asked: Asked) -> Told:
        told = self.words.refusal(obj, ready, asked)
        self.news(obj, told)
        return told

    # -- reconcilers

    def clusters(self) -> Reconcile:
        """Return who runs the passes over SlurmClusters."""
        hands, reader = self.saying(SLURM_CLUSTER, self._refusal), self.reader
        controllers = ControllerController(
            hands,
            SLURM_CLUSTER,
            reader.cluster,  # type: ignore[arg-type]
            self.slurm,
            rules(naming.CONTROLLER),
        )
        whole = ClusterController(
            hands,
            SLURM_CLUSTER,
            reader.whole,
            reader.pods,
            self.words.cluster,
            self.words.farewell,
            _parts(),
            controllers,
            Claims(hands),
            self.news,
        )
        held = Holding(hands, SLURM_CLUSTER, HOLDS, self.waker.leaving, whole.reconcile)  # type: ignore[arg-type]
        return hands.telling(SLURM_CLUSTER, yielding(held.reconcile))

    def workers(self) -> Reconcile:
        """Return who runs the passes over the workers of SlurmClusters that are of no NodeSet."""
        hands, usual = self.saying(SLURM_CLUSTER, self.board.take), rules(naming.WORKERS)

        def unused(obj: Resource) -> bool:
            """Say whether no worker is left that may have mounted it."""
            cluster = obj.metadata.labels.get(naming.INSTANCE, "")
            return usual.among(obj) and not self.reader.staffed(obj.metadata.namespace, cluster)

        made = replace(usual, among=unused)
        engine = self._engine(hands, SLURM_CLUSTER, self.reader.workers, made)  # type: ignore[arg-type]

        async def reconcile(key: Key) -> Done:
            obj: SlurmCluster | None = hands.world.get(SLURM_CLUSTER, key)
            if obj is None:
                self.patience.forget(key)
                await self.slurms.forget(key)
            if obj is None or not self.reader.left(obj):
                self.board.said.pop(key, None)
                return Done()
            # What holds slurmctld comes first: both would write the finalizers.
            if not obj.deleting and HOLDS not in obj.metadata.finalizers:
                return Done()
            return await engine.reconcile(key)

        return hands.telling(SLURM_CLUSTER, yielding(reconcile))

    def nodesets(self) -> Reconcile:
        """Return who runs the passes over NodeSets."""
        hands = self.saying(NODE_SET, self.words.nodeset)
        engine = self._engine(hands, NODE_SET, self.reader.nodeset, OF_NODE_SETS)  # type: ignore[arg-type]
        return hands.telling(NODE_SET, engine.reconcile)

    def _engine(
        self,
        hands: Hands,
        kind: Kind,
        reads: Callable[[Resource], tuple[Cluster | None, object]],
        made: Rules,
    ) -> NodeSetController:
        return NodeSetController(
            hands,
            kind,
            reads,  # type: ignore[arg-type]
            self.slurm,
            muster,
            lambda _: {},
            partial(look_inside, hands.client),
            NAMING,
            Windows(hands, kind, NAMING, self.tools),
            self.settings.shown,
            rules=made,
            held=self.reader.held,
            missing=without_cluster,
            whose=lambda obj: f"{kind.plural}.{kind.group} {obj.metadata.name}",
        )


def yielding(reconcile: Reconcile) -> Reconcile:
    """Return `reconcile` that looks again soon where somebody else has written its object."""

    async def passing(key: Key) -> Done:
        try:
            return await reconcile(key)
        except ConflictError:
            return Done(CONFLICT_AGAIN_S)

    return passing


def _parts() -> Parts:
    return Parts(*PARTS, rules)


def controllers(hands: Hands, slurms: Slurms, settings: Settings) -> Sequence[Controller]:
    """Return the dialect's controllers."""
    table = Table(hands, slurms, settings)
    slurms.tools = table.tools
    waker = table.waker
    rows = (
        (
            CLUSTER,
            "slurmcluster",
            SLURM_CLUSTER,
            waker.clusters(),
            table.clusters(),
            table.board.run,
        ),
        (
            CLUSTER,
            "slurmcluster-workers",
            SLURM_CLUSTER,
            waker.workers(),
            table.workers(),
            Pulse(slurms, waker.itself).run,
        ),
        (
            NODE_SETS,
            "slurmcluster-nodesets",
            NODE_SET,
            waker.nodesets(),
            table.nodesets(),
            Pulse(slurms, waker.of_cluster).run,
        ),
    )
    return [
        Controller(
            name,
            watches,
            reconcile,
            workers=max(settings.workers.get(kind, 1), LEAST_WORKERS),
            expected=(ApiError, SlurmError),
            sources=(source,),
        )
        for chosen, name, kind, watches, reconcile, source in rows
        if settings.controllers is None or chosen in settings.controllers
    ]
