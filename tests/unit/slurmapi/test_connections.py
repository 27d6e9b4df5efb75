"""What slurmrestd and those in between send, and where an answer ends."""

import asyncio

import pytest

from fakes.slurmrestd.lines import HOST, Listener
from shoal.slurmapi.connections import CHUNK_BYTES, Connection, GarbledError, Head, LostError

MIB = 1024 * 1024
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
ERROR = b"HTTP/1.1 422 UNPROCESSABLE CONTENT\r\nConnection: Close\r\nContent-Length: 3\r\n\r\n{1}"
AGAIN = b"HTTP/1.1 422 UNPROCESSABLE CONTENT\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nno"


async def sent(data: bytes, limit: int = MIB) -> tuple[int, bytes, bool]:
    """Return what is made of `data` from a server: code, body, and whether the line is usable."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        writer.write_eof()
        await reader.read()

    async with Listener(talk) as server:
        line = await Connection.to(HOST, server.port, None)
        try:
            code, body = await line.exchange(b"GET / HTTP/1.1\r\n\r\n", limit)
            return code, body, line._between
        finally:
            await line.closed()


@pytest.mark.parametrize(
    ("data", "code", "body", "kept"),
    [
        (OK, 200, b"{}", True),
        (b"HTTP/1.1 304 NOT MODIFIED\r\n\r\n", 304, b"", True),
        (b"HTTP/1.1 204 NO CONTENT\r\n\r\n", 204, b"", True),
        (ERROR, 422, b"{1}", False),
        # 26.05 sends each error twice.
        (ERROR + AGAIN, 422, b"{1}", False),
        # Both series add this where the caller closes.
        (OK + b"Connection: Close\r\n", 200, b"{}", True),
        # Somebody in between.
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, b"until the end", False),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            200,
            b"abc0123456789",
            True,
        ),
        (b"HTTP/1.0 502 Bad Gateway\ncontent-length: 4\r\n\r\noops", 502, b"oops", True),
    ],
)
async def test_an_answer_ends_where_it_says_so(data, code, body, kept):
    assert await sent(data) == (code, body, kept)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "its head is cut short"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "it is cut short"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", "it is cut short"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "it is cut short"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * CHUNK_BYTES * 2, "its head has no end"),
    ],
)
async def test_what_is_no_whole_answer_is_none(data, words):
    with pytest.raises(GarbledError, match=words):
        await sent(data)


BIG = b"x" * (3 * CHUNK_BYTES)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BIG), BIG),
        b"HTTP/1.1 200 OK\r\n\r\n" + BIG,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
        % (len(BIG), BIG),
    ],
)
async def test_an_answer_has_a_limit_however_it_is_sent(data):
    assert (await sent(data))[1] == BIG
    with pytest.raises(GarbledError, match="larger than"):
        await sent(data, limit=CHUNK_BYTES)


async def test_no_answer_at_all_is_told_from_half_of_one():
    with pytest.raises(LostError, match="without an answer"):
        await sent(b"")
    assert not issubclass(LostError, GarbledError)


def test_a_length_beside_chunks_does_not_count():
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert Head.read(text) == Head(200, None, chunked=True, last=False)
