"""What a user lays over a pod that we make: Kubernetes' strategic merge. Pure.

A map is merged key by key, null deletes a key, and what else the user says wins, also false, 0 and
"". Lists are replaced, but for those in the tables below, which say how theirs and ours become one.
The directives of strategic merge patches are understood: `$patch: replace` and `$patch: delete`.

This departs from Kubernetes where its way would take away what we need: terms of affinity,
tolerations and search domains are added to ours, arguments follow ours, and a handler of a probe
takes the other's place.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .objects import Object


@dataclass(frozen=True)
class Merge:
    """How two maps, or two lists, become one."""

    sort: type[dict[str, Any]] | type[list[Any]]
    merge: Callable[[Any, Any], Any]


Rules = Mapping[str, Merge]
DIRECTIVE = "$patch"
# A digest of these would change whenever somebody applies the same object again.
NEVER_INHERITED = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def merge_container(ours: Object, theirs: Object) -> Object:
    """Return our container as the user wants it; it keeps its name."""
    made = _merged(CONTAINER, copy.deepcopy(ours), theirs)
    return {**made, "name": ours["name"]} if "name" in ours else made


def merge_pod_spec(ours: Object, theirs: Object) -> Object:
    """Return our PodSpec as the user wants it; containers of the same name are merged too."""
    return _merged(POD_SPEC, copy.deepcopy(ours), theirs)


def merge_pod_template(ours: Object, theirs: Object) -> Object:
    """Return our pod template as the user wants it."""
    return _merged(POD_TEMPLATE, copy.deepcopy(ours), theirs)


def merge_objects(ours: Object, theirs: Object) -> Object:
    """Return `ours` with `theirs` on top, where no list has a meaning of its own."""
    return _merged({}, copy.deepcopy(ours), theirs)


def inherited(annotations: Mapping[str, str], *but: str) -> dict[str, str]:
    """Return the annotations that pass from an object to what is made for it."""
    kept_out = NEVER_INHERITED.union(but)
    return {key: value for key, value in annotations.items() if key not in kept_out}


def _merged(rules: Rules, ours: Object, theirs: Object) -> Object:
    directive = theirs.get(DIRECTIVE)
    if directive == "delete":
        return {}
    if directive == "replace":
        return {**_clean(theirs)}
    made = dict(ours)
    for key, value in theirs.items():
        if key.startswith("$"):
            continue
        if value is None or _deletes(value):
            made.pop(key, None)
        else:
            made[key] = _value(rules.get(key), made.get(key), value)
    return made


def _value(merge: Merge | None, ours: Any, theirs: Any) -> Any:  # noqa: ANN401 - any JSON
    """Merge by the rule that fits; what fits none is theirs, for the API server to judge."""
    if merge is not None and isinstance(theirs, merge.sort):
        return merge.merge(ours if isinstance(ours, merge.sort) else merge.sort(), theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return _merged({}, ours, theirs)
    return _clean(theirs)


def _deletes(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, dict) and value.get(DIRECTIVE) == "delete"


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy of what is new, without what only says how to merge it."""
    if isinstance(value, dict):
        return {
            key: _clean(inner)
            for key, inner in value.items()
            if inner is not None and not key.startswith("$") and not _deletes(inner)
        }
    if isinstance(value, list):
        kept = [one for one in value if not _deletes(one) and one != {DIRECTIVE: "replace"}]
        return [_clean(one) for one in kept]
    return value


# -- how maps become one


def _fields(**rules: Merge) -> Merge:
    return Merge(dict, lambda ours, theirs: _merged(rules, ours, theirs))


def _one_of(*keys: str) -> Merge:
    """Only one of `keys` may be there, and it comes whole from the one who says it."""

    def merged(ours: Object, theirs: Object) -> Object:
        said = any(theirs.get(key) is not None for key in keys)
        kept = {k: v for k, v in ours.items() if not (said and k in keys)}
        return _merged({}, kept, theirs)

    return Merge(dict, merged)


def _retained(ours: Object, theirs: Object) -> Object:
    """Merge volumes: another source takes the place of ours, the same one is merged into it."""
    said = {k for k, v in theirs.items() if v is not None and not k.startswith("$")} - {"name"}
    kept = {k: v for k, v in ours.items() if k == "name" or not said or k in said}
    return _merged({}, kept, theirs)


