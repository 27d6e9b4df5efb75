"""What comes on a line gathers for a moment, on real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shoal.kube import kinds
from shoal.kubeapi import watch_pace
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import UnreachableError
from shoal.kubeapi.server import Tls
from shoal.runtime import clock

from .test_server import pair_and_trust

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LONG_S = 600.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
TRIFLE, HEAP = b"{}\n", b"{%b}\n" % (b" " * 20_000)


class Line:
    """The server's end of a watch, and of what is asked on the same connection later."""

    def __init__(self) -> None:
        self.writer: asyncio.StreamWriter | None = None
        self.lost = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        await self.say(TRIFLE)
        later = asyncio.ensure_future(reader.readuntil(b"\r\n\r\n"))
        lost = asyncio.ensure_future(self.lost.wait())
        await asyncio.wait([later, lost], return_when=asyncio.FIRST_COMPLETED)
        if not self.lost.is_set() and later.exception() is None:
            writer.write(ANSWER)
            await lost
        later.cancel()
        lost.cancel()
        writer.transport.abort()

    async def say(self, *events: bytes) -> None:
        assert self.writer is not None
        self.writer.write(b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events))
        # So many turns that whoever is woken up by it has read it.
        for _ in range(20):
            await clock.sleep(0.001)


@asynccontextmanager
async def watched() -> AsyncIterator[tuple[Line, Client, AsyncIterator[bytes]]]:
    """Give both ends of a watch that has brought one event."""
    pair, trust = pair_and_trust()
    tls = Tls()
    tls.load(pair.certificate, pair.key)
    line = Line()
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0, ssl=tls.context)
    access = Access(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", Fixed(), trust)
    async with server, asyncio.timeout(10), Client(access, "x") as client:
        stream = client.stream(Which(kinds.POD), "1", 60)
        assert await anext(stream) == TRIFLE
        try:
            yield line, client, stream
        finally:
            await stream.aclose()
            line.lost.set()


async def test_what_follows_an_event_closely_wakes_us_up_once_there_is_enough(monkeypatch):
    monkeypatch.setattr(watch_pace, "PAUSE_S", LONG_S)
    monkeypatch.setattr(watch_pace, "ENOUGH_BYTES", len(HEAP))
    async with watched() as (line, _, stream):
        following = asyncio.ensure_future(anext(stream))
        for event in (TRIFLE, TRIFLE, HEAP):
            assert not following.done()
            await line.say(event)
        assert (await following).startswith(TRIFLE + TRIFLE + b"{")


async def test_a_trifle_is_read_after_a_moment(monkeypatch):
    monkeypatch.setattr(watch_pace, "PAUSE_S", 0.1)
    async with watched() as (line, _, stream):
        await line.say(TRIFLE)
        assert await anext(stream) == TRIFLE


async def test_a_line_that_is_lost_while_it_is_held_back_is_seen_to_be_lost(monkeypatch):
    monkeypatch.setattr(watch_pace, "PAUSE_S", LONG_S)
    async with watched() as (line, _, stream):
        line.lost.set()
        with pytest.raises(UnreachableError):
            await anext(stream)


async def test_a_connection_that_is_used_again_after_a_watch_is_not_held_back(monkeypatch):
    monkeypatch.setattr(watch_pace, "PAUSE_S", LONG_S)
    monkeypatch.setattr(watch_pace, "ENOUGH_BYTES", len(HEAP))
    async with watched() as (line, client, stream):
        await line.say(HEAP, b"")  # nothing is how a stream ends
        assert b"".join([chunk async for chunk in stream]) == HEAP
        assert await client.get(Ref(kinds.POD, "n", "a"), dict) == {}


class Kernel:
    """A socket's end of it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def get_extra_info(self, _: str) -> "Kernel":
        return self

    def setsockopt(self, _level: int, _name: int, size: int) -> None:
        self.sizes.append(size)


async def test_moments_grow_while_events_do_not_end_and_are_short_after_one_without(monkeypatch):
    kernel, loop = Kernel(), asyncio.get_running_loop()
    monkeypatch.setattr(watch_pace, "transport_of", lambda _: kernel)
    pace = watch_pace.Pace(None)

    def held() -> float:
        pace.hold()
        moment = pace._timer.when() - loop.time()
        pace.end()
        return moment

    moments = [held() for _ in range(40)]
    assert moments[0] == pytest.approx(watch_pace.PAUSE_S, abs=0.01)
    assert sum(moments[:20]) > 1.0  # so long it takes until they have become long
    assert moments[-1] == pytest.approx(watch_pace.LONGEST_S, abs=0.01)
    assert kernel.sizes == [watch_pace.ENOUGH_BYTES, 1] * 40
    await clock.sleep(watch_pace.LONGEST_S + 0.01)
    assert held() == pytest.approx(watch_pace.PAUSE_S, abs=0.01)
