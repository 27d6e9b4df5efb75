"""Keep the workers of a NodeSet as asked."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from ..decide import scale
from ..decide.conditions import Wanted
from ..decide.plan import CreateWorker, DeleteWorker, DrainWorker, Plan, Wait
from ..decide.scale import Worker, Workers
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource
from ..kube.pods import Pod
from ..model.cluster import Cluster
from ..model.nodeset import NodeSet
from ..render import nodeset as render
from ..runtime.apply import Outcome, Rules, delete
from ..runtime.controller import Done
from ..slurm.reasons import Prefixes
from .passes import Asked, Hands, keys, soonest, without_cluster
from .slurms import Slurm

POSTED = Rules(post=(kinds.POD,))
OWN = Rules(prune=(kinds.CONFIG_MAP,))
log = structlog.get_logger()


@dataclass(frozen=True)
class NodeSetController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], tuple[Cluster | None, NodeSet]]  # the dialect
    slurm: Callable[[Cluster], Awaitable[Slurm | None]]
    status: Callable[[NodeSet, Sequence[Pod], int], Object]  # the dialect's

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()
        cluster, nodeset = self.read(obj)
        if cluster is None:
            asked = without_cluster(nodeset.part, nodeset.cluster)
            return await self.hands.bring_about(self.kind, obj, asked)
        pods = self._pods(nodeset, obj)
        slurm = await self.slurm(cluster) if len(pods) > nodeset.replicas else None
        drains = await slurm.drains() if slurm else None
        plan = scale.scale(nodeset, Workers(_workers(nodeset, cluster, pods), drains))
        needs = (*keys(cluster.keys), *((nodeset.ssh.sssd,) if nodeset.ssh else ()))
        if not all(need.digest for need in needs):
            # It could not start, and would not tell for good what it was started with.
            plan = tuple(action for action in plan if not isinstance(action, CreateWorker))
        outcome = await self._carry_out(plan, obj, cluster, nodeset, slurm)
        asked = Asked(
            render.objects(cluster, nodeset),
            OWN,
            Wanted(needs, pods=nodeset.replicas),
            nodeset.part,
            status=self.status(nodeset, self._pods(nodeset, obj), obj.metadata.generation),
            refused=outcome.refused,
        )
        done = await self.hands.bring_about(self.kind, obj, asked)
        waits = (Done(a.again_s) for a in plan if isinstance(a, Wait | DrainWorker))
        return soonest(done, *waits)

    def _pods(self, nodeset: NodeSet, obj: Resource) -> list[Pod]:
        return [p for p in self.hands.world.pods(nodeset.part) if _owned(p, obj)]

    async def _carry_out(
        self, plan: Plan, obj: Resource, cluster: Cluster, nodeset: NodeSet, slurm: Slurm | None
    ) -> Outcome:
        """Do what was decided; workers that come are posted side by side, a thousand at once."""
        owner = self.kind.identity(obj)
        new = [action.number for action in plan if isinstance(action, CreateWorker)]
        pods = (render.pod(cluster, nodeset, number) for number in new)
        outcome = await self.hands.applier.apply(owner, pods, POSTED)
        prefixes = Prefixes(cluster.naming.reason_prefix)
        await self._drain([a for a in plan if isinstance(a, DrainWorker)], slurm, prefixes)
        for action in plan:
            if isinstance(action, DeleteWorker):
                await self._delete(action, nodeset)
        _tell(nodeset, plan)
        return outcome

    async def _drain(
        self, actions: Sequence[DrainWorker], slurm: Slurm | None, prefixes: Prefixes
    ) -> None:
        if actions and slurm is not None:
            reason = prefixes.sign(actions[0].why)
            await slurm.client.nodes.drain([action.node for action in actions], reason)

    async def _delete(self, action: DeleteWorker, nodeset: NodeSet) -> None:
        store = self.hands.world.stores[kinds.POD]
        pod = store.get((nodeset.part.namespace, action.pod))
        if pod is not None and pod.metadata.uid == action.uid:
            await delete(self.hands.client, store, kinds.POD, pod)


def _tell(nodeset: NodeSet, plan: Plan) -> None:
    counts: dict[tuple[str, str], int] = {}
    for action in plan:
        what = (type(action).__name__, action.why)
        counts[what] = counts.get(what, 0) + 1
    for (action_, why), number in counts.items():
        log.info("workers", nodeset=nodeset.part.name, action=action_, why=why, number=number)


def _owned(pod: Pod, obj: Resource) -> bool:
    return any(owner.uid == obj.metadata.uid for owner in pod.metadata.owner_references)


def _workers(nodeset: NodeSet, cluster: Cluster, pods: Sequence[Pod]) -> list[Worker]:
    labels, found = cluster.naming.labels, []
    for pod in pods:
        index = pod.metadata.labels.get(labels.pod_index, "")
        if index.isdecimal():
            node = pod.metadata.labels.get(labels.pod_hostname) or nodeset.hostname(int(index))
            found.append(Worker(int(index), pod, node))
    return found
