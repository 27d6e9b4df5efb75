"""HTTP/1.1 as slurmrestd speaks it: one request, one answer.

No HTTP library takes all that slurmrestd sends. 26.05 sends every error twice, the second time as
plain text, behind an answer that says `Connection: Close`. Both series add a stray line behind the
answer to a request that asks for the connection to be closed. So no request asks for that, an
answer ends where it says that it ends, and what follows goes with the connection.
"""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from ssl import SSLContext
from typing import Self

# Of one read, and of an answer's head.
CHUNK_BYTES = 256 * 1024

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[^\r\n]*\r?\n")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CHUNKED = re.compile(rb"^transfer-encoding:[ \t]*chunked[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LAST = re.compile(rb"^connection:[ \t]*close[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class LostError(Exception):
    """The line was cut before anything of an answer came."""


class GarbledError(Exception):
    """What came is no answer, or not all of one."""


@dataclass(frozen=True)
class Head:
    """What an answer says of itself."""

    code: int
    length: int | None  # None: it ends with the connection, or in chunks
    chunked: bool
    last: bool  # no other answer follows on this connection

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Understand the lines before the body."""
        status = _STATUS.match(text)
        if status is None:
            raise GarbledError(f"it begins with {text[:40]!r}, which is no HTTP")
        code = int(status[1])
        length, chunked = _LENGTH.search(text), _CHUNKED.search(text) is not None
        size = int(length[1]) if length and not chunked else None
        if code in (204, 304):
            size = 0
        ends = size is None and not chunked
        return cls(code, size, chunked, last=ends or _LAST.search(text) is not None)


class Connection:
    """A line to slurmrestd."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._between = True  # no request is under way
        self.free_since = 0.0  # on the loop's clock

    @classmethod
    async def to(cls, address: str, port: int, tls: SSLContext | None, host: str = "") -> Self:
        """Connect to an address or a name; `host` is whose certificate it must have."""
        name = (host or address) if tls else None
        reader, writer = await asyncio.open_connection(
            address, port, ssl=tls, server_hostname=name, limit=CHUNK_BYTES
        )
        return cls(reader, writer)

    @property
    def address(self) -> str:
        """Return where it leads; empty: it is closed."""
        peer = self._writer.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    @property
    def usable(self) -> bool:
        """Say whether another request may be sent on it."""
        return self._between and not self._reader.at_eof() and not self._writer.is_closing()

    async def exchange(self, request: bytes, limit_bytes: int) -> tuple[int, bytes]:
        """Send `request` and return the code and the body of its answer."""
        self._between = False
        self._writer.write(request)
        # Who refuses a request may answer and close before having read all of it.
        with suppress(ConnectionError):
            await self._writer.drain()
        head = Head.read(await self._head())
        body = await self._body(head, limit_bytes)
        self._between = not head.last
        return head.code, body

    def close(self) -> None:
        """Let go of it, whatever is still on its way."""
        self._writer.transport.abort()

    async def closed(self) -> None:
        """Let go of it, and return when it is gone."""
        self.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _head(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as cut:
            if cut.partial:
                raise GarbledError("its head is cut short") from cut
            raise LostError("the connection was closed without an answer") from cut
        except asyncio.LimitOverrunError as long:
            raise GarbledError("its head has no end") from long
        except ConnectionError as error:
            raise LostError(str(error) or type(error).__name__) from error

    async def _body(self, head: Head, limit_bytes: int) -> bytes:
        try:
            if head.chunked:
                return await self._chunks(limit_bytes)
            return await self._rest(head.length, limit_bytes)
        except (ConnectionError, asyncio.IncompleteReadError) as cut:
            raise GarbledError("it is cut short") from cut

    async def _rest(self, length: int | None, limit_bytes: int) -> bytes:
        """Return so many bytes, or all until the connection ends."""
        parts: list[bytes] = []
        size = 0
        while length is None or size < length:
            wanted = CHUNK_BYTES if length is None else min(CHUNK_BYTES, length - size)
            part = await self._reader.read(wanted)
            if not part and length is not None:
                raise GarbledError("it is cut short")
            if not part:
                break
            size += len(part)
            _check(size, limit_bytes)
            parts.append(part)
        return b"".join(parts)

    async def _chunks(self, limit_bytes: int) -> bytes:
        """Return a body that somebody in between sends in chunks; slurmrestd itself does not."""
        parts: list[bytes] = []
        size = 0
        while True:
            line = await self._reader.readline()
            try:
                length = int(line.partition(b";")[0], 16)
            except ValueError:
                raise GarbledError("it is cut short") from None
            size += length
            _check(size, limit_bytes)
            if not length:
                break
            parts.append(await self._rest(length, limit_bytes))
            await self._reader.readexactly(2)
        # Trailers end with an empty line.
        while (await self._reader.readline()).strip():
            pass
        return b"".join(parts)


def _check(size: int, limit_bytes: int) -> None:
    if size > limit_bytes:
        raise GarbledError(f"it is larger than {limit_bytes / 1024 / 1024:g} MiB")
