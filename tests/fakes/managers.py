"""The managers of one object: what each owns, and what a write does to that."""

from collections import defaultdict
from dataclasses import dataclass

from shoal.kube.objects import Object

from .fields import (
    Difference,
    Fields,
    Tree,
    compare,
    decode,
    encode,
    in_order,
    merge,
    owned_part,
    prune,
    spelled,
)
from .refusals import Refusal
from .shapes import Shape


@dataclass(frozen=True)
class Manager:
    """One entry of managedFields, by what tells it from the others."""

    name: str
    operation: str  # Apply, Update
    api_version: str
    subresource: str = ""

    def __str__(self) -> str:
        part = f' with subresource "{self.subresource}"' if self.subresource else ""
        using = f" using {self.api_version}" if self.operation == "Update" else ""
        return f'"{self.name}"{part}{using}'


Owners = dict[Manager, Fields]


def owners_of(obj: Object) -> Owners:
    """Read managedFields."""
    return {
        Manager(e["manager"], e["operation"], e["apiVersion"], e.get("subresource", "")): decode(
            e["fieldsV1"]
        )
        for e in obj.get("metadata", {}).get("managedFields", [])
    }


def written(obj: Object, owners: Owners, before: Object | None, now: str) -> Object:
    """Return `obj` with its managedFields; the time of an entry that did not change stays."""
    known = before["metadata"].get("managedFields", []) if before else []
    old = {
        (e["manager"], e["operation"], e["apiVersion"], e.get("subresource", "")): e for e in known
    }
    entries = []
    for manager, fields in owners.items():
        key = (manager.name, manager.operation, manager.api_version, manager.subresource)
        entry = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": manager.api_version,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": encode(fields),
        }
        if manager.subresource:
            entry["subresource"] = manager.subresource
        if key in old and old[key]["fieldsV1"] == entry["fieldsV1"]:
            entry["time"] = old[key]["time"]
        entries.append(entry)
    meta = {**obj["metadata"], "managedFields": entries}
    return {**obj, "metadata": meta}


def _taken(owners: Owners, manager: Manager, change: Difference, *, force: bool) -> Owners:
    """Return the owners after `change` by `manager`: the fields it took are no longer others'."""
    touched = change.modified | change.added
    conflicts = {m: f & touched for m, f in owners.items() if m != manager and f & touched}
    if conflicts and not force:
        raise conflict(conflicts)
    left = {
        m: f if m == manager else f - conflicts.get(m, frozenset()) - change.removed
        for m, f in owners.items()
    }
    return {m: f for m, f in left.items() if f}


def update(before: Object | None, after: Object, manager: Manager, shape: Shape) -> Owners:
    """Return the owners after a plain write (create, replace, patch)."""
    old = Tree(owned_part(before or {}), shape)
    change = compare(old, Tree(owned_part(after), shape))
    owners = _taken(owners_of(before or {}), manager, change, force=True)
    mine = (owners.get(manager, frozenset()) - change.removed) | change.modified | change.added
    owners = {**owners, manager: mine}
    return {m: f for m, f in owners.items() if f}


@dataclass(frozen=True)
class Applied:
    """What an application makes of an object."""

    obj: Object
    owners: Owners


def apply(live: Object, wanted: Object, manager: Manager, shape: Shape, *, force: bool) -> Applied:
    """Return `live` with `wanted` applied; fields that others own are a conflict, or taken."""
    owners = owners_of(live)
    there, tree = Tree(owned_part(live), shape), Tree(owned_part(wanted), shape)
    merged = Tree(merge(there, tree), shape)
    last = owners.get(manager, frozenset())
    owners[manager] = tree.fields()
    result = prune(merged, owners.values(), last)
    owners = _taken(owners, manager, compare(there, Tree(result, shape)), force=force)
    identity = {k: live[k] for k in ("apiVersion", "kind")}
    kept = {k: v for k, v in live["metadata"].items() if k not in there.value.get("metadata", {})}
    meta = {**kept, **result.get("metadata", {})}
    return Applied({**identity, **result, "metadata": meta}, owners)


def conflict(conflicts: Owners) -> Refusal:
    """Return the refusal that names whose fields they are."""
    by_manager: dict[str, list[str]] = defaultdict(list)
    for manager, fields in conflicts.items():
        by_manager[str(manager)] += [spelled(path) for path in in_order(fields)]
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {name}", "field": path}
        for name, paths in sorted(by_manager.items())
        for path in paths
    ]
    count = len(causes)
    parts = [
        f"conflict with {name}: {paths[0]}"
        if len(paths) == 1
        else "\n- ".join([f"conflicts with {name}:", *paths])
        for name, paths in sorted(by_manager.items())
    ]
    message = f"Apply failed with {count} conflict{'s' if count > 1 else ''}: " + "\n".join(parts)
    return Refusal(409, "Conflict", message, causes=tuple(causes))
