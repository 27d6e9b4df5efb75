"""What was seen, as the status of slinky.slurm.net's objects says it. Pure."""

from collections import Counter
from datetime import UTC, datetime

from ...kube.objects import Object
from ...model.login import LoginSet
from ...model.nodeset import Mode
from ...model.part import Part
from ...model.workers import Fleet, Muster
from ...slurm.nodes import NodeState


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
    slurm = fleet.slurm
    # Thousands of nodes are in a few states.
    counts = Counter(slurm[w.node].state.words for w in fleet.workers if w.node in slurm)
    states = [(NodeState(words), number) for words, number in counts.items()]
    return {
        "slurmIdle": sum(number for state, number in states if state.has("IDLE")),
        "slurmAllocated": sum(n for state, n in states if state.has("ALLOCATED", "MIXED")),
        "slurmDown": sum(number for state, number in states if state.has("DOWN")),
        "slurmDrain": sum(number for state, number in states if state.asked_to_drain),
    }


def token(issued: datetime) -> Object:
    """Return the status of a Token beside its conditions."""
    return {"issuedAt": issued.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
