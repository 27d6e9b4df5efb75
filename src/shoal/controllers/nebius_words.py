"""What passes over objects of slurm.nebius.ai tell in their status."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..decide.maintenance import Course
from ..dialects.nebius import defaults, naming, nodeset_types, report
from ..dialects.nebius.notices import unsupported
from ..dialects.nebius.report import NodeSetPhase, Phase, Ready, Standing, State
from ..dialects.nebius.types import SlurmCluster
from ..kube.conditions import Condition, read
from ..kube.objects import Key, Object
from ..kube.pods import Pod
from ..model.workers import Muster
from ..runtime.queue import Queue
from .nebius_reader import Reader
from .passes import Asked, Told
from .slurm_cluster import Looked, Survey

# Parts without a condition of upstream's, and what ours are called. A cluster is available without.
BESIDE: Mapping[str, str] = {naming.REST: "RestAvailable", naming.EXPORTER: "ExporterAvailable"}
# Of a cluster without slurmrestd.
NOBODY = (
    "nobody can be asked whether workers have jobs, so none of them is ever ended; "
    "set spec.slurmNodes.rest.enabled to true"
)


@dataclass
class Board:
    """What the passes over a cluster's own workers say, for the pass that tells of the cluster."""

    said: dict[Key, Condition] = field(default_factory=dict)
    _news: "asyncio.Queue[Key]" = field(default_factory=asyncio.Queue)

    def take(self, obj: SlurmCluster, ready: Condition, _: Asked) -> None:
        """Take note of how the workers of `obj` are; that they are as asked can be seen."""
        before = self.said.pop(obj.key, None)
        if ready.status != "True":
            self.said[obj.key] = ready
        if self.said.get(obj.key) != before:
            self._news.put_nowait(obj.key)

    async def run(self, queue: Queue[Key]) -> None:
        """Wake clusters for what is new, until cancelled."""
        while True:
            queue.add(await self._news.get())


@dataclass(frozen=True)
class Words:
    """Tells of clusters and of NodeSets."""

    reader: Reader
    board: Board

    # -- clusters

    def cluster(self, obj: SlurmCluster, seen: Survey) -> Told:
        """Return the status of a cluster."""
        found = {part: _standing(one) for part, one in seen.parts.items()}
        if (own := self._workers(obj, seen)) is not None:
            found[naming.WORKERS] = own
        generation = obj.metadata.generation
        conditions = [
            *report.parts(found, generation),
            *(_beside(part, found, generation) for part in BESIDE if part in found),
            *([] if naming.REST in found else [_without_rest(generation)]),
            report.populate_mode(obj.spec.maintenance, generation),
            *self._partitions(obj),
            report.supported(unsupported(obj), generation),
        ]
        counted = [one for part, one in found.items() if part in report.TYPES]
        there = Ready(self._logins(obj, seen), self._serving(obj, seen))
        return Told(conditions, report.cluster(report.phase(counted), there))

    def refusal(self, obj: SlurmCluster, ready: Condition, _: Asked) -> Told:
        """Return the status of a cluster that cannot be understood."""
        return _only(obj, naming.COMMON, _said(ready))

    def before(self, obj: SlurmCluster) -> list[Condition]:
        """Return what the status of a cluster says."""
        return [read(condition) for condition in _status(obj).get("conditions", ())]

    def farewell(self, obj: SlurmCluster) -> Told | None:
        """Return the status of a cluster that is deleted and waits; None: it does not."""
        if (said := self.board.said.get(obj.key)) is not None:
            return _only(obj, naming.WORKERS, _said(said))
        going = [one.metadata.name for one in self.reader.nodesets_of(obj) if one.deleting]
        if not going:
            return None
        return _only(obj, naming.WORKERS, f"Draining: NodeSet {', '.join(going)} goes first")

    def _workers(self, obj: SlurmCluster, seen: Survey) -> Standing | None:
        """Return how the cluster's own workers are; None: it has none."""
        own, outlook = defaults.worker(obj), seen.outlook
        if own is None:
            return None
        pods = [pod for pod in seen.pods.workers if _of(pod, naming.WORKERS)]
        if outlook.course.maintained:
            left = f"; {len(pods)} are left" if pods else ""
            return Standing(State.MAINTENANCE, f"maintenance: {obj.spec.maintenance}{left}")
        if said := self.board.said.get(obj.key):
            return Standing(State.NOT_READY, _said(said))
        if outlook.course is Course.WAITING:
            return Standing(State.NOT_READY, f"RootFilling: {outlook.verdict.words}")
        if (there := _count(pods)) < own.size:
            return Standing(State.NOT_READY, f"Starting: {there} of {own.size} pods are ready")
        return Standing(State.READY)

    def _partitions(self, obj: SlurmCluster) -> list[Condition]:
        asked = obj.spec.partition_configuration
        if asked.config_type != "structured":
            return []
        there = {one.metadata.name for one in self.reader.nodesets_of(obj)}
        named = dict.fromkeys(name for one in asked.partitions for name in one.node_set_refs)
        ignored = [name for name in named if name not in there]
        return [report.node_set_refs(ignored, obj.metadata.generation)]

    def _logins(self, obj: SlurmCluster, seen: Survey) -> int | None:
        if not obj.spec.slurm_nodes.login.size:
            return None
        return _count([pod for pod in seen.pods.users if _of(pod, naming.LOGIN)])

    def _serving(self, obj: SlurmCluster, seen: Survey) -> int | None:
        if defaults.worker(obj) is None and not self.reader.nodesets_of(obj):
            return None
        return _count(seen.pods.workers)

    # -- NodeSets

    def nodeset(self, obj: nodeset_types.NodeSet, ready: Condition, asked: Asked) -> Told:
        """Return the status of a NodeSet."""
        standing, going = self._nodeset(obj, ready), obj.deleting
        generation = ready.observed_generation
        conditions = [
            *report.nodeset_conditions(standing, generation, going=going),
            report.supported(unsupported(obj), generation),
            *asked.more,
        ]
        status = _status(obj) if asked.status is None else asked.status
        phase = report.nodeset_phase(standing, going=going)
        return Told(conditions, {**status, "phase": phase.value})

    def _nodeset(self, obj: nodeset_types.NodeSet, ready: Condition) -> Standing:
        cluster = self.reader.cluster_of(obj)
        if cluster is not None and defaults.mode(cluster).down and not obj.deleting:
            words = f"maintenance: {cluster.spec.maintenance}; {ready.message}"
            return Standing(State.MAINTENANCE, words)
        if ready.status == "True":
            return Standing(State.READY, ready.message)
        return Standing(State.NOT_READY, _said(ready))


