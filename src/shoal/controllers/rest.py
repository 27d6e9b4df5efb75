"""Keep slurmrestd as asked."""

from collections.abc import Callable
from dataclasses import dataclass

from ..decide.conditions import Failed, Need, Wanted
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..model.cluster import Cluster
from ..model.rest import RestApi
from ..render import rest as render
from ..runtime.apply import Rules
from ..runtime.controller import Done
from .passes import Asked, Hands, keys, without_cluster
from .published import LOST, published

RULES = Rules(prune=(kinds.DEPLOYMENT, kinds.SERVICE))


@dataclass(frozen=True)
class RestController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], tuple[Cluster | None, RestApi]]  # the dialect

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # what it owns goes with it
        cluster, rest = self.read(obj)
        asked = self._asked(cluster, rest) if cluster else without_cluster(rest.part, rest.cluster)
        return await self.hands.bring_about(self.kind, obj, asked)

    def _asked(self, cluster: Cluster, rest: RestApi) -> Asked:
        needs: tuple[Need, ...] = (*cluster.lacks, *keys(cluster.keys))
        # What slurmctld uses, not what the user wants: that may be held back, for good even.
        used = published(self.hands.world, cluster)
        if used is None or used is LOST or cluster.lacks:
            why = "the Controller's configuration is not published yet"
            failed = None if cluster.lacks else Failed("Starting", why)
            return Asked((), Rules(), Wanted(needs), rest.part, verdicts=(failed,))
        return Asked(
            render.objects(cluster, rest, used),
            RULES,
            Wanted(needs, pods=rest.replicas),
            rest.part,
            (kinds.DEPLOYMENT, (rest.part.namespace, rest.name)),
        )
