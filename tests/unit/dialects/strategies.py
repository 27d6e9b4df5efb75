"""Random values of what the API server could hold."""

from typing import Any

from hypothesis import strategies as st

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
