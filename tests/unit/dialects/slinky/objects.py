"""Objects of slinky.slurm.net: simple ones to start from, and random ones of a schema."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from shoal.dialects.slinky.crds import definition
from shoal.dialects.slinky.types import GROUP, KINDS, VERSION

from ..strategies import TEXTS, values

KEY = {"name": "keys", "key": "slurm.key"}
REF = {"name": "slurm"}
SPECS: dict[str, dict[str, Any]] = {
    "Controller": {"slurmKeyRef": KEY, "jwtKeyRef": KEY},
    "NodeSet": {"controllerRef": REF},
    "LoginSet": {"controllerRef": REF, "sssdConfRef": KEY},
    "Accounting": {
        "slurmKeyRef": KEY,
        "jwtKeyRef": KEY,
        "storageConfig": {"host": "mariadb", "passwordKeyRef": KEY},
    },
    "RestApi": {"controllerRef": REF},
    "Token": {"jwtKeyRef": KEY, "username": "alice"},
}
KIND = {kind.kind: kind for kind in KINDS}


def make(kind: str, name: str = "slurm", version: str = VERSION, **spec: Any) -> dict[str, Any]:
    """Return a simple object of `kind` with `spec` on top; None takes a field away."""
    whole = {**SPECS[kind], **spec}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": kind,
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {key: value for key, value in whole.items() if value is not None},
    }


@cache
def schema_of(kind: str, version: str = VERSION) -> dict[str, Any]:
    versions = definition(KIND[kind])["spec"]["versions"]
    found = next(v for v in versions if v["name"] == version)
    return found["schema"]["openAPIV3Schema"]


@cache
def objects(kind: str, version: str = VERSION) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy of whole objects."""
    schema = schema_of(kind, version)["properties"]
    metadata = st.fixed_dictionaries(
        {"name": st.just("a"), "namespace": st.just("b")},
        optional={"annotations": st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=2)},
    )
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just(f"{GROUP}/{version}"),
            "kind": st.just(kind),
            "metadata": metadata,
            "spec": values(schema["spec"]),
        },
        optional={"status": values(schema["status"])},
    )
