"""For tests of what only the real API server does."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import pytest

from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access, from_kubeconfig
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import NotFoundError
from shoal.runtime import clock

T = TypeVar("T")

NAMES = itertools.count(1)
PATIENCE_S = 120.0


@pytest.fixture
def real(cluster: Path) -> Access:
    """Give the way to the real API server."""
    return from_kubeconfig(cluster / "kubeconfig", {})


async def served(client: Client, definition: Object) -> Object:
    """Make a kind, wait until all of its versions are served, and return its definition."""
    kind = kinds.CUSTOM_RESOURCE_DEFINITION
    made: Object = await client.apply(kind, definition, dict)
    spec = made["spec"]
    for version in spec["versions"]:
        of = Kind(spec["group"], version["name"], spec["names"]["kind"], spec["names"]["plural"])
        while True:
            try:
                await client.every(Which(of), Resource)
                break
            except NotFoundError:
                await asyncio.sleep(0.05)  # noqa: TID251
    found: Object = await client.get(Ref(kind, "", made["metadata"]["name"]), dict)
    return found


@asynccontextmanager
async def client_in_namespace(access: Access) -> AsyncIterator[tuple[Client, str]]:
    """Give a client, and a namespace that nobody else uses."""
    async with Client(access, "test") as client:
        namespace = f"test-{next(NAMES)}"
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        await client.create(kinds.NAMESPACE, space, dict)
        yield client, namespace


async def asked(
    access: Access, method: str, path: str, body: Object | None = None, **headers: str
) -> tuple[Mapping[str, str], Any]:
    """Return headers and body of an answer, where the client does not show all of it."""
    async with (
        aiohttp.ClientSession(headers=await access.credentials.headers()) as session,
        session.request(
            method, access.server + path, json=body, headers=headers, ssl=access.tls or True
        ) as answer,
    ):
        return answer.headers, await answer.json()


async def compacted(cluster: Path, revision: str) -> None:
    """Let etcd forget everything before `revision`, behind the API server's back."""
    port = json.loads((cluster / "cluster.json").read_text())["loopback"]["etcd_port"]
    body = {"revision": revision, "physical": True}
    url = f"http://127.0.0.1:{port}/v3/kv/compaction"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        assert answer.status == 200, await answer.text()


async def eventually(
    look: Callable[[], Awaitable[T]], good: Callable[[T], object], within_s: float = PATIENCE_S
) -> T:
    """Look until it is good, and return what was seen then."""
    deadline = clock.ticks() + within_s
    while not good(seen := await look()):
        if clock.ticks() > deadline:
            pytest.fail(f"waited {within_s:g} s; seen last: {str(seen)[-2000:]}")
        await clock.sleep(0.1)
    return seen
