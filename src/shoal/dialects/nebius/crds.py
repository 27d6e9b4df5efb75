"""The definitions of the kinds of slurm.nebius.ai. Pure."""

from ...kube.crds import AGE, Column, Scale, Version, crd
from ...kube.kinds import Kind
from ...kube.objects import Object
from . import types
from .types import KINDS, NODE_SET, SLURM_CLUSTER


def _condition(name: str, type_: str) -> Column:
    return Column(name, f'.status.conditions[?(@.type=="{type_}")].status')


COLUMNS: dict[Kind, tuple[Column, ...]] = {
    SLURM_CLUSTER: (
        Column("Status", ".status.phase"),
        _condition("Controllers", "ControllersAvailable"),
        Column("Workers", ".status.readyWorkers", "integer"),
        Column("Login", ".status.readyLogin", "integer"),
        _condition("SConfigCtrl", "SConfigControllerAvailable"),
        _condition("Accounting", "AccountingAvailable"),
        AGE,
    ),
    NODE_SET: (
        Column("Status", ".status.phase"),
        Column("Desired", ".spec.replicas", "integer"),
        Column("Ready", ".status.replicas", "integer"),
        Column("Ephemeral", ".spec.ephemeralNodes", "boolean", priority=0),
        AGE,
    ),
}
SCALES: dict[Kind, Scale] = {NODE_SET: Scale(selector=".status.labelSelector")}


def definitions() -> list[Object]:
    """Return the definitions."""
    return [definition(kind) for kind in KINDS]


def definition(kind: Kind) -> Object:
    """Return the definition of one kind."""
    made = Version(kind.version, types.TYPES[kind.kind], COLUMNS[kind], SCALES.get(kind))
    return crd(kind, (made,))