_plain = _fields()
_volume = Merge(dict, _retained)
_handler = _one_of("exec", "grpc", "httpGet", "sleep", "tcpSocket")
_variable = _one_of("value", "valueFrom")


# -- how lists become one


def _list(merge: Callable[[list[Any], list[Any]], list[Any]]) -> Merge:
    """Let `$patch: replace` in a list of theirs take ours away before the two are merged."""

    def directed(ours: list[Any], theirs: list[Any]) -> list[Any]:
        return merge([] if {DIRECTIVE: "replace"} in theirs else ours, theirs)

    return Merge(list, directed)


def _keyed(*keys: str, merge: Merge = _plain, **missing: Any) -> Merge:  # noqa: ANN401 - any JSON
    """Merge items that have the same `keys`; `missing` is what a key that is not there means."""

    def identity(item: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - any JSON
        if not isinstance(item, dict) or keys[0] not in item:
            return None
        # As text: a list or a map is no key of ours, yet must not end in an exception.
        return tuple(repr(item.get(key, missing.get(key))) for key in keys)

    def merged(ours: list[Any], theirs: list[Any]) -> list[Any]:
        made = list(ours)
        for item in theirs:
            same = identity(item)
            at = next((i for i, one in enumerate(made) if same and identity(one) == same), None)
            if _deletes(item):
                made = [one for i, one in enumerate(made) if i != at]
            elif at is not None:
                made[at] = merge.merge(made[at], item)
            else:
                made += _clean([item])
        return made

    return _list(merged)


def _union(ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    made = list(ours)
    for item in _clean(list(theirs)):
        if item not in made:
            made.append(item)
    return made


def _both(ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    return [*ours, *_clean(list(theirs))]


# -- affinity: a pod goes only where both of us want it


def _node_terms(ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Combine each alternative of ours with each of theirs: what both of us allow."""
    wanted = _clean(theirs)
    if not ours or not wanted:
        return ours or wanted
    # A term without expressions matches no node, so no pair of it does.
    pairs = [(a, b) for a, b in product(ours, wanted) if _says(a) and _says(b)]
    return [_all_of(a, b) for a, b in pairs] or [{}]


def _says(term: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(term, dict) and any(term.values())


def _all_of(a: Object, b: Object) -> Object:
    keys = [key for key in ("matchExpressions", "matchFields") if a.get(key) or b.get(key)]
    return {key: _union(a.get(key) or [], b.get(key) or []) for key in keys}


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_added = _list(_union)
_pods = _fields(**{_REQUIRED: _added, _PREFERRED: _added})
_affinity = _fields(
    nodeAffinity=_fields(
        **{_REQUIRED: _fields(nodeSelectorTerms=_list(_node_terms)), _PREFERRED: _added}
    ),
    podAffinity=_pods,
    podAntiAffinity=_pods,
)


# -- the tables; what is not in them is merged where it is a map and replaced where it is not

CONTAINER: Rules = {
    "args": _list(_both),
    "env": _keyed("name", merge=_variable),
    "lifecycle": _fields(postStart=_handler, preStop=_handler),
    "livenessProbe": _handler,
    "ports": _keyed("containerPort", "protocol", protocol="TCP"),
    "readinessProbe": _handler,
    "resources": _fields(claims=_keyed("name")),
    "startupProbe": _handler,
    "volumeDevices": _keyed("devicePath"),
    "volumeMounts": _keyed("mountPath"),
}
POD_SPEC: Rules = {
    "affinity": _affinity,
    "containers": _keyed("name", merge=_fields(**CONTAINER)),
    "dnsConfig": _fields(nameservers=_added, options=_keyed("name"), searches=_added),
    "hostAliases": _keyed("ip"),
    "imagePullSecrets": _keyed("name"),
    "initContainers": _keyed("name", merge=_fields(**CONTAINER)),
    "resourceClaims": _keyed("name"),
    "schedulingGates": _keyed("name"),
    "tolerations": _added,
    "topologySpreadConstraints": _keyed("topologyKey", "whenUnsatisfiable"),
    "volumes": _keyed("name", merge=_volume),
}
POD_TEMPLATE: Rules = {"spec": _fields(**POD_SPEC)}
