"""What the operator may do in Kubernetes: rules of RBAC, out of what the code declares. Pure.

They come in parts, as they are granted in different places: where Slurm clusters are, which may be
all namespaces or some; where the operator itself is; and, for what belongs to no namespace, in the
whole cluster. Whoever looks after some namespaces without webhooks needs no more of the last than
to see nodes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..dialects.nebius import types as nebius
from ..dialects.slinky import types as slinky
from ..kube import kinds
from ..kube.findings import Known
from ..kube.kinds import Kind
from ..kube.objects import Object
from ..runtime.probes import ACCESS_REVIEWS, TOKEN_REVIEWS
from ..runtime.trust import targets
from . import nebius_waker, nebius_webhooks, slinky_waker
from . import webhooks as slinky_webhooks
from .operator import NAME
from .world import READ, READ_TOO

SECRET = "slurm-operator-webhook-ca"  # which `--webhook-secret` names; the chart puts its own in
METRICS = "/metrics"

SEE = ("get", "list", "watch")
# Server-side apply is a patch, and makes what is not there only for whoever may create it.
MAKE = ("create", "patch", "delete")
KINDS = (*slinky.KINDS, *nebius.KINDS)
# Kinds whose objects wait for us when they are deleted: a finalizer is a patch of the object.
HELD = (slinky.CONTROLLER, slinky.NODE_SET, slinky.REST_API, *nebius.KINDS)
MADE = {**slinky_waker.MADE, **nebius_waker.MADE}
# What is written beside what `MADE` says: kind, subresource, verbs.
ALSO: Sequence[tuple[Kind, str, tuple[str, ...]]] = (
    *((kind, "status", ("patch",)) for kind in KINDS),
    # Some clusters (OpenShift's do) let only those block an owner's deletion who may also change
    # its finalizers, and our owner references block it.
    *((kind, "finalizers", ("update",)) for kind in KINDS),
    (kinds.EVENT, "", ("create", "patch")),
    # Workers' claims are made here, and deleted by their owners.
    (kinds.PERSISTENT_VOLUME_CLAIM, "", ("create", "patch")),
    # Workers show the state of their Slurm node.
    (kinds.POD, "status", ("patch",)),
    # A command comes over a web socket, which begins as a GET; from 1.35 on that asks for both.
    (kinds.POD, "exec", ("create", "get")),
)


@dataclass(frozen=True)
class Rule:
    """Verbs that are allowed on resources of one group; on those with certain `names` only."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def write(self) -> Object:
        """Return the rule as the API has it."""
        told: Object = {
            "apiGroups": [self.group],
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        return {**told, "resourceNames": list(self.names)} if self.names else told


def watched() -> list[Rule]:
    """Return what is allowed in the namespaces where Slurm clusters are."""
    return _merged(_on_objects(namespaced=True))


def everywhere() -> list[Rule]:
    """Return what is always allowed on kinds that have no namespace: to see nodes.

    A kind appears here with its row in `world.READ`.
    """
    return _merged(_on_objects(namespaced=False))


def home() -> list[Rule]:
    """Return what is allowed in the operator's own namespace: its Lease and its certificate."""
    lease, secret = kinds.LEASE, kinds.SECRET
    return [
        # What is yet to be made has no name that a rule could tell.
        Rule(lease.group, (lease.plural,), ("create",)),
        Rule(lease.group, (lease.plural,), ("get", "update"), (NAME,)),
        Rule(secret.group, (secret.plural,), ("create",)),
        Rule(secret.group, (secret.plural,), (*SEE, "patch"), (SECRET,)),
    ]


def webhooks() -> list[Rule]:
    """Return what it takes to have the API server trust our webhooks, of these objects alone."""
    named: dict[Kind, list[str]] = {}
    asked = [*slinky_webhooks.table(Known(), bindings=True), *nebius_webhooks.table(Known())]
    for target in targets(NAME, asked):
        named.setdefault(target.kind, []).append(target.name)
    return [
        Rule(kind.group, (kind.plural,), (*SEE, "patch"), tuple(names))
        for kind, names in named.items()
    ]


def binding() -> list[Rule]:
    """Return what the webhook asks for that tells a worker its place: the node it comes to."""
    return [Rule(kinds.NODE.group, (kinds.NODE.plural,), ("get",))]


def metrics() -> list[Rule]:
    """Return what it takes to ask the API server who wants our numbers, and whether they may."""
    asked = (path.split("/") for path in (TOKEN_REVIEWS, ACCESS_REVIEWS))
    return [Rule(group, (plural,), ("create",)) for _, _, group, _, plural in asked]


PARTS: Mapping[str, Callable[[], list[Rule]]] = {
    "watched": watched,
    "everywhere": everywhere,
    "home": home,
    "webhooks": webhooks,
    "binding": binding,
    "metrics": metrics,
}
IN_A_NAMESPACE = ("watched", "home")


def manifests() -> dict[str, Object]:
    """Return a role for each part that allows anything, and one for those who read our numbers."""
    roles = {part: _role(part, [r.write() for r in rules()]) for part, rules in PARTS.items()}
    read = [{"nonResourceURLs": [METRICS], "verbs": ["get"]}]
    roles["metrics-reader"] = _role("metrics-reader", read)
    return {part: role for part, role in roles.items() if role["rules"]}


def _role(part: str, rules: Sequence[Object]) -> Object:
    kind = kinds.ROLE if part in IN_A_NAMESPACE else kinds.CLUSTER_ROLE
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": f"{NAME}-{part}"},
        "rules": rules,
    }


def pairs(*parts: str) -> frozenset[tuple[str, str]]:
    """Return verbs and resources that parts (all by default) allow, as a fake API server has it."""
    rules = (rule for part in parts or PARTS for rule in PARTS[part]())
    return frozenset((v, resource) for r in rules for v in r.verbs for resource in r.resources)


def _on_objects(*, namespaced: bool) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield what is done to objects: group, resource, verbs."""
    made = {kind for several in MADE.values() for kind in several}
    for kind in dict.fromkeys((*KINDS, *READ, *READ_TOO, *made)):
        if kind.namespaced is namespaced:
            held = ("patch",) if kind in HELD else ()
            yield kind.group, kind.plural, (*SEE, *(MAKE if kind in made else held))
    for kind, part, verbs in ALSO:
        if kind.namespaced is namespaced:
            yield kind.group, f"{kind.plural}/{part}" if part else kind.plural, verbs


def _merged(told: Iterable[tuple[str, str, tuple[str, ...]]]) -> list[Rule]:
    """Return one rule for all resources of a group on which the same is allowed."""
    resources: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for group, resource, verbs in told:
        resources.setdefault((group, verbs), []).append(resource)
    return [
        Rule(group, tuple(sorted(names)), verbs)
        for (group, verbs), names in sorted(resources.items())
    ]
