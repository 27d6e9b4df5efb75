"""Keep slurmctld and its configuration as asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..decide.conditions import Failed, Need, Wanted
from ..decide.publish import Again, Candidate, Hold, Publish, Try, Verdict, publish
from ..kube import kinds
from ..kube.data import ConfigMap
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource, key_of
from ..kube.pods import Pod
from ..model.cluster import Cluster
from ..model.config import Scripts
from ..model.controller import ExternalController, ManagedController
from ..model.part import Files
from ..render import controller as render
from ..render import nodeset as workers
from ..render import trial
from ..render.controller import Published
from ..runtime import clock
from ..runtime.apply import DIGEST, Rules, mark
from ..runtime.controller import Done
from ..slurm.conf import ConfError
from .passes import Asked, Hands, keys, soonest
from .world import World

RULES = Rules(
    prune=(
        kinds.STATEFUL_SET,
        kinds.SERVICE,
        kinds.CONFIG_MAP,
        kinds.POD_DISRUPTION_BUDGET,
        kinds.POD,  # those that try a configuration
    )
)
# What the pod that tries a configuration ends with.
VERDICTS = {0: Verdict.GOOD, 1: Verdict.BAD}
# In the published ConfigMap: whose files slurmctld has beside it.
SOURCES = "shoal/config-sources"
# What of a cluster is written; a kind of somebody else (ServiceMonitor) may not even exist.
WRITTEN = frozenset(kind.kind for kind in RULES.prune)
# The configuration and what reads it: left as they are where the one in use is not known.
READING = ("ConfigMap", "StatefulSet")
KEEPING = Rules(prune=tuple(kind for kind in RULES.prune if kind.kind not in READING))


@dataclass(frozen=True)
class ControllerController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], Cluster]  # the dialect

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
        return soonest(done, Done(again_s))

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


@dataclass(frozen=True)
class Used(Published):
    """The configuration in use, and the user's ConfigMaps that are in use beside it."""

    sources: tuple[str, ...] | None = None  # None: nobody took note of them


# It is not there; where slurmctld runs, it goes on with what it has read.
LOST = Used({}, "")


def published(world: World, cluster: Cluster) -> Used | None:
    """Return the configuration in use, or LOST; None: what is there is somebody else's."""
    found = cluster.controller
    name = found.config if isinstance(found, ExternalController) else found.names.config
    live: ConfigMap | None = world.get(kinds.CONFIG_MAP, (cluster.namespace, name))
    if live is None or live.deleting:
        return LOST
    notes = live.metadata.annotations
    if DIGEST not in notes:
        return None
    sources = tuple(filter(None, notes[SOURCES].split(","))) if SOURCES in notes else None
    digest = notes.get(cluster.naming.digest(render.CONFIG_DIGEST), "")
    return Used(live.data or {}, digest, sources)


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
        elif obj["kind"] in WRITTEN:
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
