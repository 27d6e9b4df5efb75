"""Why a worker that stays takes no jobs for now: its node or its pod is cordoned. Pure."""

from ..kube.nodes import Node
from ..model.naming import Annotations
from ..model.workers import Fleet, Worker
from ..slurm.reasons import sanitised


def cordon(worker: Worker, fleet: Fleet, keys: Annotations, shown: frozenset[str]) -> str | None:
    """Return why a worker is to be drained though it stays; None: it is not.

    `shown` are the types of node conditions that explain a cordon.
    """
    meta = worker.pod.metadata
    node = fleet.node(worker)
    if node is not None and node.spec.unschedulable:
        whose = f"{meta.namespace}/{meta.name}"
        usual = f"Node ({node.metadata.name}) was cordoned, Pod ({whose}) must be cordoned"
        told = sanitised(node.metadata.annotations.get(keys.node_cordon_reason, ""))
        return told or sanitised(_conditions(node, shown)) or usual
    if meta.annotations.get(keys.pod_cordon) == "true":
        return f"Pod ({meta.namespace}/{meta.name}) was cordoned"
    return None


def _conditions(node: Node, shown: frozenset[str]) -> str:
    true = (c for c in node.status.conditions if c.type in shown and c.status == "True")
    return "; ".join(f"({condition.reason}: {condition.message})" for condition in true)
