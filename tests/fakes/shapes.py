"""How the API server sees a kind: its subresources, what it counts, how its lists merge.

Lists are atomic unless they are named here; maps are merged key by key unless they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.kube import kinds
from shoal.kube.kinds import Kind

Keys = Mapping[str, object]  # the fields that tell items apart, and what they are when left out

NAME: Keys = {"name": None}
KEYED: Mapping[str, Keys] = {
    "containers": NAME,
    "initContainers": NAME,
    "ephemeralContainers": NAME,
    "containers.ports": {"containerPort": None, "protocol": "TCP"},
    "initContainers.ports": {"containerPort": None, "protocol": "TCP"},
    "spec.ports": {"port": None, "protocol": "TCP"},
    "env": NAME,
    "volumeMounts": {"mountPath": None},
    "volumeDevices": {"devicePath": None},
    "volumes": NAME,
    "imagePullSecrets": NAME,
    "hostAliases": {"ip": None},
    "topologySpreadConstraints": {"topologyKey": None, "whenUnsatisfiable": None},
    "schedulingGates": NAME,
    "conditions": {"type": None},
    "podIPs": {"ip": None},
    "secrets": NAME,
}
META: Mapping[str, Keys] = {"metadata.ownerReferences": {"uid": None}}
SETS = frozenset({"metadata.finalizers"})
WHOLE = frozenset(
    {
        "selector",
        "labelSelector",
        "namespaceSelector",
        "nodeSelector",
        "configMapKeyRef",
        "secretKeyRef",
        "fieldRef",
        "resourceFieldRef",
        "metadata.ownerReferences",  # its items
    }
)


@dataclass(frozen=True)
class Shape:
    """How the lists and maps of a kind merge; a name counts anywhere, or below a certain parent."""

    keyed: Mapping[str, Keys] = field(default_factory=dict)
    sets: frozenset[str] = SETS
    whole: frozenset[str] = frozenset({"metadata.ownerReferences"})

    def keys(self, place: tuple[str, ...]) -> Keys | None:
        """Return what tells the items of the list at `place` apart, None when it is atomic."""
        for name in _names(place):
            if name in self.keyed:
                return self.keyed[name]
            if name in META:
                return META[name]
        return None

    def is_set(self, place: tuple[str, ...]) -> bool:
        """Say whether the list at `place` is a set of its values."""
        return any(name in self.sets for name in _names(place))

    def is_whole(self, place: tuple[str, ...]) -> bool:
        """Say whether the map at `place`, or each item of that list, is one value."""
        return any(name in self.whole for name in _names(place))


def _names(place: tuple[str, ...]) -> tuple[str, ...]:
    return (".".join(place[-2:]), place[-1]) if place else ()


BUILT_IN = Shape(KEYED, SETS, WHOLE)


@dataclass(frozen=True)
class Served:
    """A kind, and how it is served. What is said here of a custom kind its definition says."""

    kind: Kind
    status: bool = True  # the status is a subresource
    scale: bool = False
    generation: bool = True  # counts changes of the spec
    custom: bool = True
    shape: Shape = field(default_factory=Shape)
    answers_whole: bool = False  # the answer to a deletion is the object even when it is gone
    unconditional: bool = False  # a replacement need not say which version it replaces
    fields: tuple[str, ...] = ("metadata.name", "metadata.namespace")  # that can be selected by

    @property
    def resource(self) -> str:
        """Return the name of the kind in messages."""
        return f"{self.kind.plural}.{self.kind.group}" if self.kind.group else self.kind.plural

    @property
    def kind_name(self) -> str:
        """Return the other name of the kind in messages."""
        return f"{self.kind.kind}.{self.kind.group}" if self.kind.group else self.kind.kind


_SCALED = {kinds.STATEFUL_SET, kinds.DEPLOYMENT}
_STATUS = {
    kinds.POD, kinds.SERVICE, kinds.PERSISTENT_VOLUME_CLAIM, kinds.NODE, kinds.NAMESPACE,
    kinds.STATEFUL_SET, kinds.DEPLOYMENT, kinds.DAEMON_SET, kinds.JOB, kinds.CRON_JOB,
    kinds.POD_DISRUPTION_BUDGET, kinds.CUSTOM_RESOURCE_DEFINITION,
}  # fmt: skip
_COUNTED = {
    kinds.POD, kinds.STATEFUL_SET, kinds.DEPLOYMENT, kinds.DAEMON_SET, kinds.JOB, kinds.CRON_JOB,
    kinds.POD_DISRUPTION_BUDGET, kinds.CUSTOM_RESOURCE_DEFINITION, kinds.ENDPOINT_SLICE,
    kinds.VALIDATING_WEBHOOK, kinds.MUTATING_WEBHOOK,
}  # fmt: skip
_WHOLE_ANSWERS = {
    kinds.POD, kinds.SERVICE, kinds.SERVICE_ACCOUNT, kinds.PERSISTENT_VOLUME_CLAIM, kinds.JOB,
}  # fmt: skip
_POD_FIELDS = (
    "metadata.name", "metadata.namespace", "spec.nodeName", "spec.restartPolicy",
    "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP",
)  # fmt: skip


def built_in() -> list[Served]:
    """Return Kubernetes' own kinds."""
    found = kinds.KUBERNETES_OWN
    return [
        Served(
            kind,
            status=kind in _STATUS,
            scale=kind in _SCALED,
            generation=kind in _COUNTED,
            custom=False,
            shape=BUILT_IN,
            answers_whole=kind in _WHOLE_ANSWERS,
            unconditional=kind is not kinds.LEASE,
            fields=_POD_FIELDS if kind is kinds.POD else Served.fields,
        )
        for kind in found
    ]
