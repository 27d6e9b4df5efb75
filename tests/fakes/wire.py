"""Our client on the fake API server: everything but the sockets is the real one."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import msgspec

from shoal.kube.objects import Key, Object
from shoal.kubeapi import exec as commands
from shoal.kubeapi import lines
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client, Observe, Request, Through, directly, unobserved
from shoal.kubeapi.errors import refusal

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

    @asynccontextmanager
    async def _dial(
        self, wanted: lines.Wanted, _headers: Mapping[str, str]
    ) -> AsyncIterator[AsyncIterator[aiohttp.WSMessage]]:
        path = urlsplit(wanted.url).path
        request = Request("GET", path, {}, verb="exec", plural="pods")
        answer = await self._open(request, aiohttp.ClientTimeout(total=lines.ANSWER_S))
        if answer.status != 200:
            raise refusal(wanted.call, answer.status, answer.body)
        self.may_send()
        meta = msgspec.json.decode(answer.body)["metadata"]
        yield self._said((meta["namespace"], meta["name"]), wanted.query)

    async def _said(self, key: Key, query: lines.Pairs) -> AsyncIterator[aiohttp.WSMessage]:
        words = tuple(value for name, value in query if name == "command")
        try:
            code, out, err = await self.network.api.program(key, dict(query)["container"], words)
        except Refusal as refused:
            yield _frame(commands.STATUS, msgspec.json.encode(refused.body()))
            return
        yield _frame(commands.STDOUT, out.encode())
        yield _frame(commands.STDERR, err.encode())
        yield _frame(commands.STATUS, msgspec.json.encode(ended(code)))

    async def _watch(self, call: Call, limits: aiohttp.ClientTimeout) -> Answer:
        network = self.network
        if network.down:
            raise aiohttp.ClientConnectionError("Connection refused")
        events = watching.watch(network.api, call, limits.sock_read, lambda: network.mute)

        async def lines() -> AsyncIterator[bytes]:
            async for event in network.events(events):
                yield _line(event)

        return Answer(200, stream=lines(), headers={})


def ended(code: int) -> Object:
    """Return how the API server says that a command ended with `code`."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _frame(channel: int, said: bytes) -> aiohttp.WSMessage:
    return aiohttp.WSMessage(aiohttp.WSMsgType.BINARY, bytes([channel]) + said, None)


def refusal_answer(refused: Refusal) -> Answer:
    """Return the answer that a refusal is on the wire."""
    headers = {"Retry-After": str(refused.retry_after_s)} if refused.retry_after_s else {}
    return Answer(refused.code, msgspec.json.encode(refused.body()), headers=headers)


def _named(request: Request) -> tuple[str, str]:
    return request.verb, request.plural


def _line(event: Object) -> bytes:
    return msgspec.json.encode(event) + b"\n"
