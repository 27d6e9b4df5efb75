"""Many objects, and parts of one: pages of a list, metadata only, the scale, the status."""

import json
import random
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from shoal.kube import kinds
from shoal.kube.objects import Key, Object

from . import refusals, selectors
from .history import History
from .selectors import Test
from .shapes import Served

_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter."
)


class Asked(Protocol):
    """What of a request matters here."""

    served: Served
    key: Key
    part: str
    query: Mapping[str, str]
    brief: bool


def selected(call: Asked) -> Test:
    """Return the test that the namespace and the selectors of a request are."""
    labels = selectors.by_labels(call.query.get("labelSelector", ""))
    fields = selectors.by_fields(call.query.get("fieldSelector", ""), call.served)
    space = call.key[0]
    return lambda obj: (
        space in ("", obj["metadata"].get("namespace", "")) and labels(obj) and fields(obj)
    )


@dataclass
class Pages:
    """Lists, some objects at a time, each list as of one moment."""

    history: History
    shuffle: random.Random | None = None  # the order of a list is not a promise
    _left: dict[str, tuple[int, list[Object]]] = field(default_factory=dict)

    def page(self, call: Asked, ago: int = 0) -> Object:
        """Return a page of a list."""
        if token := call.query.get("continue", ""):
            version, objects = self._left.get(token, (0, []))
            if version < self.history.compacted or token not in self._left:
                raise refusals.expired(_OLD)
        else:
            version, test = self.history.version - ago, selected(call)
            there = self.history.all(call.served.kind, ago)
            objects = [obj for _, obj in sorted(there.items()) if test(obj)]
            if self.shuffle:
                self.shuffle.shuffle(objects)
        limit = int(call.query.get("limit", "0")) or len(objects)
        meta: Object = {"resourceVersion": str(version)}
        if rest := objects[limit:]:
            token = json.dumps([version, len(self._left)])
            self._left[token] = (version, rest)
            meta |= {"continue": token, "remainingItemCount": len(rest)}
        return self._list(call, objects[:limit], meta)

    def _list(self, call: Asked, objects: list[Object], meta: Object) -> Object:
        kind, version = f"{call.served.kind.kind}List", call.served.kind.api_version
        if call.brief:
            kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
            found = [brief(obj) for obj in objects] or None
            return {"kind": kind, "apiVersion": version, "metadata": meta, "items": found}
        if not call.served.custom:
            objects = [
                {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")} for obj in objects
            ]
        return {"kind": kind, "apiVersion": version, "metadata": meta, "items": objects}


def brief(obj: Object) -> Object:
    """Return the metadata-only form of an object."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


def spec(served: Served, obj: Object) -> Object:
    """Return the part whose changes are counted: all that is neither metadata nor status."""
    apart = {"metadata", "managedFields"} | ({"status"} if served.status else set())
    return {key: value for key, value in obj.items() if key not in apart}


def scale(obj: Object) -> Object:
    """Return an object's scale."""
    meta = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Object = {"replicas": obj.get("status", {}).get("replicas", 0)}
    if words := obj.get("status", {}).get("selector"):
        status["selector"] = words
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: meta[name] for name in kept if name in meta},
        "spec": {"replicas": obj.get("spec", {}).get("replicas", 0)},
        "status": status,
    }


_OMITTED = ("data", "binaryData", "stringData", "immutable", "imagePullSecrets", "secrets")


def normal(served: Served, obj: Object) -> Object:
    """Return `obj` as it is stored: what is empty is left out, a Secret's text is encoded."""
    meta = {k: v for k, v in obj["metadata"].items() if v not in ({}, [], None)}
    kept = {k: v for k, v in obj.items() if served.custom or k not in _OMITTED or v}
    if served.kind is kinds.SECRET and "stringData" in kept:
        text = {k: b64encode(v.encode()).decode() for k, v in kept.pop("stringData").items()}
        kept["data"] = {**kept.get("data", {}), **text}
    return {**kept, "metadata": meta}


def replaced(call: Asked, before: Object, wanted: Object) -> Object:
    """Return `before` with `wanted` in its place, as far as the path of the request reaches."""
    if call.part == "scale":
        asked: Any = wanted.get("spec", {}).get("replicas", 0)
        return {**before, "spec": {**before.get("spec", {}), "replicas": asked}}
    if call.part == "status":
        rest = {key: value for key, value in before.items() if key != "status"}
        return {**rest, "status": wanted["status"]} if "status" in wanted else rest
    kept = (
        "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "name",
        "namespace", "deletionTimestamp", "deletionGracePeriodSeconds",
    )  # fmt: skip
    meta = {k: v for k, v in wanted["metadata"].items() if k not in kept}
    meta |= {k: v for k, v in before["metadata"].items() if k in kept}
    after = {**wanted, "metadata": meta}
    if call.served.status:
        after.pop("status", None)
        if "status" in before:
            after["status"] = before["status"]
    return after
