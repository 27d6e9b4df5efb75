"""Who owns which field: server-side apply as structured-merge-diff does it.

A field is a path of elements: ("f", name), ("k", the item's keys as JSON) or ("v", value as JSON).
The functions have the names and the logic of sigs.k8s.io/structured-merge-diff/v6, so that they
can be compared.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.kube.objects import Object

from .shapes import Shape

Element = tuple[str, str]
Path = tuple[Element, ...]
Fields = frozenset[Path]

_META = ("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation",
         "managedFields", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
         "generateName")  # fmt: skip


def place_of(path: Path) -> tuple[str, ...]:
    """Return the names along `path`: where in a kind it is."""
    return tuple(name for mark, name in path if mark == "f")


def owned_part(obj: Object) -> Object:
    """Return what of `obj` can be owned: not its identity, nor what the server keeps there."""
    rest = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
    meta = {k: v for k, v in obj.get("metadata", {}).items() if k not in _META}
    return (
        {**rest, "metadata": meta} if meta else {k: v for k, v in rest.items() if k != "metadata"}
    )


@dataclass(frozen=True)
class Tree:
    """One value of a kind, somewhere in an object, taken apart as its shape says."""

    value: Any
    shape: Shape
    path: Path = ()

    @property
    def place(self) -> tuple[str, ...]:
        """Return where in a kind it is."""
        return place_of(self.path)

    @property
    def leaf(self) -> bool:
        """Say whether it is owned as a whole."""
        if isinstance(self.value, list):
            return not self.shape.is_set(self.place) and self.shape.keys(self.place) is None
        if isinstance(self.value, dict):
            if not self.path:
                return False
            in_list = self.path[-1][0] == "k"
            whole_items = in_list and self.shape.is_whole(self.place)
            whole_map = not in_list and self.shape.is_whole(self.place)
            return whole_items or whole_map
        return True

    def children(self) -> Iterator["Tree"]:
        """Yield the parts."""
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                yield Tree(value, self.shape, (*self.path, ("f", key)))
        elif self.shape.is_set(self.place):
            for value in self.value:
                yield Tree(value, self.shape, (*self.path, ("v", json.dumps(value))))
        else:
            keys = self.shape.keys(self.place) or {}
            for item in self.value:
                named = {key: item.get(key, default) for key, default in sorted(keys.items())}
                mark = json.dumps(named, separators=(",", ":"), sort_keys=True)
                yield Tree(item, self.shape, (*self.path, ("k", mark)))

    def by_element(self) -> dict[Element, "Tree"]:
        """Return the parts by the last element of their paths."""
        return {child.path[-1]: child for child in self.children()}

    def fields(self) -> Fields:
        """Return what an owner of all of it owns (ToFieldSet)."""
        if self.leaf:
            return frozenset({self.path})
        return frozenset().union(*(child.as_part() for child in self.children()))

    def as_part(self) -> Fields:
        """Return the same for a part of something: an item, or what is empty, is owned itself."""
        itself = self.path[-1][0] != "f" or self.value in ({}, None)
        return self.fields() | ({self.path} if itself else frozenset())


def merge(live: Tree, wanted: Tree) -> Any:
    """Return `live` with all that `wanted` says; what it does not say stays."""
    if wanted.leaf or live.leaf or type(live.value) is not type(wanted.value):
        return wanted.value
    before, after = live.by_element(), wanted.by_element()
    merged = {
        element: merge(before[element], after[element])
        if element in before and element in after
        else (after.get(element) or before[element]).value
        for element in _in_order(before, after)
    }
    if isinstance(wanted.value, dict):
        return {name: value for (_, name), value in merged.items()}
    return list(merged.values())


def _in_order(before: Iterable[Element], after: Iterable[Element]) -> list[Element]:
    """Order merged items: those wanted as they are wanted, each old one before its successor."""
    known, wanted = list(before), list(after)
    result: list[Element] = []
    for element in wanted:
        if element in known:
            at = known.index(element)
            result += [e for e in known[:at] if e not in wanted and e not in result]
        result.append(element)
    return result + [e for e in known if e not in result]


@dataclass(frozen=True)
class Difference:
    """What is different between two values."""

    added: Fields = frozenset()
    modified: Fields = frozenset()
    removed: Fields = frozenset()

    def __or__(self, other: "Difference") -> "Difference":
        return Difference(
            self.added | other.added, self.modified | other.modified, self.removed | other.removed
        )


def compare(old: Tree, new: Tree) -> Difference:
    """Return what became different on the way from `old` to `new`."""
    if old.leaf or new.leaf or type(old.value) is not type(new.value):
        changed = frozenset({new.path}) if old.value != new.value else frozenset()
        return Difference(modified=changed)
    before, after = old.by_element(), new.by_element()
    found = Difference()
    for element in {**before, **after}:
        if element not in before:
            found |= Difference(added=after[element].as_part())
        elif element not in after:
            found |= Difference(removed=before[element].as_part())
        else:
            found |= compare(before[element], after[element])
    return found


def remove(tree: Tree, fields: Fields) -> Any:
    """Return the value without `fields`, each with all below it (RemoveItems)."""
    if tree.leaf or not fields:
        return tree.value
    kept = {
        child.path[-1]: remove(child, _below(fields, child.path))
        for child in tree.children()
        if child.path not in fields
    }
    if isinstance(tree.value, dict):
        return {name: value for (_, name), value in kept.items()}
    return list(kept.values())


def _below(fields: Fields, path: Path) -> Fields:
    return frozenset(f for f in fields if len(f) > len(path) and f[: len(path)] == path)


def with_parents(fields: Fields) -> Fields:
    """Return `fields` and the named fields they are in (EnsureNamedFieldsAreMembers)."""
    parents = {f[:n] for f in fields for n in range(1, len(f)) if f[n - 1][0] == "f"}
    return fields | parents


def prune(merged: Tree, managed: Iterable[Fields], last: Fields) -> Any:
    """Return `merged` without what only its applier owned and no longer wants."""
    if not last:
        return merged.value

    def tree(value: Any) -> Tree:
        return Tree(value, merged.shape)

    all_fields = with_parents(merged.fields())
    pruned = tree(remove(merged, with_parents(last)))
    owned = frozenset().union(*map(with_parents, managed))
    pruned = tree(remove(merged, all_fields - (with_parents(pruned.fields()) | owned)))
    return remove(merged, (all_fields - with_parents(pruned.fields())) & with_parents(last))


def in_order(fields: Fields) -> list[Path]:
    """Return `fields` as the server goes through them: on each level first what ends there."""
    return sorted(fields, key=lambda path: [(n < len(path) - 1, e) for n, e in enumerate(path)])


def spelled(path: Path) -> str:
    """Return `path` as the API server spells it in a conflict."""
    words = []
    for mark, name in path:
        if mark == "f":
            words.append(f".{name}")
        elif mark == "k":
            keys = json.loads(name).items()
            words.append("[" + ",".join(f"{k}={json.dumps(v)}" for k, v in keys) + "]")
        else:
            words.append(f"[={name}]")
    return "".join(words)


def encode(fields: Fields) -> Object:
    """Return `fields` as managedFields has them (FieldsV1)."""
    root: Object = {}
    for path in sorted(fields):
        at = root
        for mark, name in path:
            at = at.setdefault(f"{mark}:{name}", {})
        if any(other != path and other[: len(path)] == path for other in fields):
            at["."] = {}
    return root


def decode(encoded: Mapping[str, Any], path: Path = ()) -> Fields:
    """Return the fields that managedFields has (FieldsV1)."""
    found: set[Path] = {path} if path and (not encoded or "." in encoded) else set()
    for word, below in encoded.items():
        if word != ".":
            mark, _, name = word.partition(":")
            if mark == "k":
                name = json.dumps(json.loads(name), separators=(",", ":"), sort_keys=True)
            found |= decode(below, (*path, (mark, name)))
    return frozenset(found)
