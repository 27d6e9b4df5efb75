"""Objects of slinky.slurm.net from one version to another, without loss. Pure.

Fields that both versions have are the same in both. What the wanted version cannot say is kept in
an annotation, by its place, and put back on the way home: unless the object around it is gone by
then, or somebody has said something else there.
"""

import copy
import functools
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...kube.objects import Object
from ...kube.schema import PRESERVE, schema
from . import types, v1alpha1

KEPT = "shoal/kept-by-conversion"
TYPES = {types.VERSION: types.TYPES, v1alpha1.VERSION: v1alpha1.TYPES}
PARTS = ("spec", "status")

Path = tuple[str, ...]
Rest = dict[Path, Any]


def convert(obj: Object, version: str) -> Object:
    """Return `obj` in `version`."""
    had = obj["apiVersion"].rpartition("/")[2]
    if had == version:
        return obj
    if had not in TYPES or version not in TYPES:
        raise ValueError(f"{had} to {version}: use {' or '.join(sorted(TYPES))}")
    wanted = _schema(obj["kind"], version)
    whole = copy.deepcopy({part: obj[part] for part in PARTS if part in obj})
    said, rest = _split(whole, wanted)
    for path, value in _read(obj).get(version, {}).items():
        _put_back(said, path, value)
    # Once more: what is put back was written by somebody, and never checked.
    checked, _ = _split(said, wanted)
    return {
        **obj,
        **checked,
        "apiVersion": f"{types.GROUP}/{version}",
        "metadata": _noted(obj["metadata"], had, rest),
    }


@functools.cache
def _schema(kind: str, version: str) -> Object:
    whole = schema(TYPES[version][kind])
    return {"type": "object", "properties": {part: whole["properties"][part] for part in PARTS}}


# -- what a schema can say


def _split(value: Object, of: Object) -> tuple[Object, Rest]:
    """Part `value` into what the schema can say, and the rest by its place."""
    rest: Rest = {}
    said = _said(value, of, (), rest)
    return (said if isinstance(said, dict) else {}), rest


_NOTHING = object()
_SORTS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def _said(value: Any, of: Object, at: Path, rest: Rest) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict) and not of.get(PRESERVE) and of.get("type") == "object":
        found = {key: _said(v, s, (*at, key), rest) for key, v, s in _members(value, of)}
        rest.update({(*at, key): value[key] for key in value if key not in found})
        return {key: inner for key, inner in found.items() if inner is not _NOTHING}
    if isinstance(value, list) and of.get("type") == "array":
        # Items have no place of their own that would outlast a change: all of them, or none.
        unsaid: Rest = {}
        for item in value:
            _said(item, of["items"], ("",), unsaid)
        return _not_said(value, at, rest) if unsaid else value
    return value if _fits(value, of) else _not_said(value, at, rest)


def _not_said(value: Any, at: Path, rest: Rest) -> object:  # noqa: ANN401 - any JSON
    rest[at] = value
    return _NOTHING


def _members(value: Object, of: Object) -> Iterator[tuple[str, Any, Object]]:
    """Yield key, value and schema of what the schema knows."""
    every = of.get("additionalProperties")
    for key, inner in value.items():
        known = every or of.get("properties", {}).get(key)
        if known is not None:
            yield key, inner, known


def _fits(value: Any, of: Object) -> bool:  # noqa: ANN401 - any JSON
    if value is None:
        return bool(of.get("nullable"))
    if of.get(PRESERVE):
        return "type" not in of or isinstance(value, dict)
    if of.get("x-kubernetes-int-or-string"):
        return type(value) in (int, str)
    return type(value) in _SORTS.get(of.get("type", ""), ())


# -- what is kept


def _read(obj: Object) -> dict[str, Rest]:
    """Return what is kept for each version; what is none of our writing is nothing."""
    text = (obj["metadata"].get("annotations") or {}).get(KEPT, "")
    try:
        kept = msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    except (msgspec.DecodeError, TypeError):
        return {}
    return {
        version: {_path(pointer): value for pointer, value in rest.items()}
        for version, rest in kept.items()
    }


def _noted(metadata: Object, version: str, rest: Rest) -> Object:
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(KEPT, None)
    if rest:
        written = {version: {_pointer(path): value for path, value in rest.items()}}
        annotations[KEPT] = msgspec.json.encode(written, order="sorted").decode()
    if annotations:
        return {**metadata, "annotations": annotations}
    return {key: value for key, value in metadata.items() if key != "annotations"}


# As JSON pointers (RFC 6901) have them: a key may have a slash in it.
def _pointer(path: Path) -> str:
    return "".join("/" + word.replace("~", "~0").replace("/", "~1") for word in path)


def _path(pointer: str) -> Path:
    return tuple(
        word.replace("~1", "/").replace("~0", "~") for word in pointer.removeprefix("/").split("/")
    )


def _put_back(into: Object, path: Path, value: Any) -> None:  # noqa: ANN401 - any JSON
    *parents, last = path
    for key in parents:
        inner = into.get(key)
        if not isinstance(inner, dict):
            return
        into = inner
    into.setdefault(last, value)
