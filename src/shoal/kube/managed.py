"""Which fields of an object are ours: managedFields, as the API server keeps them. Pure.

Whoever changes or removes a field takes it from all others, so a field that we set and that is
still ours has the value that we gave it. This holds for every kind, needs no schema, and no value
is compared: defaults, quantities and what admission made of a field do not matter.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from .objects import Meta, Object, Resource, Slim

# What identifies an object, or is the server's alone: nobody owns it.
_NOBODYS = ("apiVersion", "kind", "status")
_NOBODYS_META = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation")


class Manager(Slim, frozen=True, gc=False):
    """Somebody who set fields, and which."""

    manager: str = ""
    subresource: str = ""
    fields_v1: msgspec.Raw = msgspec.Raw(b"{}")


class ManagedMeta(Meta, frozen=True, gc=False):
    """Metadata with the managers of an object."""

    managed_fields: tuple[Manager, ...] = ()


class Managed(Resource, frozen=True, gc=False):
    """An object of any kind, as far as it is known who set what."""

    metadata: ManagedMeta = ManagedMeta()


def fields_of(obj: Managed, manager: str) -> tuple[bytes, ...]:
    """Return the fields of `obj` itself, not of its status, that `manager` set, as the API does."""
    found = (m for m in obj.metadata.managed_fields if m.manager == manager and not m.subresource)
    return tuple(bytes(m.fields_v1) for m in found)


def all_ours(fields: Iterable[bytes], said: Object) -> bool:
    """Say whether every field that `said` names is among `fields`."""
    meta = {k: v for k, v in said["metadata"].items() if k not in _NOBODYS_META}
    rest = {k: v for k, v in said.items() if k not in _NOBODYS and k != "metadata"}
    return _holds([_tree(part) for part in fields], {"metadata": meta, **rest} if meta else rest)


Tree = dict[str, Any]


def _holds(trees: Sequence[Tree], said: Any) -> bool:  # noqa: ANN401 - any JSON
    if not all(trees):
        return True  # a leaf, so owned as a whole: a single value, or an atomic map or list
    if isinstance(said, dict):
        return all(
            _among([tree[f"f:{name}"] for tree in trees if f"f:{name}" in tree], value)
            for name, value in said.items()
            if value is not None and value != []  # a list without items leaves no trace
        )
    return isinstance(said, list) and all(_among(_items(trees, item), item) for item in said)


def _among(trees: Sequence[Tree], said: Any) -> bool:  # noqa: ANN401 - any JSON
    return bool(trees) and _holds(trees, said)


def _items(trees: Sequence[Tree], item: Any) -> list[Tree]:  # noqa: ANN401 - any JSON
    """Return what is owned of that item of a list, found by its keys or by its value."""
    return [below for tree in trees for name, below in tree.items() if _names(name, item)]


def _names(element: str, item: Any) -> bool:  # noqa: ANN401 - any JSON
    match element[:2]:
        case "v:":
            return bool(_value(element[2:]) == item)
        case "k:":
            # A key that is left out has its default there (a port's protocol).
            return all(item.get(k, v) == v for k, v in _value(element[2:]).items())
        case _:
            return False


@lru_cache(maxsize=256)
def _tree(fields: bytes) -> Tree:
    found: Tree = msgspec.json.decode(fields)
    return found


@lru_cache(maxsize=4096)
def _value(text: str) -> Any:  # noqa: ANN401 - any JSON
    return msgspec.json.decode(text)