def muster(told: Muster) -> Object:
    """Return the status of a NodeSet beside its conditions; `Words.nodeset` knows its phase."""
    return report.nodeset(told, NodeSetPhase.PENDING)


def _only(obj: SlurmCluster, part: str, words: str) -> Told:
    """Return the status of a cluster of which one part is not ready; all else is as it was."""
    (told,) = report.parts({part: Standing(State.NOT_READY, words)}, obj.metadata.generation)
    before = [read(condition) for condition in _status(obj).get("conditions", ())]
    conditions = [told if one.type == told.type else one for one in before]
    if told not in conditions:
        conditions.append(told)
    return Told(conditions, {**_status(obj), "phase": Phase.NOT_AVAILABLE.value})


def _standing(one: Looked) -> Standing:
    if one.course.maintained:
        return Standing(State.MAINTENANCE, one.words)
    if one.course is Course.WAITING:
        return Standing(State.NOT_READY, f"RootFilling: {one.words}")
    if one.ready.status == "True":
        return Standing(State.READY, one.words)
    return Standing(State.NOT_READY, _said(one.ready))


def _said(ready: Condition) -> str:
    return f"{ready.reason}: {ready.message}"


def _beside(part: str, found: Mapping[str, Standing], generation: int) -> Condition:
    """Return the condition of a part of which upstream has none, in the words of the others."""
    (alike,) = report.parts({naming.LOGIN: found[part]}, generation)
    return Condition(BESIDE[part], alike.status, alike.reason, alike.message, generation)


def _without_rest(generation: int) -> Condition:
    return Condition(BESIDE[naming.REST], "False", "Disabled", NOBODY, generation)


def _of(pod: Pod, component: str) -> bool:
    return pod.metadata.labels.get(naming.COMPONENT) == component


def _count(pods: Sequence[Pod]) -> int:
    return sum(pod.ready and not pod.deleting for pod in pods)


def _status(obj: Any) -> Object:  # noqa: ANN401 - of either kind
    told: Object = msgspec.to_builtins(obj.status)
    return told
