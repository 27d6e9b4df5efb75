"""What the API server checks of Kubernetes' own kinds when they change, as far as we rely on it."""

from collections.abc import Callable

from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object

from .refusals import Refusal, invalid
from .shapes import Served

Rule = Callable[[Served, Object, Object], Refusal | None]

_POD_MAY = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)
_SET_MAY = ("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy", "minReadySeconds")  # fmt: skip


def _name(obj: Object) -> str:
    name: str = obj["metadata"]["name"]
    return name


def _pod(served: Served, before: Object, after: Object) -> Refusal | None:
    def fixed(obj: Object) -> Object:
        spec = {k: v for k, v in obj.get("spec", {}).items()
                if k not in ("activeDeadlineSeconds", "tolerations")}  # fmt: skip
        for lists in ("containers", "initContainers"):
            if lists in spec:
                spec[lists] = [{**c, "image": ""} for c in spec[lists]]
        return spec

    if fixed(before) == fixed(after):
        return None
    return invalid(served, _name(after), "spec", _POD_MAY)


def _stateful_set(served: Served, before: Object, after: Object) -> Refusal | None:
    def fixed(obj: Object) -> Object:
        return {k: v for k, v in obj.get("spec", {}).items() if k not in _SET_MAY}

    if fixed(before) == fixed(after):
        return None
    *first, last = (f"'{name}'" for name in _SET_MAY)
    return invalid(
        served,
        _name(after),
        "spec",
        "Forbidden: updates to statefulset spec for fields other than "
        f"{', '.join(first)} and {last} are forbidden",
    )


def _immutable(*path: str) -> Rule:
    def rule(served: Served, before: Object, after: Object) -> Refusal | None:
        old, new = before, after
        for name in path:
            old, new = (old or {}).get(name), (new or {}).get(name)
        if old == new:
            return None
        message = f"Invalid value: {new!r}: field is immutable"
        return invalid(served, _name(after), ".".join(path), message)

    return rule


def _frozen(served: Served, before: Object, after: Object) -> Refusal | None:
    if not before.get("immutable"):
        return None
    for name in ("data", "binaryData", "stringData", "immutable"):
        if before.get(name) != after.get(name):
            message = "Forbidden: field is immutable when `immutable` is set"
            return invalid(served, _name(after), name, message)
    return None


def _cluster_ip(served: Served, before: Object, after: Object) -> Refusal | None:
    old, new = (obj.get("spec", {}).get("clusterIP") for obj in (before, after))
    if old in (None, new):
        return None
    message = f"Invalid value: {[new]!r}: may not change once set"
    return invalid(served, _name(after), "spec.clusterIPs[0]", message)


RULES: dict[Kind, tuple[Rule, ...]] = {
    kinds.POD: (_pod,),
    kinds.STATEFUL_SET: (_stateful_set,),
    kinds.DEPLOYMENT: (_immutable("spec", "selector"),),
    kinds.DAEMON_SET: (_immutable("spec", "selector"),),
    kinds.JOB: (_immutable("spec", "template"), _immutable("spec", "completions")),
    kinds.SERVICE: (_cluster_ip,),
    kinds.SECRET: (_frozen, _immutable("type")),
    kinds.CONFIG_MAP: (_frozen,),
    kinds.CONTROLLER_REVISION: (_immutable("data"),),
}


def check(served: Served, before: Object, after: Object) -> None:
    """Refuse a change that the kind does not allow."""
    for rule in RULES.get(served.kind, ()):
        if refused := rule(served, before, after):
            raise refused
    if "deletionTimestamp" in before["metadata"]:
        old, new = (set(o["metadata"].get("finalizers") or ()) for o in (before, after))
        if more := sorted(new - old):
            message = (
                "Forbidden: no new finalizers can be added if the object is being deleted, "
                f"found new finalizers {more}"
            )
            raise invalid(served, _name(after), "metadata.finalizers", message)
