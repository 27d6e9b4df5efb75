"""A toy operator on the real API server: a Parent has as many ConfigMaps as it says."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from shoal.kube.kinds import CONFIG_MAP, Kind, Kinds
from shoal.kube.objects import Key, Object, Resource, Slim
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client
from shoal.runtime import watches
from shoal.runtime.apply import Applier, Rules
from shoal.runtime.controller import Controller, Done
from shoal.runtime.port import Effect, Fence, Fenced, Port
from shoal.runtime.process import Process, Setup
from shoal.runtime.store import Store

from .apis import PARENT


class Spec(Slim, frozen=True, gc=False):
    """What the user wants."""

    replicas: int = 0
    word: str = "none"


class Parent(Resource, frozen=True, gc=False):
    """What is read of a Parent."""

    spec: Spec = Spec()


def parent(name: str, namespace: str, **spec: Any) -> Object:
    """Make a Parent."""
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": PARENT.api_version, "kind": "Parent", "metadata": meta, "spec": spec}


def names(owner: str, replicas: int) -> set[str]:
    """Return the names of the ConfigMaps that a Parent has."""
    return {f"{owner}-{number}" for number in range(replicas)}


def render(found: Parent) -> Iterator[Object]:
    """Yield what a Parent has."""
    for number in range(found.spec.replicas):
        meta = {
            "name": f"{found.metadata.name}-{number}",
            "namespace": found.metadata.namespace,
            "labels": {"parent": found.metadata.name},
        }
        data = {"word": found.spec.word}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


class Noted:
    """The real port, and what passed through it."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    def __call__(self, fence: Fence) -> Port:
        """Return the port of a process."""
        inner = Fenced(fence)

        async def carry_out(name: str, effect: Effect) -> Any:
            self.effects.append(name)
            return await inner(name, effect)

        return carry_out


@asynccontextmanager
async def operating(access: Access, namespace: str) -> AsyncIterator[Noted]:
    """Run the operator until the block ends; give what it does."""

    def controllers(client: Client, stores: Mapping[Kind, Store[Any]]) -> list[Controller]:
        applier = Applier(client, stores, Kinds(PARENT))

        async def reconcile(key: Key) -> Done:
            found = stores[PARENT].get(key)
            if found is not None and not found.deleting:
                rules = Rules(prune=(CONFIG_MAP,))
                await applier.apply(PARENT.identity(found), render(found), rules)
            return Done()

        rows = (watches.main(PARENT), watches.owned(CONFIG_MAP, by=PARENT))
        return [Controller("fleet", rows, reconcile, workers=4)]

    noted = Noted()
    stores = (Store(PARENT, Parent), Store(CONFIG_MAP, Resource))
    process = Process(access, Setup(stores, (namespace,)), controllers, port=noted)
    running = asyncio.create_task(process.run())
    try:
        yield noted
    finally:
        process.stop()
        assert await running
