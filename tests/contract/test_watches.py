"""Watches of the real API server that are cut, and histories that are gone: nothing is missed."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref, Which
from shoal.runtime import clock
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store

from .line import Line, line_to
from .real import client_in_namespace, compacted, eventually

WORKERS, EACH, CUTS = 4, 60, 12


class Picture:
    """What a process sees over `line`, and what it was told of."""

    def __init__(self, kind: Kind, namespace: str) -> None:
        self.store = Store(kind, Resource)
        self.ready = asyncio.Event()
        self.reflector = Reflector(self.store, Which(kind, namespace), self.ready.set)
        self.came: list[str] = []
        self.went: list[str] = []
        self.store.listen(self._hear)

    def _hear(self, before: Resource | None, after: Resource | None) -> None:
        if before is None or (after and before.metadata.uid != after.metadata.uid):
            self.came.append(after.metadata.uid)
        if after is None or (before and before.metadata.uid != after.metadata.uid):
            self.went.append(before.metadata.uid)

    @property
    def versions(self) -> dict[str, int]:
        return {obj.metadata.uid: obj.version for obj in self.store}


@asynccontextmanager
async def looking(line: Line, kind: Kind, namespace: str) -> AsyncIterator[Picture]:
    """Give a picture that is kept up to date over `line`."""
    picture = Picture(kind, namespace)
    async with Client(line.access, "test") as client:
        running = asyncio.create_task(picture.reflector.run(client))
        await picture.ready.wait()
        yield picture
        assert not running.done()
        running.cancel()
        await asyncio.wait([running])


async def there(client: Client, kind: Kind, namespace: str) -> dict[str, int]:
    """Return the versions of what the API server has."""
    found = await client.every(Which(kind, namespace), Resource)
    return {obj.metadata.uid: obj.version for obj in found}


def config_map(name: str, namespace: str) -> Object:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"n": "0"}}


async def test_a_watch_that_is_cut_again_and_again_under_load_misses_nothing(real: Access):
    made: set[str] = set()
    deleted: set[str] = set()

    async def write(client: Client, namespace: str, who: int) -> None:
        for number in itertools.count():
            if number >= EACH and line.cuts >= CUTS:
                return
            obj = config_map(f"w{who}-{number}", namespace)
            where = Ref(kinds.CONFIG_MAP, namespace, f"w{who}-{number}")
            uid = (await client.create(kinds.CONFIG_MAP, obj, Resource)).metadata.uid
            made.add(uid)
            await client.patch(where, {"data": {"n": "1"}}, Resource)
            if number % 2:
                await client.delete(where, Resource)
                deleted.add(uid)

    async def cut(line: Line) -> None:
        while True:
            line.tear()
            await clock.sleep(0.03)

    async with client_in_namespace(real) as (client, namespace), line_to(real) as line:
        before = set(await there(client, kinds.CONFIG_MAP, namespace))
        async with looking(line, kinds.CONFIG_MAP, namespace) as picture:
            cutting = asyncio.create_task(cut(line))
            await asyncio.gather(*(write(client, namespace, who) for who in range(WORKERS)))
            cutting.cancel()
            known = await there(client, kinds.CONFIG_MAP, namespace)

            async def seen() -> dict[str, int]:
                return picture.versions

            assert await eventually(seen, lambda found: found == known)
            # Resumed each time where it had been cut, and so also told of what came and went since.
            assert picture.reflector.lists == 1
            assert set(picture.came) - before >= made
            assert set(picture.went) == deleted
            assert len(picture.came) == len(set(picture.came))


def event(name: str, namespace: str) -> Object:
    return {
        "apiVersion": kinds.EVENT.api_version,
        "kind": kinds.EVENT.kind,
        "metadata": {"name": name, "namespace": namespace},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "test",
        "reportingInstance": "test",
        "action": "Test",
        "reason": "Test",
        "regarding": {"kind": "Namespace", "name": namespace, "namespace": namespace},
        "type": "Normal",
    }


async def test_what_was_deleted_while_the_history_went_is_seen_as_deleted(real, cluster):
    # Of events the API server keeps no history of its own: what etcd forgets is gone.
    kind = kinds.EVENT
    async with client_in_namespace(real) as (client, namespace), line_to(real) as line:
        made = {name: await client.create(kind, event(name, namespace), Resource) for name in "abc"}
        async with looking(line, kind, namespace) as picture:
            assert set(picture.came) == {obj.metadata.uid for obj in made.values()}
            line.down = True
            line.cut()
            await client.delete(Ref(kind, namespace, "a"), Resource)
            await client.delete(Ref(kind, namespace, "b"), Resource)
            again = await client.create(kind, event("b", namespace), Resource)
            await client.patch(
                Ref(kind, namespace, "c"), {"metadata": {"labels": {"a": "b"}}}, Resource
            )
            last = await client.create(kind, event("d", namespace), Resource)
            await compacted(cluster, last.metadata.resource_version)
            line.down = False
            known = await there(client, kind, namespace)

            async def seen() -> dict[str, int]:
                return picture.versions

            assert await eventually(seen, lambda found: found == known)
            assert picture.reflector.lists == 2
            assert sorted(picture.went) == sorted(made[name].metadata.uid for name in "ab")
            assert set(picture.came[3:]) == {again.metadata.uid, last.metadata.uid}
