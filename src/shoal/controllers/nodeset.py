"""Keep the workers of a NodeSet as asked, and no job of theirs lost."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ..decide import farewell, ghosts, heal, place, workers
from ..decide.claims import conflicts, with_claims
from ..decide.conditions import Failed, Need
from ..decide.conditions import Wanted as Needs
from ..decide.plan import (
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    Plan,
    ResumeWorker,
    Wait,
    waits,
)
from ..decide.portion import portion
from ..decide.wanted import NOBODY, Calm, Healing, Wanted
from ..decide.windows import Kept
from ..decide.workers import Decided
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource, moment
from ..kube.pods import Pod
from ..model.cluster import Cluster
from ..model.naming import Naming
from ..model.nodeset import Mode, NodeSet
from ..model.part import Part
from ..model.workers import Fleet, Muster, Worker
from ..render import nodeset as render
from ..runtime import clock
from ..runtime.apply import Outcome, Rules
from ..runtime.controller import Done
from ..runtime.events import about
from ..runtime.finalizers import hold, release
from . import happenings, revisions
from .carry_out import Deeds, Doing, Look, carry_out
from .passes import Asked, Hands, host_keys, keys, rest, soonest, without_cluster
from .slurms import Slurm, now
from .windows import Windows

OWN = Rules(prune=(kinds.CONFIG_MAP,))
GRAVE = DrainWorker | ResumeWorker | DeleteWorker | ForgetNode
Decide = Callable[[Wanted, Fleet], Decided]
# What was seen inside a worker is believed for so long.
LOOKED = timedelta(seconds=30)


@dataclass
class Memory:
    """What is remembered of a NodeSet between passes; a new process begins without."""

    healing: Mapping[str, Healing] = field(default_factory=dict)
    failures: Mapping[str, Healing] = field(default_factory=dict)
    looked: dict[str, tuple[bool, datetime]] = field(default_factory=dict)
    conflicts: Mapping[str, str] = field(default_factory=dict)
    # By pod's name: what is made of a pod is made once, until there is a newer one.
    workers: dict[str, Worker] = field(default_factory=dict)
    before: happenings.Before | None = None  # what was told last, where no status keeps it
    drained: frozenset[str] = frozenset()  # in Slurm, by the last pass
    begun: Plan = ()  # what the last pass did of a plan that it did not do whole
    calm: Calm = NOBODY  # about whom there was nothing to do in the last pass

    def steps(self, now: datetime) -> Mapping[str, bool]:
        """Return what was seen inside workers not long ago."""
        self.looked = {u: seen for u, seen in self.looked.items() if now - seen[1] <= LOOKED}
        return {uid: found for uid, (found, _) in self.looked.items()}

    def learn(self, wanted: Wanted, fleet: Fleet, deeds: Deeds) -> None:
        """Take note of what a pass did."""
        self.looked |= {uid: (found, fleet.now) for uid, found in deeds.steps.items()}
        ended = {action.uid for action in deeds.deleted}
        self.healing = heal.remember(wanted, fleet, ended)
        self.failures = place.remember(wanted, fleet, ended)

    def goes_on(self, plan: Plan, *, left: bool) -> bool:
        """Say whether the next pass follows at once; `left` says that `plan` was a part of one.

        Whoever was drained and had no job is drained by now, and may go. But what comes to nothing
        is not done again and again.
        """
        drained = frozenset(a.node for a in plan if isinstance(a, DrainWorker))
        begun = tuple(a for a in plan if not isinstance(a, Wait)) if left else ()
        further = not drained <= self.drained or (left and begun != self.begun)
        self.drained, self.begun = drained, begun
        return further


@dataclass(frozen=True)
class NodeSetController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], tuple[Cluster | None, NodeSet]]  # the dialect
    slurm: Callable[[Cluster], Awaitable[Slurm | None]]
    status: Callable[[Muster], Object]  # the dialect's
    pinned: Callable[[Resource], Mapping[int, str]]  # the dialect's: what its status said
    look: Look
    naming: Naming
    windows: Windows
    shown: frozenset[str] = frozenset()
    rules: Rules = OWN  # which of the owner's objects are the workers'
    before: Callable[[Resource], happenings.Before | None] = lambda _: None  # as `pinned`
    held: Callable[[Cluster], Failed | None] = lambda _: None  # why no worker may come yet
    missing: Callable[[Part, str], Asked] = without_cluster
    whose: Callable[[Resource], str] = lambda _: ""  # whom a user annotates to give workers up
    _memories: dict[str, Memory] = field(default_factory=dict)

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None:
            return Done()
        cluster, nodeset = self.read(obj)
        if obj.deleting:
            return await self._end(obj, cluster, nodeset)
        if cluster is None:
            asked = self.missing(nodeset.part, nodeset.cluster)
            return await self.hands.bring_about(self.kind, obj, asked)
        store = self.hands.world.stores[self.kind]
        obj = await hold(self.hands.client, store, obj, self.naming.finalizer)
        return await self._keep(obj, cluster, nodeset)

    async def _keep(self, obj: Resource, cluster: Cluster, nodeset: NodeSet) -> Done:
        found, owner = self._workers(obj, nodeset), self.kind.identity(obj)
        revised = await revisions.keep(self.hands, owner, nodeset, found, _collisions(obj))
        nodeset = replace(nodeset, revision=revised.update)
        gathered = await self._gather(obj, cluster, nodeset, found)
        doing, plan = await self._decide(gathered, workers.decide)
        needs, held = _needs(cluster, nodeset), self.held(cluster)
        if held or not all(need.digest for need in needs):
            # It could not start, and would not tell for good what it was started with.
            plan = tuple(action for action in plan if not isinstance(action, CreateWorker))
        whole, plan = plan, portion(plan)
        left = len(plan) < len(whole)
        plan = with_claims(doing.wanted, doing.fleet, plan, doing.owner)
        obj, window = await self.windows.keep(obj, doing)
        deeds = await self._carry_out(doing, plan)
        # What has come and gone by now.
        fleet = self._fleet(doing, self._workers(obj, nodeset))
        desired = place.desired(doing.wanted, fleet)
        pinned = place.pins(doing.wanted, fleet)
        generation = obj.metadata.generation
        told = Muster(
            nodeset, fleet, generation, revised.update, desired, revised.collisions, pinned
        )
        asked = Asked(
            render.objects(cluster, nodeset),
            self.rules,
            Needs(needs, desired, waits(plan)),
            pods=tuple(worker.pod for worker in fleet.workers),
            verdicts=(held,) if desired else (),
            status=self.status(told),
            refused=deeds.outcome.refused,
            more=(window.condition,) if window and window.condition else (),
        )
        done = await self.hands.bring_about(self.kind, obj, asked)
        self._tell_news(obj, doing, told)
        later = window.plan if window else ()
        return soonest(done, self._again(doing.wanted, fleet, (*plan, *later), left=left))

    async def _end(self, obj: Resource, cluster: Cluster | None, nodeset: NodeSet) -> Done:
        """Let the workers go, then what Slurm knows of them, then the NodeSet."""
        if self.naming.finalizer not in obj.metadata.finalizers:
            self._memories.pop(obj.metadata.uid, None)
            return Done()
        gathered = await self._gather(obj, cluster, nodeset, self._workers(obj, nodeset))
        doing, plan = await self._decide(gathered, farewell.decide)
        whole, plan = plan, portion(plan)
        await self._carry_out(doing, plan)
        obj, window = await self.windows.keep(obj, doing)
        if plan or (window and window.hold):
            later = window.plan if window else ()
            await self._draining(obj, doing, (*plan, *later), window)
            left = len(plan) < len(whole)
            return self._again(doing.wanted, doing.fleet, (*plan, *later), left=left)
        store = self.hands.world.stores[self.kind]
        await release(self.hands.client, store, obj, self.naming.finalizer)
        self._memories.pop(obj.metadata.uid, None)
        return Done()

    async def _draining(self, obj: Resource, doing: Doing, plan: Plan, window: Kept | None) -> None:
        """Say what a NodeSet that is deleted waits for."""
        nodeset, generation = doing.wanted.nodeset, obj.metadata.generation
        fleet, was = self._fleet(doing, self._workers(obj, nodeset)), self._before(obj)
        revision = was.revision if was else ""
        told = Muster(
            nodeset, fleet, generation, revision, 0, _collisions(obj), doing.wanted.pinned
        )
        asked = Asked(
            (),
            Rules(),
            verdicts=(farewell.draining(doing.wanted, plan, self.whose(obj)),),
            status=self.status(told),
            more=(window.condition,) if window and window.condition else (),
        )
        await self.hands.report(self.kind, obj, asked, self.hands.seen(obj, asked, Outcome()))

    def _tell_news(self, obj: Resource, doing: Doing, told: Muster) -> None:
        memory = self._memories[doing.wanted.uid]
        found = conflicts(doing.wanted, doing.fleet, doing.owner)
        new = {claim: whose for claim, whose in found.items() if claim not in memory.conflicts}
        memory.conflicts = found
        now = happenings.Before(told.desired, told.revision)
        before = self._before(obj) or now
        memory.before = now
        for what in (*happenings.begun(before, told), *happenings.conflicting(new)):
            self.hands.record(doing.about, what)

    def _before(self, obj: Resource) -> happenings.Before | None:
        memory = self._memories.get(obj.metadata.uid, Memory())
        return self.before(obj) or memory.before

    # -- gather

    async def _gather(
        self, obj: Resource, cluster: Cluster | None, nodeset: NodeSet, found: Sequence[Worker]
    ) -> Doing:
        slurm = await self.slurm(cluster) if cluster is not None else None
        memory = self._memories.setdefault(obj.metadata.uid, Memory())
        wanted = self._wanted(obj, nodeset, memory)
        wanted = replace(wanted, alone=cluster is None or not cluster.going)
        if slurm is not None:
            wanted = replace(wanted, places=await slurm.places())
        nodes = await slurm.nodes() if slurm is not None else None
        crowded = workers.order_matters(wanted, found)
        fleet = Fleet(
            tuple(found),
            clock.now(),
            nodes,
            self.hands.world.nodes(),
            await slurm.ends() if slurm is not None and crowded else None,
            memory.steps(clock.now()),
            self.hands.world.claims(nodeset.part),
            abandoned=cluster is None,
            others=self._others(cluster, nodeset),
        )
        if slurm is not None and ghosts.suspected(fleet):
            fleet = replace(fleet, batches=await slurm.batches())
        owner = self.kind.identity(obj)
        return Doing(
            self.hands, owner, cluster, wanted, fleet, slurm, self.look, about(self.kind, obj)
        )

    async def _decide(self, doing: Doing, decide: Decide) -> tuple[Doing, Plan]:
        """Decide; what cannot be taken back is decided once more on what Slurm says right now."""
        decided = decide(doing.wanted, doing.fleet)
        if doing.slurm is not None and any(isinstance(a, GRAVE) for a in decided.plan):
            # An admin may have drained a node, and said why, since it was last read.
            seen = await doing.slurm.nodes(newer_than=now())
            if seen is not doing.fleet.slurm:
                doing = replace(doing, fleet=replace(doing.fleet, slurm=seen))
                decided = decide(doing.wanted, doing.fleet)
        self._memories[doing.wanted.uid].calm = decided.calm
        return doing, decided.plan

    def _wanted(self, obj: Resource, nodeset: NodeSet, memory: Memory) -> Wanted:
        meta = obj.metadata
        return Wanted(
            nodeset,
            self.naming,
            nodeset.revision,
            uid=meta.uid,
            shown=self.shown,
            pinned=self.pinned(obj),
            healing=memory.healing,
            failures=memory.failures,
            calm=memory.calm,
            deleted_at=moment(meta.deletion_timestamp),
            shape=render.shape(nodeset),
            # Left on a NodeSet that stays, it would cost jobs at its next update.
            forced=obj.deleting and meta.annotations.get(self.naming.annotations.force) == "true",
        )

    def _workers(self, obj: Resource, nodeset: NodeSet) -> list[Worker]:
        uid = obj.metadata.uid
        memory = self._memories.setdefault(uid, Memory())
        seen, found = memory.workers, dict[str, Worker]()
        for pod in self.hands.world.pods(nodeset.part):
            name = pod.metadata.name
            worker = seen.get(name)
            if worker is None or worker.pod is not pod:
                if not any(owner.uid == uid for owner in pod.metadata.owner_references):
                    continue
                worker = self._worker(pod)
            found[name] = worker
        memory.workers = found
        return list(found.values())

    def _worker(self, pod: Pod) -> Worker:
        labels, told = self.naming.labels, pod.metadata.labels
        index = told.get(labels.pod_index, "")
        number = int(index) if index.isdecimal() else None
        mode = told.get(labels.scaling_mode, Mode.REPLICAS.value)
        node = _slurm_name(pod, told.get(labels.pod_hostname, ""))
        return Worker(pod, node, number, told.get(labels.revision, ""), mode)

    def _others(self, cluster: Cluster | None, nodeset: NodeSet) -> frozenset[str]:
        """Return what Slurm calls the workers of other NodeSets, where names follow nodes."""
        follow = nodeset.mode is not Mode.REPLICAS or nodeset.on_nodes_network
        if cluster is None or not follow:
            return frozenset()
        labels, world, own = self.naming.labels, self.hands.world, nodeset.part
        return frozenset(
            _slurm_name(pod, pod.metadata.labels.get(labels.pod_hostname, ""))
            for node in world.nodes()
            for pod in world.pods_on(node)
            if pod.metadata.namespace == own.namespace
            and pod.metadata.labels.get(labels.cluster) == cluster.name
            and not own.selector.items() <= pod.metadata.labels.items()
        )

    def _fleet(self, doing: Doing, found: Sequence[Worker]) -> Fleet:
        seen = doing.slurm.seen if doing.slurm is not None else None
        return Fleet(tuple(found), clock.now(), seen, doing.fleet.nodes)

    def _again(self, wanted: Wanted, fleet: Fleet, plan: Plan, *, left: bool) -> Done:
        if self._memories[wanted.uid].goes_on(plan, left=left):
            return Done(0.0)
        waits = (Done(action.again_s) for action in plan if isinstance(action, Wait))
        return soonest(*waits, rest(len(fleet.workers)))

    async def _carry_out(self, doing: Doing, plan: Plan) -> Deeds:
        deeds = await carry_out(doing, plan)
        self._memories[doing.wanted.uid].learn(doing.wanted, doing.fleet, deeds)
        return deeds


def _slurm_name(pod: Pod, told: str) -> str:
    """Return what a worker calls itself in Slurm: its hostname, or its node's if it has that."""
    if pod.spec.host_network and pod.spec.node_name:
        return pod.spec.node_name.partition(".")[0]
    return told or pod.spec.hostname or pod.metadata.name


def _collisions(obj: Any) -> int:  # noqa: ANN401 - of any dialect
    return int(getattr(obj.status, "collision_count", 0) or 0)


def _needs(cluster: Cluster, nodeset: NodeSet) -> tuple[Need, ...]:
    needs: list[Need] = [*keys(cluster.keys), *((nodeset.ssh.sssd,) if nodeset.ssh else ())]
    if cluster.jail is not None and nodeset.jailed is not None:
        workers = nodeset.jailed
        needs.append(host_keys(cluster.jail))
        needs += [files for files in (workers.sshd, workers.supervisord) if files is not None]
    return tuple(needs)
