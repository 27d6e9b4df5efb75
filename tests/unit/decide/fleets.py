"""Builders of what a NodeSet's workers are decided by: the usual case, and what differs.

A worker called `w-3` is number 3 of the NodeSet `w`, on the Kubernetes node `k-3`, and its Slurm
node is `w-3`. It is ready since an hour ago, and was made by the revision that is wanted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shoal.decide.wanted import Wanted
from shoal.dialects.slinky import naming
from shoal.kube.nodes import Node, NodeCondition, NodeSpec, NodeStatus, Taint
from shoal.kube.objects import Meta
from shoal.kube.pods import (
    ContainerState,
    ContainerStatus,
    Ended,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Running,
    Waiting,
)
from shoal.model.naming import Naming
from shoal.model.nodeset import Mode, NodeSet
from shoal.model.part import Part
from shoal.model.workers import Fleet, SlurmNode, Worker
from shoal.slurm import nodes

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMING: Naming = naming.NAMING
REVISION = "new"
SINCE = timedelta(hours=1)  # how long ago everything began, where a test does not say


def stamp(moment: datetime) -> str:
    """Return a moment as Kubernetes writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def worker(
    number: int = 0,
    *,
    name: str = "",
    uid: str = "",
    node: str | None = None,
    host: str | None = None,
    ready: bool = True,
    phase: str = "Running",
    began: bool = True,
    waits: str = "ImagePullBackOff",
    deleting: bool = False,
    revision: str = REVISION,
    mode: Mode = Mode.REPLICAS,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    conditions: Iterable[PodCondition] = (),
    restarts: int = 0,
    ready_since: datetime = NOW - SINCE,
    created: datetime = NOW - SINCE,
    deleted: datetime = NOW,
    started: datetime | None = None,
) -> Worker:
    """Return a worker.

    `host` is its Kubernetes node ("": it is not scheduled), `node` its Slurm node; with `began`
    False, its container waits, and `waits` says why; `started` is when its container did; `deleted`
    counts with `deleting` only.
    """
    name = name or f"w-{number}"
    node = name if node is None else node
    numbered = mode is Mode.REPLICAS
    marks = NAMING.labels
    own = {
        marks.pod_name: name,
        marks.pod_hostname: node,
        marks.scaling_mode: mode.value,
        marks.revision: revision,
        **({marks.pod_index: str(number)} if numbered else {}),
        **(labels or {}),
    }
    meta = Meta(
        name=name,
        namespace="ns",
        uid=uid or f"uid-{name}",
        resource_version="1",
        creation_timestamp=stamp(created),
        deletion_timestamp=stamp(deleted) if deleting else None,
        deletion_grace_period_seconds=30 if deleting else 0,
        labels=own,
        annotations=dict(annotations or {}),
    )
    scheduled = host != ""
    ready = ready and began and scheduled and phase == "Running"
    status = PodCondition("Ready", "True" if ready else "False", "", "", stamp(ready_since))
    spec = PodSpec(f"k-{number}" if host is None else host, node)
    over = phase in ("Succeeded", "Failed")
    state = ContainerState()
    if not began:
        state = ContainerState(waiting=Waiting(waits))
    elif over:
        state = ContainerState(terminated=Ended(1))
    containers = (ContainerStatus("slurmd", ready, restarts, state),)
    if started is not None:
        running = ContainerState(running=Running(stamp(started)))
        containers = (ContainerStatus("slurmd", ready, restarts, running),)
    pod = Pod(
        meta,
        spec,
        PodStatus(
            phase=phase if began and scheduled else "Pending",
            conditions=(status, *conditions),
            container_statuses=containers if scheduled else (),
        ),
    )
    return Worker(pod, node, number if numbered else None, revision, mode.value)


def slurm_node(name: str = "w-0", state: str = "IDLE", **fields: Any) -> SlurmNode:
    """Return a node of Slurm's; `state` is written as scontrol does: `MIXED+DRAIN`."""
    return SlurmNode(name, nodes.parse(state), **fields)


def kube_node(
    name: str = "k-0",
    *,
    ready: bool = True,
    unschedulable: bool = False,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Iterable[Taint] = (),
    conditions: Iterable[NodeCondition] = (),
) -> Node:
    """Return a node of Kubernetes'."""
    own = {"kubernetes.io/hostname": name, **(labels or {})}
    meta = Meta(
        name, uid=f"uid-{name}", resource_version="1", labels=own,
        annotations=dict(annotations or {}),
    )  # fmt: skip
    served = NodeCondition("Ready", "True" if ready else "False")
    return Node(
        meta, NodeSpec(unschedulable, tuple(taints)), NodeStatus((served, *conditions))
    )  # fmt: skip


def fleet(
    *workers: Worker,
    slurm: Iterable[SlurmNode] | str | None = "IDLE",
    kube: Iterable[Node] | None = None,
    now: datetime = NOW,
    **fields: Any,
) -> Fleet:
    """Return what was seen.

    `slurm` is a state that all workers' nodes are in, or those that Slurm knows, or None: it does
    not answer. Where `kube` is not given, the workers' Kubernetes nodes are there.
    """
    if isinstance(slurm, str):
        slurm = [slurm_node(w.node, slurm) for w in workers]
    if kube is None:
        hosts = {w.pod.spec.node_name for w in workers} - {""}
        kube = [kube_node(host) for host in sorted(hosts)]
    return Fleet(
        workers,
        now,
        None if slurm is None else {node.name: node for node in slurm},
        {node.metadata.name: node for node in kube},
        **fields,
    )


def nodeset(replicas: int = 1, **fields: Any) -> NodeSet:
    """Return the NodeSet `w`."""
    part = Part("w", "ns", naming.selector("NodeSet", "w"), naming.labels("NodeSet", "w"))
    made = NodeSet(part, "w", "w-", "slurm-workers-c", "slurm-workers-pdb-c", replicas=replicas)
    return replace(made, **fields)


def wanted(replicas: int = 1, *, of: Mapping[str, Any] | None = None, **fields: Any) -> Wanted:
    """Return what the workers shall be; `of` are fields of the NodeSet."""
    return Wanted(nodeset(replicas, **(of or {})), NAMING, REVISION, **fields)
