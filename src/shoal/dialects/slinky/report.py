"""What was seen, as the status of slinky.slurm.net's objects says it. Pure."""

from datetime import UTC, datetime

from ...kube.objects import Object
from ...model.login import LoginSet
from ...model.nodeset import Mode
from ...model.part import Part
from ...model.workers import Fleet, Muster


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


def nodeset(told: Muster) -> Object:
    """Return the status of a NodeSet beside its conditions."""
    node_set, fleet = told.nodeset, told.fleet
    there = [worker for worker in fleet.workers if worker.pod.status.phase]
    available = sum(worker.available(fleet.now, node_set.min_ready) for worker in there)
    short = told.desired if node_set.mode is Mode.EVERY_NODE else len(there)
    pinned = {str(number): node for number, node in sorted(told.pinned.items())}
    return {
        "desired": told.desired,
        "replicas": len(there),
        "readyReplicas": sum(worker.ready for worker in there),
        "availableReplicas": available,
        "unavailableReplicas": max(short - available, 0),
        "updatedReplicas": sum(w.living and w.revision == told.revision for w in fleet.workers),
        **_in_slurm(fleet),
        "nodeSetHash": told.revision,
        **({"collisionCount": told.collisions} if told.collisions else {}),
        "observedGeneration": told.generation,
        "selector": selector(node_set.part),
        **({"ordinalToNode": pinned} if pinned else {}),
    }


def _in_slurm(fleet: Fleet) -> Object:
    """Return how many workers are what in Slurm; nothing while it does not say."""
    if fleet.slurm is None:
        return {}
    states = [node.state for w in fleet.workers if (node := fleet.slurm.get(w.node)) is not None]
    return {
        "slurmIdle": sum(state.has("IDLE") for state in states),
        "slurmAllocated": sum(state.has("ALLOCATED", "MIXED") for state in states),
        "slurmDown": sum(state.has("DOWN") for state in states),
        "slurmDrain": sum(state.asked_to_drain for state in states),
    }


def token(issued: datetime) -> Object:
    """Return the status of a Token beside its conditions."""
    return {"issuedAt": issued.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
