"""What was seen, as the status of slinky.slurm.net's objects says it. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from ...kube.objects import Object
from ...kube.pods import Pod
from ...model.login import LoginSet
from ...model.nodeset import NodeSet
from ...model.part import Part


def selector(part: Part) -> str:
    """Return the selector of a part's pods, as the scale subresource wants it."""
    return ",".join(f"{key}={value}" for key, value in sorted(part.selector.items()))


def login(login_set: LoginSet, replicas: int, ready: int) -> Object:
    """Return the status of a LoginSet beside its conditions."""
    return {
        "replicas": replicas,
        "readyReplicas": ready,
        "selector": selector(login_set.part),
    }


def nodeset(node_set: NodeSet, pods: Sequence[Pod], generation: int) -> Object:
    """Return the status of a NodeSet beside its conditions."""
    there = [pod for pod in pods if pod.status.phase]
    ready = sum(pod.ready for pod in there)
    return {
        "desired": node_set.replicas,
        "replicas": len(there),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(len(there) - ready, 0),
        "observedGeneration": generation,
        "selector": selector(node_set.part),
    }


def token(issued: datetime) -> Object:
    """Return the status of a Token beside its conditions."""
    return {"issuedAt": issued.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
