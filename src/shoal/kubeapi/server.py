"""A small HTTP server: webhooks, probes and metrics are paths with a function each."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import structlog
from aiohttp import web

from .pairs import load_pair

# Above the 90 s after which the API server drops an idle connection: we are not to be the first, or
# a request of its could meet our good-bye.
KEEP_ALIVE_S = 120.0
log = structlog.get_logger()


@dataclass(frozen=True)
class Answer:
    """What a handler returns."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)  # beside those that always go


def plain(status: int, text: str) -> Answer:
    """Return an answer in words."""
    return Answer(status, f"{text}\n".encode(), "text/plain")


Handler = Callable[[bytes, Mapping[str, str]], Awaitable[Answer]]  # body, headers


@dataclass(frozen=True)
class Listening:
    """Where to listen and how much to bear."""

    host: str | None = None  # None: every address, of IPv4 and IPv6
    port: int = 0  # 0: any free one
    body_bytes: int = 64 << 20  # a conversion review holds a whole page of a list
    limit_s: float = 30.0  # for one request, from its first byte to our answer
    grace_s: float = 10.0  # for requests under way when the server ends


class Tls:
    """The certificate to serve with; it can be changed at any time.

    Each load makes a new context and each handshake takes the newest. Loading into the context in
    use would keep a certificate of another key type beside the new one, and would leave it broken
    when certificate and key do not fit.
    """

    def __init__(self) -> None:
        self._current: ssl.SSLContext | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Called for each handshake, also of clients that send no name.
        self.context.sni_callback = self._pick

    def load(self, certificate: bytes, key: bytes) -> None:
        """Serve with this pair (PEM) from now on; one that is no pair is a ValueError."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            load_pair(made, certificate, key)
        except ssl.SSLError as error:
            raise ValueError(f"no certificate with its key: {error.reason or error}") from error
        self._current = made

    def _pick(self, connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> int | None:
        if self._current is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._current
        return None


class Server:
    """Serves `routes`, over TLS where there is a certificate to serve with."""

    def __init__(
        self,
        routes: Mapping[str, Handler],
        listening: Listening = Listening(),  # noqa: B008 - frozen
        tls: Tls | None = None,
    ) -> None:
        self._routes = routes
        self._listening = listening
        self._tls = tls
        self._runner: web.ServerRunner | None = None
        self.port = 0  # where it listens, once it does

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        server = web.Server(self._serve, keepalive_timeout=KEEP_ALIVE_S, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=self._listening.grace_s)
        await self._runner.setup()
        context = self._tls.context if self._tls else None
        where = self._listening
        site = web.TCPSite(self._runner, where.host, where.port, ssl_context=context)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Listen no more, let the requests under way end, close all connections."""
        assert self._runner is not None
        assert self._runner.server is not None
        seen = [line.transport for line in self._runner.server.connections]
        await self._runner.cleanup()
        await _end([line for line in seen if line is not None])

    async def run(self) -> None:
        """Serve until cancelled."""
        async with self:
            await asyncio.Event().wait()

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        answer = await self._answer(request)
        headers = {"Content-Type": answer.content_type, **answer.headers}
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    async def _answer(self, request: web.BaseRequest) -> Answer:
        handler = self._routes.get(request.path)
        if handler is None:
            return plain(404, f"{request.path}: nothing here")
        try:
            async with asyncio.timeout(self._listening.limit_s):
                body = await _body(request, self._listening.body_bytes)
                if body is None:
                    return plain(413, f"more than {self._listening.body_bytes} bytes")
                return await handler(body, request.headers)
        except TimeoutError:
            log.warning("no answer in time", path=request.path, limit_s=self._listening.limit_s)
            return plain(504, f"{request.path}: no answer in {self._listening.limit_s:g} s")
        except Exception as error:  # a handler's bug is an answer, not a lost line
            log.exception("handler failed", path=request.path)
            return plain(500, f"{request.path}: {type(error).__name__}: {error}")


async def _end(lines: Sequence[asyncio.Transport]) -> None:
    """End lines on which all is said: TLS would wait for a good-bye, which may never come."""
    for line in lines:
        # Of one with TLS that was closed twice, asyncio knows nothing more.
        with suppress(AttributeError):
            if not line.get_write_buffer_size():
                line.abort()
    await asyncio.sleep(0)  # noqa: TID251 - no time passes; then they have ended


async def _body(request: web.BaseRequest, limit: int) -> bytes | None:
    """Return the body, None if it is too long; then the connection cannot be used again."""
    if (request.content_length or 0) <= limit:
        chunks, size = [], 0
        async for chunk in request.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        else:
            return b"".join(chunks)
    return None
