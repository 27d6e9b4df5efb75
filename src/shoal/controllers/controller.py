"""Keep slurmctld and its configuration as asked."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..decide.active import active
from ..decide.conditions import Failed, Need, Wanted
from ..decide.publish import Again, Candidate, Hold, Publish, Try, Verdict, publish
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource, key_of
from ..kube.pods import Pod
from ..kubeapi.client import Ref
from ..model.accounting import ManagedAccounting
from ..model.cluster import Cluster
from ..model.config import Scripts
from ..model.controller import ExternalController, ManagedController
from ..model.part import Files
from ..render import controller as render
from ..render import nodeset as workers
from ..render import trial
from ..runtime import clock
from ..runtime.apply import DIGEST, Rules, mark
from ..runtime.controller import Done
from ..slurm.conf import ConfError
from ..slurmapi.errors import SlurmError
from .passes import Asked, Hands, keys, soonest
from .published import LOST, SOURCES, Used, published
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
# How often Slurm is asked which of several slurmctlds serves.
ACTIVE_AGAIN_S = 5.0
SLURMDBD = "accounting_storage/slurmdbd"
# What the pod that tries a configuration ends with.
VERDICTS = {0: Verdict.GOOD, 1: Verdict.BAD}
# The configuration and what reads it: left as they are where the one in use is not known.
READING = ("ConfigMap", "StatefulSet")
KEEPING = Rules(prune=tuple(kind for kind in RULES.prune if kind.kind not in READING))


@dataclass(frozen=True)
class ControllerController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], Cluster]  # the dialect
    slurm: Callable[[Cluster], Awaitable[Slurm | None]]

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # what it owns goes with it
        cluster = self.read(obj)
        if cluster.lacks:
            # What is wanted is not known. What is there stays, slurmctld among it.
            needs: tuple[Need, ...] = (*cluster.lacks, *keys(cluster.keys))
            asked, again_s = Asked((), Rules(), Wanted(needs), cluster.controller.part), None
        else:
            asked, again_s = self._asked(cluster, obj)
        done = await self.hands.bring_about(self.kind, obj, asked)
        return soonest(done, Done(again_s), await self._mark_active(cluster))

    async def _mark_active(self, cluster: Cluster) -> Done:
        """Have the Service lead to the slurmctld that serves, where there are several."""
        controller = cluster.controller
        if isinstance(controller, ExternalController) or not controller.many:
            return Done()
        label, pods = cluster.naming.labels.active, self.hands.world.pods(controller.part)
        serving = active(pods, await self._answers(cluster), label)
        store = self.hands.world.stores[kinds.POD]
        for pod in pods:
            name = pod.metadata.name
            wanted = "true" if name == serving else None
            if pod.metadata.labels.get(label) != wanted:
                change = {"metadata": {"uid": pod.metadata.uid, "labels": {label: wanted}}}
                where = Ref(kinds.POD, cluster.namespace, name)
                store.put(await self.hands.client.patch(where, change, store.type))
        return Done(ACTIVE_AGAIN_S)

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
                    return Asked([*_all(cluster)], RULES, Wanted(keys(cluster.keys))), None
                case ManagedController() as controller:
                    return self._managed(cluster, controller, obj)
        except ConfError as error:
            # Not even a text that could be tried. What is there stays.
            return _refused(cluster, str(error)), None

    def _managed(
        self, cluster: Cluster, controller: ManagedController, obj: Resource
    ) -> tuple[Asked, float | None]:
        used, digest = published(self.hands.world, cluster), render.wanted(cluster).digest
        if waits := self._accounting_starts(cluster, used):
            return self._held(cluster, controller, used, waits), None
        where = (cluster.namespace, controller.names.workload)
        if used is LOST and self.hands.world.workload(kinds.STATEFUL_SET, where) is None:
            used = None  # nobody has read any yet
        check = trial.check(cluster, controller, digest)
        tried = self._tried(mark(check, self.kind.identity(obj)))
        verdict = publish(Candidate(digest, used.digest if used else None, *tried))
        objects = [*_all(cluster, None if isinstance(verdict, Publish) else used)]
        rules = RULES
        if not isinstance(verdict, Publish):
            if used is LOST:
                objects, rules = [o for o in objects if o["kind"] not in READING], KEEPING
            objects.append(trial.candidate(cluster, controller))
            # Kept also when the verdict is bad: it is the verdict. One that says nothing goes.
            if not isinstance(verdict, Again) or verdict.after_s:
                objects.append(check)
        needs: tuple[Need, ...] = (*keys(cluster.keys), *cluster.config.sources)
        asked = Asked(
            objects,
            rules,
            Wanted(needs, pods=controller.replicas),
            controller.part,
            (kinds.STATEFUL_SET, where),
            verdicts=(_told(verdict),),
        )
        return asked, (verdict.after_s or None) if isinstance(verdict, Again) else None

    def _accounting_starts(self, cluster: Cluster, used: Used | None) -> Failed | None:
        """Wait for a slurmdbd that is new to the cluster.

        A slurmctld that is told of it before it listens never registers there, and the records of
        its jobs are lost.
        """
        accounting = cluster.accounting
        if not used or used == LOST or not isinstance(accounting, ManagedAccounting):
            return None
        if SLURMDBD in used.files.get("slurm.conf", ""):
            return None
        where = (accounting.part.namespace, accounting.name)
        workload = self.hands.world.workload(kinds.STATEFUL_SET, where)
        if workload is not None and workload.settled:
            return None
        words = f"spec.accountingRef: Accounting {accounting.part.name} is not ready yet"
        return Failed("AccountingStarting", f"{words}; the configuration in use stays until then")

    def _held(
        self, cluster: Cluster, controller: ManagedController, used: Used | None, why: Failed
    ) -> Asked:
        return Asked(
            [*_all(cluster, used)],
            RULES,
            Wanted(keys(cluster.keys), pods=controller.replicas),
            controller.part,
            (kinds.STATEFUL_SET, (cluster.namespace, controller.names.workload)),
            verdicts=(why,),
        )

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


def _all(cluster: Cluster, held: Used | None = None) -> Iterator[Object]:
    """Yield what a cluster has; with `held`, slurmctld keeps that configuration and its files."""
    if held is not None and held.sources is not None:
        files = tuple(Files(name) for name in held.sources)
        cluster = replace(cluster, config=replace(cluster.config, files=files, scripts=Scripts()))
    sources = ",".join(source.name for source in cluster.config.sources)
    for obj in render.objects(cluster, held):
        if obj["kind"] == kinds.CONFIG_MAP.kind:
            meta = obj["metadata"]
            notes = {**meta.get("annotations", {}), SOURCES: sources}
            yield {**obj, "metadata": {**meta, "annotations": notes}}
        else:
            yield obj
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
