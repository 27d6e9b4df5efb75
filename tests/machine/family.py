"""A toy operator, with all that a real one does: a Parent has a ConfigMap and so many pods.

It holds a Parent until its pods are gone, adopts nothing, and reports how many pods there are.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.apiserver import FakeApi
from fakes.network import Network
from fakes.port import Harness
from fakes.process import Process
from fakes.shapes import Served
from fakes.wire import FakeClient
from shoal.kube import kinds
from shoal.kube.kinds import Kind, Kinds
from shoal.kube.objects import Key, Object, Resource, Slim
from shoal.kubeapi.client import Client, Ref
from shoal.runtime import clock, watches
from shoal.runtime.apply import Applier, Rules, delete
from shoal.runtime.controller import Controller, Done
from shoal.runtime.finalizers import hold, release
from shoal.runtime.process import Setup
from shoal.runtime.status import report
from shoal.runtime.store import Store

PARENT = Kind("example.com", "v1", "Parent", "parents")
HOLD = "example.com/hold"
# What the toy declares, and nothing else: the fake refuses the rest.
RIGHTS = {
    ("list", "parents"), ("watch", "parents"), ("patch", "parents"), ("patch", "parents/status"),
    ("list", "pods"), ("watch", "pods"), ("create", "pods"), ("patch", "pods"), ("delete", "pods"),
    ("list", "configmaps"), ("watch", "configmaps"), ("create", "configmaps"),
    ("patch", "configmaps"), ("delete", "configmaps"),
    ("get", "leases"), ("create", "leases"), ("update", "leases"),
    ("create", "events"), ("patch", "events"),
}  # fmt: skip
RULES = Rules(prune=(kinds.POD, kinds.CONFIG_MAP), post=(kinds.POD,), recreate=(kinds.POD,))


class Spec(Slim, frozen=True, gc=False):
    """What the user wants."""

    replicas: int = 0
    word: str = ""


class Status(Slim, frozen=True, gc=False):
    """What there is."""

    replicas: int = 0


class Parent(Resource, frozen=True, gc=False):
    """What is read of a Parent."""

    spec: Spec = Spec()
    status: Status = Status()


def render(parent: Parent) -> Iterator[Object]:
    """Yield what a Parent has."""
    name, space = parent.key[1], parent.key[0]
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-config", "namespace": space},
        "data": {"word": parent.spec.word or "none"},
    }
    for number in range(parent.spec.replicas):
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-{number}",
                "namespace": space,
                "labels": {"parent": name},
            },
            "spec": {"containers": [{"name": "main", "image": "x"}]},
        }


@dataclass
class Reconciler:
    """One pass: hold, apply, report; or let go."""

    client: Client
    stores: Mapping[Kind, Store[Any]]

    def __post_init__(self) -> None:
        self.applier = Applier(self.client, self.stores, Kinds(PARENT))
        self.parents: Store[Parent] = self.stores[PARENT]

    async def reconcile(self, key: Key) -> Done:
        """Make the world as the Parent wants it."""
        parent = self.parents.get(key)
        if parent is None:
            return Done()
        if parent.deleting:
            return await self.let_go(parent)
        parent = await hold(self.client, self.parents, parent, HOLD)
        outcome = await self.applier.apply(PARENT.identity(parent), render(parent), RULES)
        pods = [o for o in self.stores[kinds.POD].owned_by(parent.metadata.uid) if not o.deleting]
        parent = self.parents.get(key) or parent
        status = {"replicas": len(pods)} if pods else {}
        await report(self.client, self.parents, parent, parent.status, status)
        return Done(1.0 if outcome.refused else None)

    async def let_go(self, parent: Parent) -> Done:
        """End the pods, and then the Parent."""
        if HOLD not in parent.metadata.finalizers:
            return Done()
        pods = self.stores[kinds.POD]
        for pod in pods.owned_by(parent.metadata.uid):
            await delete(self.client, pods, kinds.POD, pod)
        if pods.owned_by(parent.metadata.uid):
            return Done(5.0)
        await release(self.client, self.parents, parent, HOLD)
        return Done()


def controllers(client: Client, stores: Mapping[Kind, Store[Any]]) -> list[Controller]:
    """Return the toy's only controller."""
    rows = (
        watches.main(PARENT),
        watches.owned(kinds.POD, PARENT),
        watches.owned(kinds.CONFIG_MAP, PARENT),
    )
    return [Controller("family", rows, Reconciler(client, stores).reconcile, workers=2)]


