"""Disruption budgets: what an eviction asks, and what it is told."""

import math
from collections.abc import Iterable

from shoal.kube.objects import Object

from .refusals import Refusal


def refusal(pod: Object, pods: Iterable[Object], budgets: Iterable[Object]) -> Refusal | None:
    """Return why `pod` may not be evicted; None: it may."""
    if "deletionTimestamp" in pod["metadata"] or not _counts(pod):
        return None
    mine = [budget for budget in budgets if _selects(budget, pod)]
    if len(mine) > 1:
        message = "This pod has more than one PodDisruptionBudget, which the eviction subresource"
        return Refusal(500, "InternalError", f"{message} does not support.")
    for budget in mine:
        there = [
            p for p in pods if _selects(budget, p) and "deletionTimestamp" not in p["metadata"]
        ]
        healthy, needed = sum(map(_healthy, there)), _needed(budget["spec"], len(there))
        if _healthy(pod) and healthy - 1 < needed:
            return _too_many(budget, healthy, needed)
    return None


def _too_many(budget: Object, healthy: int, needed: int) -> Refusal:
    name = budget["metadata"]["name"]
    words = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    return Refusal(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        causes=({"reason": "DisruptionBudget", "message": words},),
    )


def _selects(budget: Object, pod: Object) -> bool:
    wanted = (budget["spec"].get("selector") or {}).get("matchLabels") or {}
    return wanted.items() <= (pod["metadata"].get("labels") or {}).items()


def _counts(pod: Object) -> bool:
    """Say whether a pod is of any use: one that has not begun or has ended may always go."""
    return pod.get("status", {}).get("phase", "Pending") not in ("Pending", "Succeeded", "Failed")


def _healthy(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _needed(spec: Object, expected: int) -> int:
    if "minAvailable" in spec:
        return _share(spec["minAvailable"], expected)
    return max(expected - _share(spec.get("maxUnavailable", 1), expected), 0)


def _share(value: int | str, of: int) -> int:
    if isinstance(value, int):
        return value
    return math.ceil(of * int(value.removesuffix("%")) / 100)
