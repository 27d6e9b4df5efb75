"""What may be written of slinky.slurm.net: what is behind the paths of the webhooks. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from ...kube import values
from ...kube.findings import Findings, Lookups, Unknown, Verdict, Wrong, created, updated
from ...kube.kinds import NODE, POD, Kind
from ...kube.objects import Object, key_of
from . import (
    controller_checks,
    defaults,
    kind_checks,
    made,
    naming,
    nodeset_checks,
    types,
)
from .convert import convert
from .types import ACCOUNTING, CONTROLLER, KINDS, LOGIN_SET, NODE_SET, REST_API, TOKEN


def review(kind: Kind, operation: str, new: Object, old: Object, ask: Lookups) -> Verdict:
    """Judge a write of an object of `kind`; `old` is empty for one that is created.

    The schema has been checked before: what it refuses cannot be read here.
    """
    # One that waits for its finalizers must be let go, whatever is wrong with it.
    if operation == "DELETE" or new["metadata"].get("deletionTimestamp"):
        return Verdict()
    found = _findings(kind, new, ask)
    if operation != "UPDATE":
        return created(found)
    return updated(found, _findings(kind, old, ask), _changes(kind, new, old))


def _findings(kind: Kind, obj: Object, ask: Lookups) -> Findings:
    newest = convert(obj, kind.version)
    read = msgspec.convert(newest, types.TYPES[kind.kind])
    yield from made.names(kind, read, ask)
    yield from values.nul("spec", newest.get("spec", {}))
    yield from CHECKS[kind](read, ask)


CHECKS: Mapping[Kind, Callable[[Any, Lookups], Findings]] = {
    CONTROLLER: controller_checks.controller,
    NODE_SET: nodeset_checks.nodeset,
    LOGIN_SET: kind_checks.loginset,
    ACCOUNTING: kind_checks.accounting,
    REST_API: kind_checks.restapi,
    TOKEN: kind_checks.token,
}


# -- what cannot be changed


def _changes(kind: Kind, new: Object, old: Object) -> Iterator[Wrong]:
    after, before = (
        msgspec.convert(convert(obj, kind.version), types.TYPES[kind.kind]) for obj in (new, old)
    )
    for field, (read, message) in FIXED[kind].items():
        was, is_ = read(before), read(after)
        if was != is_:
            cure = f"it was {was!r}; put that back, or make a new {kind.kind}"
            yield Wrong(field, f"{message}: {cure}")


Fixed = Mapping[str, tuple[Callable[[Any], object], str]]


def _signing_key(obj: types.Controller | types.Accounting | types.Token) -> tuple[str, str] | None:
    found = defaults.signing_key(obj.spec)
    return (found.name, found.key) if found else None


def _slurm_key(obj: types.Controller) -> str | None:
    return obj.spec.slurm_key_ref.name if obj.spec.slurm_key_ref else None


def _existing_claim(obj: types.Controller) -> str | None:
    """Return the claim that counts: none where the state is kept nowhere."""
    return obj.spec.persistence.existing_claim or None if obj.spec.persistence.enabled else None


_JWT = "the value of JwtKeyRef or JwtHs256KeyRef cannot be modified after deployment"
_CONTROLLER_REF: Fixed = {
    "spec.controllerRef": (
        lambda obj: obj.spec.controller_ref.name,
        "cannot change controllerRef after deployment",
    )
}
FIXED: Mapping[Kind, Fixed] = {
    CONTROLLER: {
        "spec.clusterName": (
            defaults.cluster_name,
            "cannot change ClusterName after deployment",
        ),
        "spec.slurmKeyRef.name": (_slurm_key, "cannot change slurmKeyRef.name after deployment"),
        "spec.jwtKeyRef": (_signing_key, _JWT),
        "spec.persistence.enabled": (
            lambda obj: obj.spec.persistence.enabled,
            "cannot change persistence.enabled after deployment",
        ),
        "spec.persistence.existingClaim": (
            _existing_claim,
            "cannot change persistence.existingClaim after deployment",
        ),
    },
    NODE_SET: {
        **_CONTROLLER_REF,
        "spec.volumeClaimTemplates": (
            lambda obj: obj.spec.volume_claim_templates or [],
            "cannot change volumeClaimTemplates after deployment",
        ),
    },
    LOGIN_SET: _CONTROLLER_REF,
    ACCOUNTING: {"spec.jwtKeyRef": (_signing_key, _JWT)},
    REST_API: {},
    TOKEN: {"spec.jwtKeyRef": (_signing_key, _JWT)},
}


# -- where a worker is: known before it starts

TOPOLOGY = naming.NAMING.annotations.topology


def bind(binding: Object, ask: Lookups) -> Object:
    """Return the binding of a worker to a node with the node's place in the topology on it.

    The API server copies annotations of a Binding to the pod. Whatever is not known is left alone:
    nothing here may keep a pod from being scheduled.
    """
    namespace, name = key_of(binding)
    pod = ask.find(POD, namespace, name)
    node = ask.find(NODE, "", binding.get("target", {}).get("name", ""))
    if pod is None or node is None or isinstance(pod, Unknown) or isinstance(node, Unknown):
        return binding
    if (pod["metadata"].get("labels") or {}).get(naming.NAME) != naming.PARTS["NodeSet"][0]:
        return binding
    place = (node["metadata"].get("annotations") or {}).get(TOPOLOGY, "")
    meta = binding["metadata"]
    marked = {**(meta.get("annotations") or {}), TOPOLOGY: place}
    return {**binding, "metadata": {**meta, "annotations": marked}}


# -- the paths, as upstream has them

BINDING = Kind("", "v1", "Binding", "pods/binding")
BIND = "/mutate--v1-binding"
PATHS: Mapping[str, Kind] = {
    f"/validate-slinky-slurm-net-{kind.version}-{kind.kind.lower()}": kind for kind in KINDS
}
