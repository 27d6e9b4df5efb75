"""The definitions of the six kinds of slinky.slurm.net. Pure."""

from ...kube.crds import (
    AGE,
    Column,
    Conversion,
    Endpoint,
    InCluster,
    Names,
    Scale,
    Version,
    crd,
)
from ...kube.kinds import Kind
from ...kube.objects import Object
from . import types, v1alpha1
from .types import ACCOUNTING, CONTROLLER, KINDS, LOGIN_SET, NODE_SET, REST_API, TOKEN

CONVERT = "/convert"
# Where the chart puts the webhooks; an installation elsewhere writes its own.
USUAL = InCluster("slinky", "slurm-operator-webhook")
DEPRECATED = (
    f"{types.GROUP}/{v1alpha1.VERSION} {{}} is deprecated: use {types.GROUP}/{types.VERSION}"
)

_READY = '.status.conditions[?(@.type=="Ready")]'
READY = Column("READY", f"{_READY}.status")
REASON = Column("REASON", f"{_READY}.reason", priority=1)
CLUSTER = Column("CONTROLLER", ".spec.controllerRef.name", priority=1)
_AGE = Column("AGE", AGE.path, AGE.type)


def _count(name: str, field: str, priority: int = 0) -> Column:
    return Column(name, f".status.{field}", "integer", priority)


COLUMNS: dict[Kind, tuple[Column, ...]] = {
    CONTROLLER: (READY, REASON, Column("CLUSTER", ".spec.clusterName", priority=1), _AGE),
    # Its READY is a number, as upstream has it; STATUS says the rest in a word.
    NODE_SET: (
        _count("DESIRED", "desired"),
        _count("REPLICAS", "replicas"),
        _count("UPDATED", "updatedReplicas"),
        _count("READY", "readyReplicas"),
        Column("STATUS", f"{_READY}.reason"),
        _count("IDLE", "slurmIdle", 1),
        _count("ALLOCATED", "slurmAllocated", 1),
        _count("DOWN", "slurmDown", 1),
        _count("DRAIN", "slurmDrain", 1),
        CLUSTER,
        _AGE,
    ),
    LOGIN_SET: (_count("REPLICAS", "replicas"), READY, REASON, CLUSTER, _AGE),
    ACCOUNTING: (READY, REASON, _AGE),
    REST_API: (READY, REASON, CLUSTER, _AGE),
    TOKEN: (
        Column("USER", ".spec.username"),
        Column("IAT", ".status.issuedAt", "date"),
        READY,
        REASON,
        _AGE,
    ),
}
SHORT: dict[Kind, tuple[str, ...]] = {
    CONTROLLER: ("slurmctld",),
    NODE_SET: ("nodesets", "nss", "slurmd"),
    LOGIN_SET: ("loginsets", "lss", "sackd"),
    ACCOUNTING: ("slurmdbd",),
    REST_API: ("slurmrestd",),
    TOKEN: ("tokens", "jwt"),
}
SCALED = (NODE_SET, LOGIN_SET)


def definitions(endpoint: Endpoint = USUAL) -> list[Object]:
    """Return the definitions; `endpoint` is where the webhook that converts is found."""
    return [definition(kind, endpoint) for kind in KINDS]


def definition(kind: Kind, endpoint: Endpoint = USUAL) -> Object:
    """Return the definition of one kind."""
    columns, scale = COLUMNS[kind], Scale() if kind in SCALED else None
    old = Version(
        v1alpha1.VERSION,
        v1alpha1.TYPES[kind.kind],
        tuple(column for column in columns if column.name != "DESIRED"),
        scale,
        deprecated=DEPRECATED.format(kind.kind),
    )
    new = Version(types.VERSION, types.TYPES[kind.kind], columns, scale)
    return crd(kind, (new, old), Names(SHORT[kind]), Conversion(endpoint, CONVERT))
