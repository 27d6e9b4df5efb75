"""Lines on which both sides talk: web sockets, opened with the rights of a client."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from .errors import refusal

Socket = aiohttp.ClientWebSocketResponse
Pairs = Sequence[tuple[str, str]]  # of a query, in which a name may come several times

CONNECT_S = 10.0
ANSWER_S = 30.0
GOOD_BYE_S = 1.0


@dataclass(frozen=True)
class Wanted:
    """A line to be."""

    call: str  # for people
    url: str
    query: Pairs
    protocols: Sequence[str]  # the one that we like best comes first


def transport_of(answer: aiohttp.ClientResponse) -> asyncio.Transport | None:
    """Return what an answer comes by; None: it has all come, or nothing more will."""
    return answer.connection.transport if answer.connection is not None else None


@asynccontextmanager
async def dialled(
    client: aiohttp.ClientSession,
    wanted: Wanted,
    headers: Mapping[str, str],
    may_send: Callable[[], None],
) -> AsyncIterator[Socket]:
    """Give a line on a client's connections; a refusal is an error in the server's own words."""

    async def ask_once_more(*_: object) -> None:
        # There is no body that could ask, and whoever gets the headers begins at once.
        may_send()

    transports: list[asyncio.Transport] = []

    async def understand(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        # What a refusal says is lost once the handshake is seen to have come to nothing.
        answer = await send(request)
        if (transport := transport_of(answer)) is not None:
            transports.append(transport)
        if answer.status >= 400:
            raise refusal(wanted.call, answer.status, await answer.read())
        return answer

    tracing = aiohttp.TraceConfig()
    tracing.on_request_headers_sent.append(ask_once_more)
    try:
        async with (
            aiohttp.ClientSession(
                connector=client.connector,
                connector_owner=False,
                headers={**client.headers, **headers},
                middlewares=(understand,),
                trace_configs=[tracing],
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_S, sock_read=ANSWER_S),
            ) as session,
            session.ws_connect(
                wanted.url,
                params=wanted.query,
                protocols=wanted.protocols,
                timeout=aiohttp.ClientWSTimeout(ws_close=GOOD_BYE_S),
            ) as socket,
        ):
            yield socket
    finally:
        # TLS would wait for a good-bye, which may never come.
        for transport in transports:
            transport.abort()
