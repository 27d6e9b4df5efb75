"""A line to the real API server on which everything can go wrong: a proxy that speaks plain HTTP.

What can go wrong has the names of the fake network's faults, and is planned as there.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import aiohttp
from aiohttp import web

from fakes.network import Delayed, Lost
from fakes.refusals import Refusal
from shoal.kubeapi.access import Access, Fixed
from shoal.runtime import clock

Fault = Refusal | Lost | Delayed
# Of a request and of an answer: what belongs to one hop only is not passed on.
_KEPT = ("Accept", "Content-Type", "Impersonate-User", "Retry-After")


@dataclass(frozen=True)
class Asked:
    """A request that was passed on."""

    method: str
    path: str
    at: float


@dataclass
class Line:
    """Brings requests to the API server and answers back, or does not."""

    to: Access
    asked: list[Asked] = field(default_factory=list)
    arrived: int = 0  # requests that came, passed on or not
    cuts: int = 0  # streams that were cut
    down: bool = False  # connections are reset
    port: int = 0
    _planned: list[Fault] = field(default_factory=list)
    _tear: set[web.StreamResponse] = field(default_factory=set)
    _streams: dict[web.StreamResponse, asyncio.Transport] = field(default_factory=dict)

    @property
    def access(self) -> Access:
        """Return the way in."""
        return Access(f"http://127.0.0.1:{self.port}", Fixed())

    def plan(self, fault: Fault, times: int = 1) -> None:
        """Let the next requests meet `fault`."""
        self._planned += [fault] * times

    def mend(self) -> None:
        """Let no further request meet a fault."""
        self._planned.clear()

    def tear(self) -> None:
        """Cut each stream in the middle of what it says next."""
        self._tear.update(self._streams)

    def cut(self) -> None:
        """Cut each stream now."""
        for transport in self._streams.values():
            self.cuts += 1
            transport.abort()

    @property
    def writes(self) -> list[Asked]:
        """Return the requests that were passed on and that change something."""
        return [asked for asked in self.asked if asked.method != "GET"]

    async def serve(self, session: aiohttp.ClientSession, request: web.BaseRequest) -> web.Response:
        """Answer one request."""
        self.arrived += 1
        if self.down:
            return _reset(request)
        # A body that never came whole was never sent: the API server would see none either.
        body = await request.read()
        fault = self._planned.pop(0) if self._planned else None
        match fault:
            case Refusal():
                return _refused(fault)
            case Lost(after=False):
                return await _lost(request, fault)
            case Delayed(seconds):
                await clock.sleep(seconds)
        self.asked.append(Asked(request.method, request.path, clock.ticks()))
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        async with session.request(
            request.method, self.to.server + request.path_qs, data=body or None, headers=headers
        ) as answer:
            if request.query.get("watch") == "true" and answer.status == 200:
                return await self._stream(request, answer)
            said = await answer.read()
        if isinstance(fault, Lost):
            return await _lost(request, fault)
        kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        return web.Response(status=answer.status, body=said, headers=kept)

    async def _stream(
        self, request: web.BaseRequest, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        made = web.StreamResponse()
        assert request.transport is not None
        await made.prepare(request)
        self._streams[made] = request.transport
        try:
            with suppress(ConnectionError):
                async for chunk in answer.content.iter_any():
                    if made in self._tear:
                        await made.write(chunk[: len(chunk) // 2])
                        self.cuts += 1
                        return _reset(request)
                    await made.write(chunk)
        finally:
            del self._streams[made]
            self._tear.discard(made)
        return made


def _reset(request: web.BaseRequest) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _lost(request: web.BaseRequest, fault: Lost) -> web.Response:
    if not fault.at_once:
        while request.transport is not None:  # until the client has had enough
            await clock.sleep(0.01)
    return _reset(request)


def _refused(fault: Refusal) -> web.Response:
    headers = {"Retry-After": str(fault.retry_after_s)} if fault.retry_after_s else {}
    return web.json_response(fault.body(), status=fault.code, headers=headers)


@asynccontextmanager
async def line_to(access: Access) -> AsyncIterator[Line]:
    """Give a line."""
    line = Line(access)
    connector = aiohttp.TCPConnector(limit=0, ssl=access.tls or True)
    limits = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=limits) as session:
        server = web.Server(partial(line.serve, session), access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        line.port = runner.addresses[0][1]
        try:
            yield line
        finally:
            await runner.cleanup()
