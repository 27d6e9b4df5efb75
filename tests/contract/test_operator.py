"""A toy operator on the real API server: killed servers, strangers, and thousands of objects."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shoal.host import processes
from shoal.kube import kinds
from shoal.kube.kinds import CONFIG_MAP
from shoal.kube.objects import Object, Resource, owner_reference
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import ApiError
from shoal.runtime import clock
from shoal.runtime.apply import DIGEST
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store

from .apis import CRD, PARENT
from .fleet import names, operating, parent
from .real import PATIENCE_S, client_in_namespace, eventually, served


class Chronicle:
    """Everything that ever came and went, by name, as told to somebody who only looks."""

    def __init__(self) -> None:
        self.store = Store(CONFIG_MAP, Resource)
        self.store.listen(self._hear)
        self.came: dict[str, list[str]] = {}
        self.went: dict[str, list[str]] = {}

    def _hear(self, before: Resource | None, after: Resource | None) -> None:
        if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
            self.went.setdefault(before.metadata.name, []).append(before.metadata.uid)
        if after is not None and (before is None or after.metadata.uid != before.metadata.uid):
            self.came.setdefault(after.metadata.name, []).append(after.metadata.uid)


@dataclass
class Sea:
    """A namespace with Parents."""

    access: Access
    client: Client
    namespace: str

    async def there(self) -> set[str]:
        """Return the names of the ConfigMaps that belong to Parents."""
        which = Which(CONFIG_MAP, self.namespace, labels="parent", metadata_only=True)
        return {obj.metadata.name for obj in await self.client.every(which, Resource)}

    async def wish(self, name: str, **spec: object) -> Object:
        wish = parent(name, self.namespace, **spec)
        return await self.client.apply(PARENT, wish, dict, force=True)

    def ref(self, name: str) -> Ref:
        return Ref(CONFIG_MAP, self.namespace, name)


@pytest.fixture
async def sea(real: Access) -> AsyncIterator[Sea]:
    async with client_in_namespace(real) as (client, namespace):
        await served(client, CRD)
        yield Sea(real, client, namespace)


def apiserver(cluster: Path) -> int:
    """Return the API server's process."""
    first = json.loads((cluster / "control-plane/process.json").read_text())["pid"]
    found = [processes.find(pid) for pid in processes.children(first)]
    (one,) = [p.pid for p in found if p and processes.name_of(p) == "kube-apiserver"]
    return one


async def killed(cluster: Path, client: Client) -> None:
    """Kill the API server, and wait until the next one serves."""
    pid = apiserver(cluster)
    os.kill(pid, signal.SIGKILL)

    async def serves() -> bool:
        try:
            await client.every(Which(kinds.NAMESPACE), Resource)
        except ApiError:
            return False
        return apiserver(cluster) != pid

    await clock.sleep(0.2)
    await eventually(serves, bool)


async def test_an_api_server_killed_while_hundreds_come_and_go_costs_and_doubles_nothing(
    sea, cluster
):
    chronicle = Chronicle()
    which = Which(CONFIG_MAP, sea.namespace, labels="parent")
    async with Client(sea.access, "test") as client, operating(sea.access, sea.namespace):
        looking = asyncio.create_task(Reflector(chronicle.store, which, lambda: None).run(client))
        for name in "abc":
            await sea.wish(name, replicas=150)
        await eventually(sea.there, lambda found: len(found) > 50)
        await killed(cluster, sea.client)
        full = {name for owner in "abc" for name in names(owner, 150)}
        await eventually(sea.there, lambda found: found == full)

        for name in "abc":
            await sea.wish(name, replicas=20)
        await eventually(sea.there, lambda found: len(found) < 400)
        await killed(cluster, sea.client)
        left = {name for owner in "abc" for name in names(owner, 20)}
        await eventually(sea.there, lambda found: found == left)

        async def told() -> set[str]:
            return {obj.metadata.name for obj in chronicle.store}

        await eventually(told, lambda found: found == left)
        looking.cancel()
        await asyncio.wait([looking])
    assert {name for name, uids in chronicle.came.items() if len(uids) > 1} == set()
    assert set(chronicle.came) == full
    assert {name for name, uids in chronicle.went.items() if len(uids) > 1} == set()
    assert set(chronicle.went) == full - left


def bystanders(sea: Sea, big: Object, other: Object) -> dict[str, Object]:
    """Return objects that look as if they were the big Parent's to prune, and are not."""
    ours, theirs = owner_reference(big), owner_reference(other)
    marked = {DIGEST: "0123456789abcdef"}
    metas: dict[str, Object] = {
        "big-9000": {"ownerReferences": [ours]},
        "big-9001": {"annotations": marked},
        "big-9002": {"annotations": marked, "ownerReferences": [{**ours, "controller": False}]},
        "big-9003": {
            "annotations": marked,
            "ownerReferences": [{**ours, "controller": False}, theirs],
        },
        "big-9004": {"annotations": marked, "labels": {"parent": "big"}},
    }
    return {
        name: {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": sea.namespace, **meta},
        }
        for name, meta in metas.items()
    }


async def everything(sea: Sea) -> set[str]:
    which = Which(CONFIG_MAP, sea.namespace, metadata_only=True)
    return {obj.metadata.name for obj in await sea.client.every(which, Resource)}


@pytest.mark.parametrize("count", [500, pytest.param(5000, marks=pytest.mark.long)])
async def test_thousands_of_objects_are_pruned_exactly_and_nothing_else(sea, count):
    before = await eventually(lambda: everything(sea), bool)  # the cluster's own
    big, _ = await sea.wish("big"), await sea.wish("bigger", replicas=50)
    own = {"name": "other", "namespace": sea.namespace}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": own}
    other = await sea.client.create(CONFIG_MAP, other, dict)
    alike = bystanders(sea, big, other)
    for obj in alike.values():
        await sea.client.create(CONFIG_MAP, obj, dict)
    rest = before | {"other"} | set(alike) | names("bigger", 50)

    async def become(wanted: set[str]) -> None:
        await eventually(
            lambda: everything(sea), lambda found: found == wanted, max(PATIENCE_S, count / 10)
        )

    async with operating(sea.access, sea.namespace) as noted:
        await sea.wish("big", replicas=count)
        await become(rest | names("big", count))
        noted.effects.clear()
        await sea.wish("big", replicas=3)
        await become(rest | names("big", 3))
        assert len(noted.effects) == count - 3
        await sea.wish("big", replicas=0)
        await become(rest)
    assert await everything(sea) == rest
    assert len(noted.effects) == count
