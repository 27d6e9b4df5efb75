"""Looks at a cluster's shared root and what becomes of its pods, and has the root filled."""

from contextlib import suppress
from dataclasses import dataclass, replace

from ..decide import maintenance
from ..decide.maintenance import Course, Standing
from ..decide.populate import (
    DeleteJob,
    Filling,
    MakeJob,
    MarkJob,
    Progress,
    Root,
    Verdict,
    populate,
)
from ..kube import kinds
from ..kube.jobs import Job
from ..kube.kinds import Kind
from ..kube.objects import Resource, owner_reference
from ..kube.pods import Pod
from ..kube.workloads import Workload
from ..kubeapi.client import Ref
from ..kubeapi.errors import ExistsError, NotFoundError
from ..model.cluster import Cluster
from ..model.controller import ManagedController
from ..model.jail import Jail
from ..model.maintenance import Mode
from ..model.part import Part
from ..render.jailed import populate as render
from ..runtime.apply import delete
from .passes import Hands
from .world import World

# On the Job: it was made for a maintenance, and that is not known to be over.
ANEW = "shoal/fills-anew"


@dataclass(frozen=True)
class Pods:
    """The pods of a cluster that count."""

    workers: tuple[Pod, ...]
    users: tuple[Pod, ...]  # of the root; workers are among them


@dataclass(frozen=True)
class Outlook:
    """What becomes of a cluster's pods, and why."""

    verdict: Verdict
    seen: Standing
    course: Course  # of pods that have the root
    rest: Course  # of those that do not


def outlook(world: World, cluster: Cluster, jail: Jail, pods: Pods) -> Outlook:
    """Look at a cluster."""
    writers = [pod for pod in world.pods(jail.populate.part) if not pod.over]
    root = Root(jail.mode, jail.populate.overwrite, len(pods.users), len(writers))
    verdict = populate(root, _seen(world, jail))
    seen = Standing(len(pods.workers), verdict.filled, _serving(world, cluster))
    return Outlook(
        verdict,
        seen,
        maintenance.course(jail.mode, seen),
        maintenance.without_root(jail.mode, seen),
    )


async def fill(hands: Hands, kind: Kind, obj: Resource, jail: Jail, verdict: Verdict) -> None:
    """Do what was decided about the root of `obj`."""
    store, name = hands.world.stores[kinds.JOB], jail.populate.name
    where = Ref(kinds.JOB, jail.populate.part.namespace, name)
    match verdict.action:
        case MakeJob(anew=anew):
            made = render.job(_for(jail, anew=anew))
            meta = {
                **made["metadata"],
                "ownerReferences": [owner_reference(kind.identity(obj))],
                "annotations": {**made["metadata"].get("annotations", {}), ANEW: _word(anew)},
            }
            with suppress(ExistsError):  # the store does not know it yet
                made = {**made, "metadata": meta}
                store.put(await hands.client.create(kinds.JOB, made, store.type))
        case DeleteJob(uid=uid):
            job = store.get((where.namespace, name))
            if job is not None and job.metadata.uid == uid:
                await delete(hands.client, store, kinds.JOB, job)
        case MarkJob(uid=uid):
            change = {"metadata": {"uid": uid, "annotations": {ANEW: _word(anew=False)}}}
            with suppress(NotFoundError):
                store.put(await hands.client.patch(where, change, store.type))
        case None:
            pass


def _for(jail: Jail, *, anew: bool) -> Jail:
    """Return the jail as its Job is to see it: a maintenance may have ended before it was made."""
    return replace(jail, mode=Mode.OVERWRITE if anew else Mode.NONE)


def _word(anew: bool) -> str:  # noqa: FBT001 - it is what is written
    return "true" if anew else "false"


def _seen(world: World, jail: Jail) -> Filling | None:
    populate_ = jail.populate
    found: Job | None = world.get(kinds.JOB, (populate_.part.namespace, populate_.name))
    if found is None:
        return None
    if found.complete:
        progress, trouble = Progress.DONE, ""
    elif found.failure:
        progress, trouble = Progress.FAILED, found.failure
    else:
        progress, trouble = Progress.RUNNING, _trouble(world, populate_.part)
    meta = found.metadata
    anew = meta.annotations.get(ANEW) == _word(anew=True)
    return Filling(meta.uid, progress, anew, found.deleting, trouble)


def _trouble(world: World, part: Part) -> str:
    troubled = (pod for pod in world.pods(part) if not pod.deleting and pod.trouble)
    pod = next(troubled, None)
    return f"pod {pod.metadata.name}: {pod.trouble}" if pod else ""


def slurmctld(world: World, cluster: Cluster) -> Workload | None:
    """Return what runs a cluster's slurmctld; one of another cluster's by its name is none."""
    controller = cluster.controller
    if not isinstance(controller, ManagedController):
        return None
    where = (cluster.namespace, controller.names.workload)
    found = world.workload(kinds.STATEFUL_SET, where)
    marks = controller.part.selector.items()
    return found if found is not None and marks <= found.metadata.labels.items() else None


def _serving(world: World, cluster: Cluster) -> bool:
    if not isinstance(cluster.controller, ManagedController):
        return True
    found = slurmctld(world, cluster)
    return found is not None and not found.deleting and found.spec.replicas > 0
