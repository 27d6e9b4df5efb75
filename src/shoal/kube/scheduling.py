"""Whether a pod may come to a node, and whether it may stay there. Pure.

Only what a node says of itself counts: its name, labels, taints, and whether it is cordoned. What
is free on it, and which pods it has, is left to Kubernetes' scheduler.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .nodes import Node, Taint
from .objects import Object

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
# Taints under this prefix follow a node's conditions, and come and go with them.
_PASSING = "node.kubernetes.io/"
# By these Kubernetes says that it does not hear of a node. It does not say what still runs there.
_SILENT = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_AWAY = frozenset({"NoSchedule", "NoExecute"})
_OUT = frozenset({"NoExecute"})
_MISMATCH = "its node does not match its node selector or node affinity"

Check = Callable[[str | None, frozenset[str]], bool]  # of a label's value, and those asked for


def _number(text: str | None) -> int | None:
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _compared(told: str | None, values: frozenset[str], sign: int) -> bool:
    mine, other = _number(told), _number(next(iter(values), None))
    return mine is not None and other is not None and (mine - other) * sign > 0


# As k8s.io/component-helpers reads them; what is not here is met by no node.
_OPERATORS: Mapping[str, Check] = {
    "In": lambda told, values: told in values,
    "NotIn": lambda told, values: told not in values,
    "Exists": lambda told, _: told is not None,
    "DoesNotExist": lambda told, _: told is None,
    "Gt": lambda told, values: _compared(told, values, 1),
    "Lt": lambda told, values: _compared(told, values, -1),
}


Requirement = tuple[str, Check, frozenset[str]]  # the key of a label or a field, and what of it


def _all_met(requirements: tuple[Requirement, ...], told: Mapping[str, str]) -> bool:
    # Thousands of nodes come by here in a pass; a generator would take twice as long.
    for key, check, values in requirements:  # noqa: SIM110
        if not check(told.get(key), values):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Term:
    """Demands that are all to be met."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def met_by(self, node: Node) -> bool:
        """Say whether a node meets them; a term without any is met by none."""
        if not self.labels and not self.fields:
            return False
        meta = node.metadata
        return _all_met(self.labels, meta.labels) and (
            not self.fields or _all_met(self.fields, {"metadata.name": meta.name})
        )


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint, or several, that a pod does not mind."""

    key: str  # empty: every one
    exists: bool  # whatever its value is
    value: str
    effect: str  # empty: every one

    def covers(self, taint: Taint) -> bool:
        """Say whether it is about that taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key != taint.key and (self.key or not self.exists):
            return False
        return self.exists or self.value == taint.value


@dataclass(frozen=True)
class Demands:
    """What a pod asks of its node. Each answer is why not; empty: nothing speaks against it."""

    name: str = ""  # of the only node that will do
    selector: tuple[Requirement, ...] = ()
    terms: tuple[Term, ...] | None = None  # one of them has to be met; None: there are none
    tolerations: tuple[Toleration, ...] = ()

    def refused(self, node: Node) -> str:
        """Say why a new pod may not come to a node now."""
        if not self._matches(node):
            return _MISMATCH
        if node.spec.unschedulable and not self._tolerates(CORDON):
            return "its node is cordoned"
        return self._tainted(node, _AWAY)

    def expelled(self, node: Node) -> str:
        """Say why a pod that runs on a node may not stay; that the node is silent is no reason."""
        if not self._matches(node):
            return _MISMATCH
        return self._tainted(node, _OUT, lambda key: key in _SILENT)

    def unfit(self, node: Node) -> str:
        """Say why a node will not do, whatever its conditions, and were it not cordoned."""
        if not self._matches(node):
            return _MISMATCH
        return self._tainted(node, _AWAY, lambda key: key.startswith(_PASSING))

    def _matches(self, node: Node) -> bool:
        if self.name and self.name != node.metadata.name:
            return False
        if not _all_met(self.selector, node.metadata.labels):
            return False
        return self.terms is None or any(term.met_by(node) for term in self.terms)

    def _tainted(
        self, node: Node, effects: frozenset[str], spared: Callable[[str], bool] | None = None
    ) -> str:
        for taint in node.spec.taints:
            if taint.effect not in effects or (spared is not None and spared(taint.key)):
                continue
            if not self._tolerates(taint):
                return f"its node has a taint that it does not tolerate: {taint.key}:{taint.effect}"
        return ""

    def _tolerates(self, taint: Taint) -> bool:
        return any(toleration.covers(taint) for toleration in self.tolerations)


def demands(spec: Object, more: Iterable[Object] = ()) -> Demands:
    """Understand a pod's spec, once for many nodes; `more` are tolerations that it will get too."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    tolerations = [*(spec.get("tolerations") or ()), *more]
    return Demands(
        spec.get("nodeName") or "",
        tuple((key, _OPERATORS["In"], frozenset({value})) for key, value in selector.items()),
        None if required is None else _terms(required.get("nodeSelectorTerms") or ()),
        tuple(one for told in tolerations if (one := _toleration(told)) is not None),
    )


def _terms(told: Iterable[Object]) -> tuple[Term, ...]:
    return tuple(
        Term(_requirements(term, "matchExpressions"), _requirements(term, "matchFields"))
        for term in told
    )


def _requirements(term: Object, field: str) -> tuple[Requirement, ...]:
    return tuple(
        (
            one.get("key") or "",
            _OPERATORS.get(one.get("operator") or "", _never),
            frozenset(one.get("values") or ()),
        )
        for one in term.get(field) or ()
    )


def _never(_: str | None, __: frozenset[str]) -> bool:
    return False


def _toleration(told: Object) -> Toleration | None:
    operator = told.get("operator") or "Equal"
    if operator not in ("Equal", "Exists"):
        return None
    key, value, effect = (told.get(name) or "" for name in ("key", "value", "effect"))
    return Toleration(key, operator == "Exists", value, effect)
