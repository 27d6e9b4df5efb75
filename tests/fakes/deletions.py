"""How an object ends: at once, when its finalizers are gone, or when its pod's containers are."""

from collections.abc import Callable
from dataclasses import dataclass

from shoal.kube import kinds
from shoal.kube.objects import Object

from . import refusals
from .shapes import Served

GRACE_S = 30


@dataclass(frozen=True)
class Options:
    """How a deletion is meant."""

    uid: str = ""
    version: str = ""
    grace_s: int | None = None

    @classmethod
    def read(cls, body: Object | None) -> "Options":
        """Understand DeleteOptions."""
        said = body or {}
        if said.get("propagationPolicy", "Background") != "Background":
            raise NotImplementedError("the fake only collects in the background")
        seen = said.get("preconditions") or {}
        return cls(
            seen.get("uid", ""), seen.get("resourceVersion", ""), said.get("gracePeriodSeconds")
        )

    def check(self, served: Served, obj: Object) -> None:
        """Refuse to delete what was not meant."""
        meta = obj["metadata"]
        for what, wanted, found in (
            ("UID", self.uid, meta["uid"]),
            ("ResourceVersion", self.version, meta["resourceVersion"]),
        ):
            if wanted and wanted != found:
                raise refusals.precondition(served, meta["name"], what, wanted, found)


def begun(served: Served, obj: Object, options: Options, now: Callable[[float], str]) -> Object:
    """Return `obj` with the marks of its end."""
    meta = obj["metadata"]
    grace_s = _grace_s(obj, options) if served.kind is kinds.POD else 0
    if "deletionTimestamp" in meta:
        grace_s = min(grace_s, meta["deletionGracePeriodSeconds"])
        if grace_s == meta["deletionGracePeriodSeconds"]:
            return obj
        bump = 0
    else:
        bump = 1 if served.generation else 0
    marks = {"deletionTimestamp": now(grace_s), "deletionGracePeriodSeconds": grace_s}
    if bump:
        marks["generation"] = meta["generation"] + bump
    return {**obj, "metadata": {**meta, **marks}}


def _grace_s(pod: Object, options: Options) -> int:
    """Return the seconds a pod has left: none where no kubelet runs it, or it ran to its end."""
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    if ended or not pod["spec"].get("nodeName"):
        return 0
    if options.grace_s is not None:
        return options.grace_s
    grace_s: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_S)
    return grace_s


def over(obj: Object) -> bool:
    """Say whether nothing keeps the object any longer."""
    meta = obj["metadata"]
    waits = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
    return "deletionTimestamp" in meta and not waits


def answer(served: Served, ended: Object) -> Object:
    """Return what the one who deleted an object is told when it is gone."""
    meta = ended["metadata"]
    if not served.answers_whole:
        details = {"name": meta["name"], "kind": served.kind.plural, "uid": meta["uid"]}
        if served.kind.group:
            details["group"] = served.kind.group
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
    if served.kind is kinds.POD:
        return ended
    marks = ("deletionTimestamp", "deletionGracePeriodSeconds")
    return {**ended, "metadata": {k: v for k, v in meta.items() if k not in marks}}
