"""The client on real sockets: what leaves, and how a line ends."""

import asyncio
import base64
import gc
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp.http import WS_KEY

from shoal.kube import kinds
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client, Which
from shoal.kubeapi.errors import UnreachableError
from shoal.kubeapi.exec import execute
from shoal.kubeapi.server import Answer, Listening, Server, Tls

from .test_server import pair_and_trust, sockets

STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
KEY = re.compile(rb"Sec-WebSocket-Key: (\S+)", re.IGNORECASE)
SOCKET = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Protocol: v5.channel.k8s.io\r\nSec-WebSocket-Accept: %s\r\n\r\n"
)
OBJ = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}


def upgraded(asked: bytes) -> bytes:
    found = KEY.search(asked)
    assert found
    return SOCKET % base64.b64encode(hashlib.sha1(found[1] + WS_KEY).digest())


async def test_a_write_is_asked_for_once_more_when_its_bytes_leave_and_may_be_held_back():
    seen, asked = [], []

    async def note(body, _headers):
        seen.append(body)
        return Answer(201, body)

    async with (
        Server({kinds.CONFIG_MAP.path("n"): note}, Listening("127.0.0.1")) as server,
        Client(Access(f"http://127.0.0.1:{server.port}", Fixed()), "x") as client,
    ):
        client.may_send = lambda: asked.append(len(seen))
        await client.create(kinds.CONFIG_MAP, OBJ, dict)
        assert (asked, len(seen)) == ([0], 1)

        def no() -> None:
            raise PermissionError("the time is over")

        client.may_send = no
        with pytest.raises(PermissionError, match="the time is over"):
            await client.create(kinds.CONFIG_MAP, OBJ, dict)
        client.may_send = lambda: None
        await client.create(kinds.CONFIG_MAP, OBJ, dict)
        assert len(seen) == 2


@asynccontextmanager
async def endless(ended: asyncio.Event) -> AsyncIterator[Access]:
    """Give a server whose watches say one thing, and never say good-bye."""
    pair, trust = pair_and_trust()
    tls = Tls()
    tls.load(pair.certificate, pair.key)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(STREAM)
        await asyncio.wait([asyncio.ensure_future(reader.read())])
        ended.set()
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls.context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield Access(f"https://127.0.0.1:{port}", Fixed(), trust)


async def test_a_watch_that_is_cancelled_ends_its_line_at_once():
    ended, began = asyncio.Event(), asyncio.Event()

    async def follow(client: Client) -> None:
        async for _ in client.stream(Which(kinds.POD), "1", 60):
            began.set()

    async with endless(ended) as access, Client(access, "x") as client:
        watching = asyncio.create_task(follow(client))
        await began.wait()
        (line,) = client._session.connector._acquired
        transport = line.transport
        watching.cancel()
        await asyncio.wait([watching])
        assert watching.cancelled()
        assert transport.is_closing()
        async with asyncio.timeout(5):
            await ended.wait()
    gc.collect()  # what is not closed would say so here


class Deaf(asyncio.Protocol):
    """A server that reads nothing more once the line is there, not even a good-bye."""

    def __init__(self, lines: list[asyncio.Transport]) -> None:
        self.lines = lines

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.lines.append(transport)

    def data_received(self, data: bytes) -> None:
        self.lines[-1].write(upgraded(data))
        self.lines[-1].pause_reading()


async def test_a_command_that_is_given_up_ends_its_line_at_once():
    pair, trust = pair_and_trust()
    tls = Tls()
    tls.load(pair.certificate, pair.key)
    lines: list[asyncio.Transport] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Deaf(lines), "127.0.0.1", 0, ssl=tls.context)
    port = server.sockets[0].getsockname()[1]
    access = Access(f"https://127.0.0.1:{port}", Fixed(), trust)
    async with server:
        before = sockets()
        async with Client(access, "x") as client:
            with pytest.raises(UnreachableError, match="no end"):
                await execute(client, "n", "p", "main", ["sleep"], timeout_s=0.2)
        (line,) = lines
        assert sockets() == before + 1  # the server's end
        line.abort()
