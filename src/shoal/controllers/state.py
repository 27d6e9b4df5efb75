"""Notes that a slurmctld has a state, and lets it start without one only on the user's word."""

from dataclasses import replace

from ..decide.conditions import Failed
from ..decide.state import Past, state_lost
from ..kube import kinds
from ..kube.data import ConfigMap
from ..kube.kinds import Kind
from ..kube.objects import Object, Resource
from ..kubeapi.client import Ref
from ..model.cluster import Cluster
from ..model.controller import ManagedController
from ..model.naming import Annotations
from ..render import state_guard
from .passes import Hands


def past(hands: Hands, obj: Resource, cluster: Cluster) -> Past | None:
    """Return what is known of a cluster's state; None: there is none that could be lost."""
    controller, meta = cluster.controller, obj.metadata
    if not isinstance(controller, ManagedController) or not controller.guarded:
        return None
    where = (cluster.namespace, state_guard.map_name(controller))
    told: ConfigMap | None = hands.world.get(kinds.CONFIG_MAP, where)
    # One of an earlier object of this name speaks of another state.
    ours = told is not None and any(o.uid == meta.uid for o in told.metadata.owner_references)
    expected = (told.data or {}).get(state_guard.EXPECTED, "") if told and ours else ""
    names = cluster.naming.annotations
    return Past(
        meta.uid,
        meta.annotations.get(names.has_state, ""),
        expected.strip() == "true",
        meta.annotations.get(names.accept_empty_state) == "true",
        hands.world.pods(controller.part),
    )


async def noted(
    hands: Hands, kind: Kind, obj: Resource, names: Annotations, known: Past | None
) -> Resource:
    """Return a cluster's object as it has to be: its state noted, a spent word of the user gone."""
    notes: dict[str, str | None] = {}
    if known is None:
        return obj
    if known.note is not None:
        notes[names.has_state] = known.note
    if known.spent:
        notes[names.accept_empty_state] = None
    if not notes:
        return obj
    store = hands.world.stores[kind]
    change: Object = {"metadata": {"uid": obj.metadata.uid, "annotations": notes}}
    written: Resource = await hands.client.patch(Ref(kind, *obj.key), change, store.type)
    store.put(written)
    return written


def expecting(cluster: Cluster, known: Past | None) -> Cluster:
    """Return the cluster with what its slurmctld must find when it starts."""
    if known is None or not isinstance(cluster.controller, ManagedController):
        return cluster
    return replace(cluster, controller=replace(cluster.controller, had_state=known.expects))


def told(kind: Kind, cluster: Cluster, known: Past | None) -> Failed | None:
    """Say that slurmctld is not started, and what to do."""
    if known is None:
        return None
    what = f"{kind.plural}.{kind.group} {cluster.controller.part.name}"
    word = f"{cluster.naming.annotations.accept_empty_state}=true"
    return state_lost(known, f"`kubectl --namespace={cluster.namespace} annotate {what} {word}`")


async def start_anew(hands: Hands, kind: Kind, obj: Resource, known: Past | None) -> None:
    """Let slurmctld start without its state, now that the user has said so.

    kubelet would try again by itself, after minutes; no slurmctld runs in these pods.
    """
    if known is not None and known.accepted and known.blocked:
        await hands.applier.delete(kind.identity(obj), kinds.POD, known.blocked)
