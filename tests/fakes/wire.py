"""Our client on the fake API server: everything but the sockets is the real one."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import msgspec

from shoal.kube.objects import Object
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client, Observe, Request, Through, directly, unobserved

from . import watching
from .apiserver import Call
from .network import Network
from .refusals import Refusal

ACCESS = Access("http://fake", Fixed())


@dataclass
class Answer:
    """As much of aiohttp's response as the client uses."""

    status: int
    body: bytes = b""
    stream: AsyncIterator[bytes] | None = None
    headers: Mapping[str, str] | None = None
    connection: None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.stream is not None:
            await self.stream.aclose()  # type: ignore[attr-defined]

    async def read(self) -> bytes:
        """Return all of it."""
        return self.body

    @property
    def content(self) -> "Answer":
        """Return what can be read bit by bit."""
        return self

    def iter_any(self) -> AsyncIterator[bytes]:
        """Return it bit by bit."""
        assert self.stream is not None
        return self.stream


class FakeClient(Client):
    """The client with its wire on `network`."""

    def __init__(
        self,
        network: Network,
        manager: str = "shoal",
        through: Through = directly,
        observe: Observe = unobserved,
    ) -> None:
        super().__init__(ACCESS, manager, through, observe)
        self.network = network

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def _open(self, request: Request, limits: aiohttp.ClientTimeout) -> Any:
        headers = {"Accept": request.accept, "Content-Type": request.content_type}

        def understand() -> Call:
            return self.network.api.understand(
                request.method, request.path, request.query, headers, request.body
            )

        try:
            if request.query.get("watch") == "true":
                return await self._watch(understand(), limits)
            code, body = await self.network.carry(
                understand, *_named(request), patience_s=limits.total or 30.0
            )
        except Refusal as refused:
            return refusal_answer(refused)
        return Answer(code, msgspec.json.encode(body), headers={})

    async def _watch(self, call: Call, limits: aiohttp.ClientTimeout) -> Answer:
        network = self.network
        if network.down:
            raise aiohttp.ClientConnectionError("Connection refused")
        events = watching.watch(network.api, call, limits.sock_read, lambda: network.mute)

        async def lines() -> AsyncIterator[bytes]:
            async for event in network.events(events):
                yield _line(event)

        return Answer(200, stream=lines(), headers={})


def refusal_answer(refused: Refusal) -> Answer:
    """Return the answer that a refusal is on the wire."""
    headers = {"Retry-After": str(refused.retry_after_s)} if refused.retry_after_s else {}
    return Answer(refused.code, msgspec.json.encode(refused.body()), headers=headers)


def _named(request: Request) -> tuple[str, str]:
    return request.verb, request.plural


def _line(event: Object) -> bytes:
    return msgspec.json.encode(event) + b"\n"