def setup(**more: Any) -> Callable[[], Setup]:
    """Return how each process sets itself up: with empty stores."""

    def made() -> Setup:
        stores = (
            Store(PARENT, Parent),
            Store(kinds.POD, Resource),
            Store(kinds.CONFIG_MAP, Resource),
        )
        return Setup(stores, **more)

    return made


QUIET_S = 400.0  # longer than the longest pause between two tries


@dataclass
class World:
    """A cluster in memory, its user, and the toy operator's processes."""

    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.api = FakeApi(custom=[Served(PARENT, scale=True)], allowed=RIGHTS)
        self.network = Network(self.api, seed=self.seed)
        anything = Network(FakeApi(custom=[Served(PARENT)], history=self.api.history))
        self.user = FakeClient(anything, "user")

    def process(self, harness: Harness | None = None) -> Process:
        """Start a process."""
        made = Process(self.network, setup(**self.settings), controllers, harness or Harness())
        return made.start()

    async def parent(self, name: str = "p", **spec: Any) -> Object:
        """Let the user make a Parent."""
        meta = {"name": name, "namespace": "default"}
        obj = {"apiVersion": PARENT.api_version, "kind": "Parent", "metadata": meta, "spec": spec}
        return await self.user.create(PARENT, obj, dict)

    async def edit(self, name: str = "p", **spec: Any) -> None:
        """Let the user change a Parent."""
        await self.user.patch(Ref(PARENT, "default", name), {"spec": spec}, dict)

    async def remove(self, name: str = "p") -> None:
        """Let the user delete a Parent."""
        await self.user.delete(Ref(PARENT, "default", name), Resource)

    async def settle(self) -> None:
        """Wait until nobody has written anything for a while."""
        seen = -1
        while seen != self.version:
            seen = self.version
            await clock.sleep(QUIET_S)

    @property
    def version(self) -> int:
        """Return how much has been written, but for leases and events, which never end."""
        return sum(
            change.kind in (PARENT, kinds.POD, kinds.CONFIG_MAP) for change in self.api.history.log
        )

    def seen(self) -> dict[str, Object]:
        """Return what there is, without what is different in every run."""
        return {
            f"{kind.kind} {obj['metadata']['name']}": _timeless(obj)
            for kind in (PARENT, kinds.POD, kinds.CONFIG_MAP)
            for obj in self.api.objects(kind)
        }

    def owners(self) -> set[str]:
        """Return the uids that objects belong to and that are not there."""
        there = {obj["metadata"]["uid"] for obj in self.api.objects(PARENT)}
        owned = [*self.api.objects(kinds.POD), *self.api.objects(kinds.CONFIG_MAP)]
        uids = {o["uid"] for obj in owned for o in obj["metadata"].get("ownerReferences", ())}
        return uids - there


def _timeless(obj: Object) -> Object:
    meta = obj["metadata"]
    kept = {k: meta[k] for k in ("name", "labels", "finalizers") if k in meta}
    kept["owners"] = [owner["name"] for owner in meta.get("ownerReferences", ())]
    kept["ending"] = "deletionTimestamp" in meta
    rest = {k: v for k, v in obj.items() if k not in ("metadata", "apiVersion", "kind")}
    return {"metadata": kept, **rest}


Story = Callable[[World], Awaitable[None]]
