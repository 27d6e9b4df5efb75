"""Objects of slinky.slurm.net: simple ones to start from, and random ones of a schema."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from shoal.dialects.slinky.crds import definition
from shoal.dialects.slinky.types import GROUP, KINDS, VERSION

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


TEXTS = st.text("ab/~\n", max_size=3)
JSON = st.recursive(
    st.booleans() | st.integers(-2, 2) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
SIDECAR = st.fixed_dictionaries(
    {},
    optional={
        "image": TEXTS | st.integers(),
        "command": st.lists(TEXTS),
        "resources": st.fixed_dictionaries(
            {},
            optional={
                "limits": st.dictionaries(TEXTS, TEXTS | st.booleans(), max_size=2),
                "claims": st.lists(st.dictionaries(TEXTS, JSON, max_size=1), max_size=1),
            },
        ),
    },
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of what the API server could hold of `schema`."""
    made = _values(schema)
    return made | st.none() if schema.get("nullable") else made


def _values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        free = st.dictionaries(TEXTS, JSON, max_size=2)
        return free | SIDECAR if schema.get("type") == "object" else free | st.lists(free)
    if schema.get("x-kubernetes-int-or-string"):
        return st.integers(0, 9) | st.sampled_from(["25%", "1Gi"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object" if "additionalProperties" in schema:
            return st.dictionaries(TEXTS, values(schema["additionalProperties"]), max_size=2)
        case "object":
            fields = {name: values(below) for name, below in schema.get("properties", {}).items()}
            must = set(schema.get("required", ()))
            must |= {name for name, below in schema["properties"].items() if "default" in below}
            return st.fixed_dictionaries(
                {name: fields[name] for name in fields if name in must},
                optional={name: fields[name] for name in fields if name not in must},
            )
        case "array":
            return st.lists(values(schema["items"]), max_size=2)
        case "string" if "pattern" in schema:
            return st.sampled_from(["1", "Ready"])
        case word:
            return {"string": TEXTS, "boolean": st.booleans(), "integer": st.integers(1, 99)}[word]


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
