"""Values that an object means although nobody wrote them. Pure.

The API server fills in what the schema says, but not inside objects that are not there, and it
leaves "" and 0 alone, which older definitions let through where they meant "the usual". The types
have the former as defaults of their own; the latter is here.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from ...kube.objects import Resource
from . import types
from .parts import KeyReference

LIFETIME = timedelta(minutes=15)
USERNAME = "nobody"
PORTS: Mapping[str, int] = {
    "Controller": 6817,
    "Accounting": 6819,
    "RestApi": 6820,
    "LoginSet": 22,
}

T = TypeVar("T", bound=Resource)
S = TypeVar("S", bound=msgspec.Struct)


def filled(obj: T) -> T:
    """Return `obj` with the usual value wherever it has an empty one that means it."""
    match obj:
        case types.NodeSet():
            return msgspec.structs.replace(obj, spec=_node_set(obj.spec))
        case types.Accounting() if obj.spec.storage_config is not None:
            storage = _usual(obj.spec.storage_config, "port", "database")
            return msgspec.structs.replace(
                obj, spec=msgspec.structs.replace(obj.spec, storage_config=storage)
            )
        case types.Token():
            spec = msgspec.structs.replace(obj.spec, username=obj.spec.username or USERNAME)
            return msgspec.structs.replace(obj, spec=spec)
        case _:
            return obj


def cluster_name(controller: types.Controller) -> str:
    """Return what Slurm calls the cluster."""
    meta = controller.metadata
    return controller.spec.cluster_name or f"{meta.namespace}_{meta.name}"


def signing_key(
    spec: types.ControllerSpec | types.AccountingSpec | types.TokenSpec,
) -> KeyReference | None:
    """Return the key that signs tokens: jwtKeyRef wins over its older name."""
    return spec.jwt_key_ref or spec.jwt_hs256_key_ref


def slurm_name(nodeset: types.NodeSet) -> str:
    """Return what Slurm calls a NodeSet, its feature and its partition."""
    return hostname(nodeset).strip("-") or nodeset.metadata.name


def hostname_prefix(nodeset: types.NodeSet) -> str:
    """Return what a worker's hostname, and so its Slurm node, has before its number."""
    return hostname(nodeset) or f"{nodeset.metadata.name}-"


def hostname(nodeset: types.NodeSet) -> str:
    """Return the hostname of a NodeSet's template; what is no text is none."""
    found = nodeset.spec.template.spec.get("hostname")
    return found if isinstance(found, str) else ""


def _node_set(spec: types.NodeSetSpec) -> types.NodeSetSpec:
    strategy = _usual(spec.update_strategy, "type")
    rolling = _usual(strategy.rolling_update, "max_unavailable", empty=("",))
    retention = spec.persistent_volume_claim_retention_policy
    return msgspec.structs.replace(
        _usual(spec, "scaling_mode", "prune_slurm_node_records"),
        update_strategy=msgspec.structs.replace(strategy, rolling_update=rolling),
        persistent_volume_claim_retention_policy=_usual(retention, "when_deleted", "when_scaled"),
    )


def _usual(part: S, *fields: str, empty: tuple[Any, ...] = ("", 0)) -> S:
    """Return `part` with the default of its type in each of `fields` that is empty."""
    usual = {f.name: f.default for f in msgspec.structs.fields(part) if f.name in fields}
    wrong = {name: usual[name] for name in fields if getattr(part, name) in empty}
    return msgspec.structs.replace(part, **wrong) if wrong else part
