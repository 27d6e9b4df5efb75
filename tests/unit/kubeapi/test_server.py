import asyncio
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from shoal.kubeapi.server import Answer, Listening, Server, Tls, plain
from shoal.runtime.certificates import Lifetimes, authority, issue

HERE = Listening("127.0.0.1", body_bytes=100, limit_s=5.0)


async def echo(body, headers):
    return Answer(201, body + headers.get("X-Word", "").encode(), "text/plain")


async def ask(server, path="/", body=b"", tls=None, **headers):
    scheme = "https" if tls else "http"
    async with aiohttp.ClientSession() as session:
        url = f"{scheme}://127.0.0.1:{server.port}{path}"
        async with session.post(url, data=body, headers=headers, ssl=tls or True) as answer:
            return answer.status, await answer.text()


def pair_and_trust():
    now, lasts = datetime.now(UTC), Lifetimes()  # noqa: TID251 - OpenSSL asks the real clock
    made = authority(now, lasts)
    trust = ssl.create_default_context(cadata=made.certificate.decode())
    return issue(made, ["127.0.0.1"], now, lasts), trust


def sockets() -> int:
    handles = Path("/proc/self/fd").iterdir()
    return sum(os.path.realpath(each).split("/")[-1].startswith("socket:") for each in handles)


async def test_a_path_is_answered_by_its_handler():
    async with Server({"/a": echo}, HERE) as server:
        assert await ask(server, "/a?timeout=10s", b"hey", **{"X-Word": "you"}) == (201, "heyyou")
        assert await ask(server, "/b") == (404, "/b: nothing here\n")


async def test_a_body_that_is_too_long_is_refused():
    async def chunks():
        for _ in range(20):
            yield b"123456789 "

    async with Server({"/a": echo}, HERE) as server:
        assert (await ask(server, "/a", b"x" * 100))[0] == 201
        assert await ask(server, "/a", b"x" * 101) == (413, "more than 100 bytes\n")
        assert (await ask(server, "/a", chunks()))[0] == 413


async def test_a_handler_that_raises_is_a_readable_500_and_the_server_goes_on():
    async def broken(body, headers):
        raise ValueError("no such thing")

    async with Server({"/a": broken, "/b": echo}, HERE) as server:
        assert await ask(server, "/a") == (500, "/a: ValueError: no such thing\n")
        assert (await ask(server, "/b"))[0] == 201


async def test_a_handler_that_never_ends_is_answered_in_time():
    async def forever(body, headers):
        await asyncio.Event().wait()

    async with Server({"/a": forever}, Listening("127.0.0.1", limit_s=0.05)) as server:
        assert await ask(server, "/a") == (504, "/a: no answer in 0.05 s\n")


async def test_requests_under_way_end_before_the_server_does():
    begun, release = asyncio.Event(), asyncio.Event()

    async def slow(body, headers):
        begun.set()
        await release.wait()
        return plain(200, "done")

    async with Server({"/a": slow}, HERE) as server:
        asking = asyncio.create_task(ask(server, "/a"))
        await begun.wait()
        asyncio.get_running_loop().call_later(0.05, release.set)
    assert await asking == (200, "done\n")
    with pytest.raises(aiohttp.ClientConnectorError):
        await ask(server, "/a")


async def test_a_client_that_reads_no_more_holds_no_line_open():
    pair, trust = pair_and_trust()
    tls = Tls()
    tls.load(pair.certificate, pair.key)
    before = sockets()
    async with Server({"/": echo}, Listening("127.0.0.1"), tls) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()
    assert sockets() == before + 1  # the client's end
    writer.transport.abort()


async def test_a_line_that_was_closed_twice_is_no_obstacle_to_the_end():
    pair, trust = pair_and_trust()
    tls = Tls()
    tls.load(pair.certificate, pair.key)
    async with Server({"/": echo}, Listening("127.0.0.1"), tls) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        (line,) = server._runner.server.connections
        line.transport.close()
        line.transport.close()
    writer.transport.abort()


async def test_a_service_serves_until_it_is_cancelled():
    server = Server({"/a": echo}, HERE)
    serving = asyncio.create_task(server.run())
    while not server.port:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.001)  # noqa: TID251
    assert (await ask(server, "/a"))[0] == 201
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_an_address_in_use_is_told():
    async with Server({}, HERE) as server:
        with pytest.raises(OSError, match="in use"):
            async with Server({}, Listening("127.0.0.1", server.port)):
                pass


async def test_a_certificate_is_changed_while_the_server_runs():
    (one, trusts_one), (other, trusts_other) = pair_and_trust(), pair_and_trust()
    tls = Tls()
    async with Server({"/a": echo}, HERE, tls) as server:
        tls.load(one.certificate, one.key)
        assert (await ask(server, "/a", tls=trusts_one))[0] == 201
        tls.load(other.certificate, other.key)
        assert (await ask(server, "/a", tls=trusts_other))[0] == 201
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(server, "/a", tls=trusts_one)


async def test_a_certificate_without_its_key_leaves_the_one_in_use():
    (one, trust), (other, _) = pair_and_trust(), pair_and_trust()
    tls = Tls()
    tls.load(one.certificate, one.key)
    async with Server({"/a": echo}, HERE, tls) as server:
        with pytest.raises(ValueError, match="no certificate with its key"):
            tls.load(other.certificate, one.key)
        with pytest.raises(ValueError, match="no certificate with its key"):
            tls.load(b"junk", b"junk")
        assert (await ask(server, "/a", tls=trust))[0] == 201


async def test_before_there_is_a_certificate_nobody_is_served():
    async with Server({"/a": echo}, HERE, Tls()) as server:
        with pytest.raises(aiohttp.ClientConnectorError):
            await ask(server, "/a", tls=ssl.create_default_context())
