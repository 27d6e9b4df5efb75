"""A bare client: the floor that the runtime is held against, and whoever makes the load."""

import asyncio
from collections.abc import Awaitable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from shoal.kube.objects import Object
from shoal.kubeapi.access import from_kubeconfig

AT_ONCE = 32
PODS = "/api/v1/namespaces/{}/pods"
CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"
MERGE = "application/merge-patch+json"


class Bare:
    """Sends and reads JSON, and does nothing else."""

    def __init__(self, kubeconfig: Path) -> None:
        self._access = from_kubeconfig(kubeconfig, {})

    async def __aenter__(self) -> Self:
        """Open the connections."""
        connector = aiohttp.TCPConnector(ssl=self._access.tls or True, limit=2 * AT_ONCE)
        self._session = aiohttp.ClientSession(self._access.server, connector=connector)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        await self._session.close()

    async def send(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> bytes:
        """Send one request and return the answer's bytes."""
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": content_type}
        async with self._session.request(method, path, data=data, headers=headers) as answer:
            text = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
            return text

    async def post(self, path: str, body: Object) -> bytes:
        """Create an object."""
        return await self.send("POST", path, body)

    async def merge(self, path: str, change: Object) -> bytes:
        """Change an object."""
        return await self.send("PATCH", path, change, MERGE)

    async def namespace(self, name: str) -> None:
        """Make a namespace."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await self.post("/api/v1/namespaces", body)


async def all_of(calls: Iterable[Awaitable[Any]], at_once: int = AT_ONCE) -> None:
    """Await all, so many at once; `calls` is not read further ahead than that."""
    source = iter(calls)

    async def work() -> None:
        for call in source:
            await call

    await asyncio.gather(*(work() for _ in range(at_once)))
