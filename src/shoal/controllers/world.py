"""What the reconcilers see of Kubernetes: one table of stores, and what is looked up in them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from ..dialects.nebius import naming as nebius
from ..kube import kinds
from ..kube.data import ConfigMap, Secret
from ..kube.jobs import Job
from ..kube.kinds import Kind
from ..kube.nodes import Node
from ..kube.objects import Key, Object, Resource
from ..kube.pods import Pod
from ..kube.revisions import ControllerRevision
from ..kube.workloads import Workload
from ..model.observed import Found
from ..model.part import Part
from ..runtime.store import Store

R = TypeVar("R", bound=Resource)

# What is read of Kubernetes' own kinds; of the others only that they are there, and whose.
READ: Mapping[Kind, type[Resource]] = {
    kinds.POD: Pod,
    kinds.NODE: Node,
    kinds.SECRET: Secret,
    kinds.CONFIG_MAP: ConfigMap,
    kinds.STATEFUL_SET: Workload,
    kinds.DEPLOYMENT: Workload,
    kinds.SERVICE: Resource,
    kinds.POD_DISRUPTION_BUDGET: Resource,
    kinds.PERSISTENT_VOLUME_CLAIM: Resource,
    kinds.CONTROLLER_REVISION: ControllerRevision,
    kinds.SERVICE_MONITOR: Resource,
}
# What is read beside that where pods of a cluster share a root.
READ_TOO: Mapping[Kind, type[Resource]] = {
    kinds.JOB: Job,
    kinds.DAEMON_SET: Resource,
    kinds.POD_MONITOR: Resource,
    kinds.MARIADB: Resource,
    kinds.GRANT: Resource,
    kinds.APP_ARMOR_PROFILE: Resource,
    kinds.SERVICE_ACCOUNT: Resource,
    kinds.ROLE: Resource,
    kinds.ROLE_BINDING: Resource,
}
IN_BRIEF = frozenset(kind for kind, type_ in READ.items() if type_ is Resource)
TOO_IN_BRIEF = frozenset(kind for kind, type_ in READ_TOO.items() if type_ is Resource)
# Of somebody else, who may not be there.
OPTIONAL = frozenset(kinds.SOMEBODY_ELSES)
# Other workloads have revisions too, each with a whole pod in it; and other people have Jobs.
LABELS = {
    kinds.CONTROLLER_REVISION: f"{nebius.NAME} in (slurmd,{nebius.APP})",
    kinds.JOB: f"{nebius.NAME}={nebius.APP}",
}
REFERENCES = "references"
PART = "part"
HOST = "host"
# By so many of these dialects tell the pods of their parts apart, and the NodeSets of a part.
PART_LABELS = (nebius.NAME, nebius.INSTANCE, nebius.COMPONENT, nebius.NODESET)
FEWEST = 2


def stores(
    own: Mapping[Kind, type[Resource]],
    references: Callable[[Any], Iterable[str]],
    read: Mapping[Kind, type[Resource]] = READ,
) -> dict[Kind, Store[Any]]:
    """Return a store for each kind: of a dialect's `own`, and of those of others in `read`.

    `references` names what an object of the dialect refers to.
    """
    made = {kind: Store(kind, type_) for kind, type_ in read.items() if kind != kinds.POD}
    claim = kinds.PERSISTENT_VOLUME_CLAIM
    made[claim] = Store(claim, READ[claim], {PART: _parts})
    made[kinds.POD] = Store(kinds.POD, Pod, {PART: _parts, HOST: _hosts})
    return {**made, **{k: Store(k, type_, {REFERENCES: references}) for k, type_ in own.items()}}


def _parts(pod: Resource) -> Iterable[str]:
    labels = pod.metadata.labels
    told = [labels.get(label, "") for label in PART_LABELS]
    # Under all parts that it may be of: one of two labels, or one of three.
    known = [number for number, word in enumerate(told, 1) if word or number == FEWEST]
    return [
        "/".join((pod.metadata.namespace, *told[:number])) for number in known if number >= FEWEST
    ]


def _hosts(pod: Any) -> Iterable[str]:  # noqa: ANN401 - the store's, which holds Pods
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _part(namespace: str, selector: Mapping[str, str]) -> str:
    told = [selector.get(label, "") for label in PART_LABELS]
    while len(told) > FEWEST and not told[-1]:
        told.pop()
    return "/".join((namespace, *told))


@dataclass(frozen=True)
class World:
    """The stores, and how one looks things up in them."""

    stores: Mapping[Kind, Store[Any]]

    def get(self, kind: Kind, key: Key) -> Any:  # noqa: ANN401 - a Resource of that kind's type
        """Return one object, or None."""
        return self.stores[kind].get(key)

    def every(self, kind: Kind, namespace: str) -> list[Any]:
        """Return all objects of a kind in a namespace, by name."""
        found = (obj for obj in self.stores[kind] if obj.metadata.namespace == namespace)
        return sorted(found, key=lambda obj: str(obj.metadata.name))

    def found(self, namespace: str) -> Found:
        """Return what the namespace's ConfigMaps and Secrets hold, read when it is asked for."""
        return Found(
            _Data(self.stores[kinds.CONFIG_MAP], namespace),
            _Data(self.stores[kinds.SECRET], namespace),
        )

    def workload(self, kind: Kind, key: Key) -> Workload | None:
        """Return a StatefulSet or a Deployment."""
        found: Workload | None = self.stores[kind].get(key)
        return found

    def pods(self, part: Part) -> tuple[Pod, ...]:
        """Return the pods of a part, by name."""
        pods: list[Pod] = self.stores[kinds.POD].by(PART, _part(part.namespace, part.selector))
        return tuple(sorted(pods, key=attrgetter("metadata.name")))

    def claims(self, part: Part) -> Mapping[str, Object]:
        """Return the metadata of a part's claims, by name."""
        store = self.stores[kinds.PERSISTENT_VOLUME_CLAIM]
        found = store.by(PART, _part(part.namespace, part.selector))
        return {claim.metadata.name: msgspec.to_builtins(claim) for claim in found}

    def nodes(self) -> Mapping[str, Node]:
        """Return Kubernetes' nodes by name."""
        return {node.metadata.name: node for node in self.stores[kinds.NODE]}

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node."""
        found: list[Pod] = self.stores[kinds.POD].by(HOST, node)
        return found

    def users(self, of: Kind, namespace: str, name: str, by: Kind) -> list[Any]:
        """Return the objects of kind `by` that refer to one of kind `of`."""
        return self.stores[by].by(REFERENCES, f"{namespace}/{of.kind}/{name}")


class _Data(Mapping[str, Mapping[str, bytes]]):
    """The data of a namespace's objects by name; nothing is decoded that nobody asks for."""

    def __init__(self, store: Store[Any], namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def __getitem__(self, name: str) -> Mapping[str, bytes]:
        found: ConfigMap | Secret | None = self._store.get((self._namespace, name))
        if found is None or found.deleting:
            raise KeyError(name)
        return found.files

    def __iter__(self) -> Iterator[str]:
        return (o.metadata.name for o in self._store if o.metadata.namespace == self._namespace)

    def __len__(self) -> int:
        return sum(1 for _ in self)
