"""What may be written of slurm.nebius.ai: what is behind the paths of the webhooks. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from ...kube import values
from ...kube.findings import Findings, Lookups, Unknown, Verdict, Wrong, created, updated
from ...kube.kinds import Kind
from ...kube.objects import Object
from ...model.jailed import Registration
from . import cluster_checks, defaults, made, naming, nodeset_checks, types
from .read_workers import REGISTRATION, registration
from .types import KINDS, NODE_SET, SLURM_CLUSTER


def review(kind: Kind, operation: str, new: Object, old: Object, ask: Lookups) -> Verdict:
    """Judge a write of an object of `kind`; `old` is empty for one that is created.

    The schema has been checked before: what it refuses cannot be read here.
    """
    # One that waits for its finalizers must be let go, whatever is wrong with it.
    if operation == "DELETE" or new["metadata"].get("deletionTimestamp"):
        return Verdict()
    found = findings(kind, new, ask)
    if operation != "UPDATE":
        return created(found)
    return updated(found, findings(kind, old, ask), _changes(kind, new, old))


def findings(kind: Kind, obj: Object, ask: Lookups) -> Findings:
    """Return all that can be said against an object, also where no webhook looked at it."""
    read = msgspec.convert(obj, types.TYPES[kind.kind])
    yield from made.names(read, ask)
    yield from values.nul("spec", obj.get("spec", {}))
    yield from CHECKS[kind](read, ask)


CHECKS: Mapping[Kind, Callable[[Any, Lookups], Findings]] = {
    SLURM_CLUSTER: cluster_checks.cluster,
    NODE_SET: nodeset_checks.nodeset,
}


# -- what cannot be changed


def _changes(kind: Kind, new: Object, old: Object) -> Iterator[Wrong]:
    after, before = (msgspec.convert(obj, types.TYPES[kind.kind]) for obj in (new, old))
    for field, (read, message) in FIXED[kind].items():
        was = read(before)
        # What was not there may be added.
        if was is not None and was != read(after):
            cure = f"it was {was!r}; put that back, or make a new {kind.kind}"
            yield Wrong(field, f"{message}: {cure}")
    if kind == SLURM_CLUSTER:
        yield from _state(after, before)


def _state(after: Any, before: Any) -> Iterator[Wrong]:  # noqa: ANN401 - SlurmClusters
    """Check that slurmctld's state, and all jobs with it, is moved only while nothing runs."""
    was = cluster_checks.spool(before)
    if was is not None and was != cluster_checks.spool(after) and not defaults.mode(before).down:
        message = "cannot change the volume of slurmctld's state while the cluster runs"
        cure = f"it was {was!r}; put that back, or set spec.maintenance to downscale first"
        yield Wrong("spec.slurmNodes.controller.volumes.spool", f"{message}: {cure}")


def _protected(obj: types.SlurmCluster) -> bool | None:
    found = obj.spec.slurm_nodes.accounting.mariadb_operator
    return found.protected_secret if found else None


def _cluster_of(obj: Any) -> str | None:  # noqa: ANN401 - a NodeSet
    return defaults.cluster_of(obj) or None


def _registration(obj: Any) -> str | None:  # noqa: ANN401 - a NodeSet
    """Return how its nodes come into slurm.conf; None: not at all, which may be changed."""
    static = registration(obj) is Registration.STATIC
    return Registration.STATIC.value if static else None


Fixed = Mapping[str, tuple[Callable[[Any], object], str]]
FIXED: Mapping[Kind, Fixed] = {
    SLURM_CLUSTER: {
        "spec.slurmNodes.accounting.mariadbOperator.protectedSecret": (
            _protected,
            "cannot change protectedSecret after deployment",
        ),
    },
    NODE_SET: {
        "spec.clusterName": (_cluster_of, "cannot change clusterName after deployment"),
        f"metadata.annotations[{REGISTRATION}]": (
            _registration,
            "cannot change after deployment, or Slurm would drop nodes with their jobs",
        ),
    },
}


# -- Secrets that are protected

SECRET_PATH = "/validate--v1-secret"
# Of which Secrets the webhook is asked.
SECRET_SELECTOR = {"matchLabels": {naming.WEBHOOK: "true"}}
_OWNER = f"metadata.annotations[{naming.CLUSTER}]"


def secret(operation: str, new: Object, old: Object, ask: Lookups) -> Verdict:
    """Judge a write of a protected Secret: it stays as it is as long as its cluster is there."""
    match operation:
        case "CREATE":
            return Verdict(tuple(_created(new)))
        case "UPDATE":
            return Verdict(tuple(_updated(new, old)))
        case "DELETE":
            return Verdict(tuple(_deleted(old, ask)))
        case _:
            return Verdict()


def _owner(obj: Object) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    found = annotations.get(naming.CLUSTER, "")
    return found if isinstance(found, str) else ""


def _created(new: Object) -> Iterator[Wrong]:
    if not _owner(new):
        yield Wrong(_OWNER, "is missing; name the SlurmCluster that the Secret belongs to")


def _updated(new: Object, old: Object) -> Iterator[Wrong]:
    # Owners and finalizers may come and go: garbage collection needs that.
    for field in ("data", "stringData", "type"):
        if (new.get(field) or None) != (old.get(field) or None):
            yield Wrong(field, "cannot be changed: the Secret is protected; make another one")
    if _owner(new) != _owner(old):
        yield Wrong(_OWNER, f"cannot be changed: it was {_owner(old)!r}; put that back")
    labels = new["metadata"].get("labels") or {}
    if labels.get(naming.WEBHOOK) != "true":
        field = f"metadata.labels[{naming.WEBHOOK}]"
        yield Wrong(field, "cannot be taken away: the Secret is protected; put 'true' back")


def _deleted(old: Object, ask: Lookups) -> Iterator[Wrong]:
    owner, namespace = _owner(old), old["metadata"].get("namespace", "")
    if not owner:
        return
    found = ask.find(SLURM_CLUSTER, namespace, owner)
    if isinstance(found, Unknown):
        message = f"nobody knows whether SlurmCluster {owner!r} is there; try again"
        yield Wrong("metadata.name", f"cannot be deleted: {message}")
    elif found is not None:
        message = f"SlurmCluster {owner!r} needs it; delete that first"
        yield Wrong("metadata.name", f"cannot be deleted: {message}")


# -- the paths, as upstream has them

PATHS: Mapping[str, Kind] = {
    f"/validate-{kind.group.replace('.', '-')}-{kind.version}-{kind.kind.lower()}": kind
    for kind in KINDS
}
