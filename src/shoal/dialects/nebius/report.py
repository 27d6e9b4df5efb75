"""What was seen, as the status of slurm.nebius.ai's objects says it. Pure.

Types, reasons and phases are upstream's: users' tooling waits for them.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...kube.conditions import Condition, Status
from ...kube.objects import Object
from ...model.workers import Muster
from . import naming

# -- a SlurmCluster


class State(enum.Enum):
    """How a part of a cluster is."""

    UNKNOWN = "unknown"  # nobody has looked yet
    READY = "ready"
    NOT_READY = "not ready"
    MAINTENANCE = "maintenance"  # it is away because the user wants it away


@dataclass(frozen=True)
class Standing:
    """How a part of a cluster is, and why."""

    state: State
    message: str = ""


class Phase(enum.StrEnum):
    """How a cluster is, in a word."""

    PENDING = "Pending"
    RECONCILING = "Reconciling"
    NOT_AVAILABLE = "Not available"
    AVAILABLE = "Available"


# The condition of each part, in the order in which a cluster is built.
TYPES: Mapping[str, str] = {
    naming.COMMON: "CommonAvailable",
    naming.ACCOUNTING: "AccountingAvailable",
    naming.WORKERS: "WorkersAvailable",
    naming.CONFIG_CONTROLLER: "SConfigControllerAvailable",
    naming.CONTROLLER: "ControllersAvailable",
    naming.LOGIN: "LoginAvailable",
}
POPULATE_JAIL_MODE = "PopulateJailMode"
NODE_SET_REFS_RESOLVED = "NodeSetRefsResolved"
FIELDS_SUPPORTED = "FieldsSupported"  # ours: upstream has none that says so

_SAYS: Mapping[State, tuple[Status, str, str]] = {
    State.UNKNOWN: ("Unknown", "SetUpCondition", "The object is not ready yet."),
    State.READY: ("True", "Available", ""),
    State.NOT_READY: ("False", "NotAvailable", ""),
    State.MAINTENANCE: ("False", "Maintenance", ""),
}


def parts(seen: Mapping[str, Standing], generation: int) -> list[Condition]:
    """Return a condition for each part in `seen`; one that the cluster has not is not there."""
    told = []
    for part, type_ in TYPES.items():
        if part in seen:
            status, reason, usual = _SAYS[seen[part].state]
            message = seen[part].message or usual
            told.append(Condition(type_, status, reason, message, generation))
    return told


def populate_mode(mode: str, generation: int) -> Condition:
    """Return the condition that says in which mode the shared root was last filled."""
    return Condition(POPULATE_JAIL_MODE, "True", mode, "", generation)


def node_set_refs(ignored: Sequence[str], generation: int) -> Condition:
    """Return the condition that says whether partitions refer to NodeSets that are there."""
    if not ignored:
        return Condition(NODE_SET_REFS_RESOLVED, "True", "AllNodeSetRefsResolved", "", generation)
    message = f"there is no NodeSet {', '.join(ignored)}; its partitions are kept without it"
    return Condition(NODE_SET_REFS_RESOLVED, "False", "IgnoredNodeSetRefs", message, generation)


def supported(fields: Sequence[str], generation: int) -> Condition:
    """Return the condition that says whether all fields that are set have an effect."""
    if not fields:
        return Condition(FIELDS_SUPPORTED, "True", "AllFieldsSupported", "", generation)
    message = f"not supported yet, and without effect: {', '.join(fields)}"
    return Condition(FIELDS_SUPPORTED, "False", "UnsupportedFields", message, generation)


def phase(seen: Iterable[Standing]) -> Phase:
    """Return the phase of a cluster out of how its parts are."""
    states = {standing.state for standing in seen}
    if states <= {State.UNKNOWN}:
        return Phase.PENDING
    if states == {State.READY}:
        return Phase.AVAILABLE
    # What is known to be away says more than what nobody has looked at.
    if states & {State.NOT_READY, State.MAINTENANCE}:
        return Phase.NOT_AVAILABLE
    return Phase.RECONCILING


@dataclass(frozen=True)
class Ready:
    """How many pods of a sort are ready; None: there are none of the sort, or nobody knows."""

    login: int | None = None
    workers: int | None = None
    config_controller: int | None = None


def cluster(now: Phase, ready: Ready) -> Object:
    """Return the status of a SlurmCluster beside its conditions."""
    counted = {
        "readyLogin": ready.login,
        "readyWorkers": ready.workers,
        "readySConfigController": ready.config_controller,
    }
    return {"phase": now.value, **{k: v for k, v in counted.items() if v is not None}}


# -- a NodeSet


class NodeSetPhase(enum.StrEnum):
    """How a NodeSet is, in a word."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    READY = "Ready"
    TERMINATING = "Terminating"


PODS_READY = "PodsReady"
TERMINATED = "StatefulSetTerminated"


def nodeset_phase(standing: Standing, *, going: bool) -> NodeSetPhase:
    """Return the phase of a NodeSet; `going`: it is being deleted."""
    if going:
        return NodeSetPhase.TERMINATING
    match standing.state:
        case State.READY:
            return NodeSetPhase.READY
        case State.NOT_READY | State.MAINTENANCE:
            return NodeSetPhase.PROVISIONING
        case State.UNKNOWN:
            return NodeSetPhase.PENDING


def nodeset_conditions(standing: Standing, generation: int, *, going: bool) -> list[Condition]:
    """Return the conditions of a NodeSet."""
    status, _, usual = _SAYS[standing.state]
    reason = _PODS[standing.state]
    told = [Condition(PODS_READY, status, reason, standing.message or usual, generation)]
    if going:
        message = "it is being deleted"
        told.append(Condition(TERMINATED, "True", "NodeSetTerminated", message, generation))
    return told


_PODS: Mapping[State, str] = {
    State.UNKNOWN: "SetUpCondition",
    State.READY: "NodeSetReady",
    State.NOT_READY: "NodeSetNotReady",
    State.MAINTENANCE: "Maintenance",
}


def nodeset(told: Muster, now: NodeSetPhase) -> Object:
    """Return the status of a NodeSet beside its conditions."""
    # Of those that are ready, as the column says which shows it.
    ready = sum(worker.ready for worker in told.fleet.workers if worker.living)
    return {
        "phase": now.value,
        "replicas": ready,
        "labelSelector": naming.written(told.nodeset.part.selector),
        "observedGeneration": told.generation,
    }
