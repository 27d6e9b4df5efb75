"""Keep slurmctld and its configuration as asked."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..decide.active import active
from ..decide.conditions import Failed, Need, Wanted
from ..decide.publish import Again, Candidate, Hold, Publish, Try, Verdict, publish
from ..decide.state import Past
from ..decide.waiting import Prospect, waiting
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource, key_of
from ..kube.pods import Pod
from ..kubeapi.client import Ref
from ..model.accounting import ManagedAccounting
from ..model.cluster import Cluster
from ..model.controller import ExternalController, ManagedController
from ..render import controller as render
from ..render import nodeset as workers
from ..render import trial
from ..render.controller import Published
from ..render.jailed import controller as jailed
from ..runtime import clock
from ..runtime.apply import DIGEST, Rules, mark
from ..runtime.controller import Done
from ..slurm.conf import ConfError
from ..slurmapi.errors import SlurmError
from . import state
from .passes import Asked, Brought, Hands, keys, soonest
from .published import LOST, published
from .slurms import Slurm

RULES = Rules(
    prune=(
        kinds.STATEFUL_SET,
        kinds.SERVICE,
        kinds.CONFIG_MAP,
        kinds.POD_DISRUPTION_BUDGET,
        kinds.SERVICE_MONITOR,
        kinds.POD,  # those that try a configuration
    )
)
# Where slurmdbd is asked for in a cluster with a shared root.
ROOTED_ACCOUNTING = "spec.slurmNodes.accounting: slurmdbd"
# How often Slurm is asked which of several slurmctlds serves.
ACTIVE_AGAIN_S = 5.0
# What the pod that tries a configuration ends with.
VERDICTS = {0: Verdict.GOOD, 1: Verdict.BAD}
# The configuration and what reads it: left as they are where the one in use is not known.
READING = ("ConfigMap", "StatefulSet")


@dataclass(frozen=True)
class Kept:
    """What a pass has come to, before anything is told of it."""

    obj: Resource
    cluster: Cluster
    past: Past | None  # of slurmctld's state
    asked: Asked
    brought: Brought


@dataclass(frozen=True)
class ControllerController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], Cluster]  # the dialect
    slurm: Callable[[Cluster], Awaitable[Slurm | None]]
    rules: Rules = RULES  # which of the owner's objects are slurmctld's

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # what it owns goes with it
        kept = await self.bring(obj, self.read(obj))
        await self.hands.say(self.kind, kept.obj, kept.asked, kept.brought.ready)
        return soonest(kept.brought.done, await self.follow(kept))

    async def bring(self, obj: Resource, cluster: Cluster) -> Kept:
        """Apply and look, for one pass; `follow` is the rest of it."""
        past = state.past(self.hands, obj, cluster)
        obj = await state.noted(self.hands, self.kind, obj, cluster.naming.annotations, past)
        cluster = state.expecting(cluster, past)
        lost = state.told(self.kind, cluster, past)
        if cluster.lacks:
            # What is wanted is not known. What is there stays, slurmctld among it.
            needs: tuple[Need, ...] = (*cluster.lacks, *keys(cluster.keys))
            asked, again_s = Asked((), Rules(), Wanted(needs), cluster.controller.part), None
        else:
            asked, again_s = self._asked(cluster, obj)
        asked = replace(asked, verdicts=(lost, *asked.verdicts))
        # What reads a configuration comes after it: a slurmctld that starts in between would go on
        # with the one before.
        first = [each for each in asked.objects if each["kind"] == kinds.CONFIG_MAP.kind]
        await self.hands.applier.apply(self.kind.identity(obj), first)
        brought = await self.hands.bring(self.kind, obj, asked)
        return Kept(
            obj, cluster, past, asked, replace(brought, done=soonest(brought.done, Done(again_s)))
        )

    async def follow(self, kept: Kept) -> Done:
        """Do what has to follow once slurmctld is as asked."""
        await state.start_anew(self.hands, self.kind, kept.obj, kept.past)
        await self._hasten(kept.cluster)
        return await self._mark_active(kept.cluster)

    async def _hasten(self, cluster: Cluster) -> None:
        """Have kubelet bring the published files to a slurmctld that reads them in place.

        It looks at a pod that changes at once, and at any other every minute or so.
        """
        controller, used = cluster.controller, published(self.hands.world, cluster)
        if isinstance(controller, ExternalController) or not controller.in_place:
            return
        if used is None or used is LOST:
            return
        rooted = cluster.jail is not None
        notes = (jailed if rooted else render).read_in_place(cluster, used)
        for pod in self.hands.world.pods(controller.part):
            if not pod.deleting and not notes.items() <= pod.metadata.annotations.items():
                await self._remark(pod, {"annotations": notes})

    async def _mark_active(self, cluster: Cluster) -> Done:
        """Have the Service lead to the slurmctld that serves, where there are several."""
        controller = cluster.controller
        if isinstance(controller, ExternalController) or not controller.many:
            return Done()
        label, pods = cluster.naming.labels.active, self.hands.world.pods(controller.part)
        serving = active(pods, await self._answers(cluster), label)
        for pod in pods:
            wanted = "true" if pod.metadata.name == serving else None
            if pod.metadata.labels.get(label) != wanted:
                await self._remark(pod, {"labels": {label: wanted}})
        return Done(ACTIVE_AGAIN_S)

    async def _remark(self, pod: Pod, changes: Object) -> None:
        store = self.hands.world.stores[kinds.POD]
        change = {"metadata": {"uid": pod.metadata.uid, **changes}}
        store.put(await self.hands.client.patch(Ref(kinds.POD, *pod.key), change, store.type))

    async def _answers(self, cluster: Cluster) -> Mapping[str, bool] | None:
        """Ask Slurm which slurmctlds answer, in its order; None: nobody says."""
        slurm = await self.slurm(cluster)
        try:
            pings = await slurm.client.controller.ping() if slurm else ()
        except SlurmError:
            return None
        return {ping.hostname: ping.up for ping in pings}

    def _asked(self, cluster: Cluster, obj: Resource) -> tuple[Asked, float | None]:
        try:
            match cluster.controller:
                case ExternalController():
                    return Asked([*_all(cluster)], self.rules, Wanted(keys(cluster.keys))), None
                case ManagedController() as controller:
                    return self._managed(cluster, controller, obj)
        except ConfError as error:
            # Not even a text that could be tried. What is there stays.
            return _refused(cluster, str(error)), None

    def _managed(
        self, cluster: Cluster, controller: ManagedController, obj: Resource
    ) -> tuple[Asked, float | None]:
        world = self.hands.world
        config = cluster.config.filled(world.found(cluster.namespace).config_maps)
        cluster = replace(cluster, config=config)
        wanted, used = _wanted(cluster), published(world, cluster)
        where = (cluster.namespace, controller.names.workload)
        if used is LOST and world.workload(kinds.STATEFUL_SET, where) is None:
            used = None  # nobody has read any yet
        again_s = None
        if waits := waiting(self._prospect(cluster, wanted, used)):
            told: Failed | None = waits
            objects, rules = self._kept(cluster, used)
        else:
            check = trial.check(cluster, controller, wanted.digest)
            tried = self._tried(mark(check, self.kind.identity(obj)))
            verdict = publish(Candidate(wanted.digest, used.digest if used else None, *tried))
            told = _told(verdict)
            if isinstance(verdict, Publish):
                objects, rules = [*_all(cluster)], self.rules
            else:
                objects, rules = self._kept(cluster, used)
                objects.append(trial.candidate(cluster, controller))
            if isinstance(verdict, Again):
                again_s = verdict.after_s or None
            # Kept also when the verdict is bad: it is the verdict. One that says nothing goes.
            if isinstance(verdict, Try | Hold) or again_s:
                objects.append(check)
        needs: tuple[Need, ...] = (*keys(cluster.keys), *cluster.config.sources)
        asked = Asked(
            objects,
            rules,
            Wanted(needs, pods=_pods(cluster, controller)),
            controller.part,
            (kinds.STATEFUL_SET, where),
            verdicts=(told,),
        )
        return asked, again_s

    def _kept(self, cluster: Cluster, used: Published | None) -> tuple[list[Object], Rules]:
        """Return what a cluster has while the configuration that is wanted is held back."""
        if used is None or used is LOST:
            objects = [each for each in _all(cluster) if each["kind"] not in READING]
            prune = tuple(kind for kind in self.rules.prune if kind.kind not in READING)
            return objects, replace(self.rules, prune=prune)
        return [*_all(cluster, used)], self.rules

    def _prospect(self, cluster: Cluster, wanted: Published, used: Published | None) -> Prospect:
        books, settled = cluster.accounting, False
        if isinstance(books, ManagedAccounting):
            kind = kinds.DEPLOYMENT if cluster.jail else kinds.STATEFUL_SET
            where = (books.part.namespace, books.name)
            workload = self.hands.world.workload(kind, where)
            settled = workload is not None and workload.settled
        in_use = None if used is None or used is LOST else used.files.get("slurm.conf", "")
        at = ROOTED_ACCOUNTING if cluster.jail else ""
        return Prospect(cluster.config, wanted.size_bytes, in_use, books, settled, at)

    def _tried(self, check: Object) -> tuple[Verdict, str, float]:
        """Return what became of a trial, in words too, and how long ago it began."""
        pod: Pod | None = self.hands.world.get(kinds.POD, key_of(check))
        if pod is None or pod.deleting:
            return Verdict.NONE, "", 0.0
        if pod.metadata.annotations.get(DIGEST) != check["metadata"]["annotations"][DIGEST]:
            # Of another image, say, which may know other keys; and pods cannot be changed.
            return Verdict.UNKNOWN, "the pod for it has changed", float("inf")
        began = pod.metadata.creation_timestamp
        ago = clock.now() - datetime.fromisoformat(began) if began else timedelta.max
        return *_verdict(pod), ago.total_seconds()


def _verdict(pod: Pod) -> tuple[Verdict, str]:
    if not pod.over:
        return Verdict.PENDING, pod.trouble
    ends = [c.state.terminated for c in pod.status.container_statuses if c.name == trial.NAME]
    ended = next((end for end in ends if end is not None), None)
    if ended is None:  # evicted, or its node is gone: that is nobody's verdict
        return Verdict.UNKNOWN, pod.trouble
    return VERDICTS.get(ended.exit_code, Verdict.UNKNOWN), ended.message.strip()


def _wanted(cluster: Cluster) -> Published:
    return jailed.wanted(cluster, cluster.jail) if cluster.jail else render.wanted(cluster)


def _pods(cluster: Cluster, controller: ManagedController) -> int:
    return cluster.jail.mode.replicas(controller.replicas) if cluster.jail else controller.replicas


def _all(cluster: Cluster, held: Published | None = None) -> Iterator[Object]:
    """Yield what a cluster has; with `held`, slurmctld keeps that configuration."""
    if cluster.jail:
        # What workers share is of the whole cluster there, as much else is.
        yield from jailed.objects(cluster, cluster.jail, held)
        return
    yield from render.objects(cluster, held)
    if cluster.nodesets:
        yield from workers.shared(cluster)


def _refused(cluster: Cluster, words: str) -> Asked:
    return Asked(
        (),
        Rules(),
        Wanted(keys(cluster.keys)),
        cluster.controller.part,
        verdicts=(Failed("ConfigRefused", f"{words}; the configuration in use stays"),),
    )


def _told(verdict: Publish | Try | Hold | Again) -> Failed | None:
    match verdict:
        case Publish():
            return None
        case Hold(why):
            words = f"Slurm does not accept the configuration: {why}; the one in use stays"
            return Failed("ConfigRefused", words)
        case Try(why) | Again(why):
            return Failed("ConfigTried", f"{why}; the configuration in use stays until then")
