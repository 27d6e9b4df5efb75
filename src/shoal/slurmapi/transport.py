"""Exchanges with slurmrestd, bounded in time and in size; a write is sent once."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ssl import SSLContext, create_default_context
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import quote, urlencode, urlsplit

from .connections import Connection, GarbledError, LostError
from .errors import TimedOutError, UnreachableError, UnreadableError

MIB = 1024 * 1024
# slurmrestd has room for 124 connections in all, and other clients than us.
CONNECTIONS = 8
CONNECT_S = 3.0
KEEP_S = 15.0
# Writes have lines of their own, and of thousands of workers each has one: that is one question to
# the resolver, not one each.
KNOWN_S = 5.0
NOWHERE = ("", 0.0)


@dataclass(frozen=True)
class Limits:
    """How long an exchange may take and how large its answer may be."""

    total_s: float
    body_bytes: int


# A ping takes 3 ms, also when slurmctld is down.
PING = Limits(2.0, MIB)
QUICK = Limits(5.0, 16 * MIB)
# 10,000 nodes are 27 MB and 1.5 s.
LIST = Limits(15.0, 256 * MIB)


@dataclass(frozen=True)
class Message:
    """What is sent. Its headers hold the token, so they are never shown."""

    method: str
    path: str  # percent-encoded
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    write: bool = False


@dataclass(frozen=True)
class Answer:
    """What comes back."""

    code: int
    body: bytes = field(repr=False, default=b"")


class Transport(Protocol):
    """Carries messages to one slurmrestd."""

    async def open(self) -> None:
        """Make ready to carry."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...

    async def exchange(self, call: str, message: Message, limits: Limits) -> Answer:
        """Return the answer, whatever its code; `call` names the request in errors."""
        ...


class Http:
    """The real transport."""

    def __init__(self, url: str, tls: SSLContext | None = None) -> None:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r}: the URL of slurmrestd must be like http://host:6820")
        self._host = parts.hostname
        self._port = parts.port or (443 if secure else 80)
        self._prefix = parts.path.rstrip("/")
        self._authority = parts.netloc.rpartition("@")[2]
        self._tls = (tls or create_default_context()) if secure else None
        self._room = asyncio.Semaphore(CONNECTIONS)
        self._free: list[Connection] = []
        self._known = NOWHERE  # the address that the host was found at, and until when it counts
        self._opened = False

    async def __aenter__(self) -> Self:
        """Open it."""
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()

    async def open(self) -> None:
        """Make ready to carry; connections come with the first message."""
        self._opened = True

    async def close(self) -> None:
        """Let go of all connections."""
        self._opened = False
        for line in self._free:
            await line.closed()
        self._free.clear()

    async def exchange(self, call: str, message: Message, limits: Limits) -> Answer:
        """Return the answer, whatever its code; a write is sent once and never again."""
        assert self._opened, "the client is used before `async with`"
        request = self._request(message)
        try:
            async with asyncio.timeout(limits.total_s), self._room:
                if message.write:
                    # Of a write on a kept line that turns out to be closed nobody would know
                    # whether it was done. A line of its own costs a fraction of a millisecond.
                    return await self._carry(await self._connect(call), request, limits)
                return await self._read(call, request, limits)
        except TimeoutError as late:
            raise TimedOutError(call, f"no answer within {limits.total_s:g} s") from late
        except GarbledError as error:
            raise UnreadableError(call, f"the answer: {error}") from error
        except LostError as error:
            raise UnreachableError(call, str(error)) from error

    async def _read(self, call: str, request: bytes, limits: Limits) -> Answer:
        if kept := self._kept():
            with suppress(LostError):
                return await self._carry(kept, request, limits, keep=True)
        return await self._carry(await self._connect(call), request, limits, keep=True)

    def _kept(self) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - KEEP_S
        while self._free:
            kept = self._free.pop()
            if kept.usable and kept.free_since > oldest:
                return kept
            kept.close()
        return None

    async def _connect(self, call: str) -> Connection:
        now = asyncio.get_running_loop().time()
        address, until = self._known
        known = bool(address) and now < until
        try:
            async with asyncio.timeout(CONNECT_S):
                where = address if known else self._host
                line = await Connection.to(where, self._port, self._tls, self._host)
        except TimeoutError as late:
            self._known = NOWHERE
            raise UnreachableError(call, f"no connection within {CONNECT_S:g} s") from late
        except OSError as error:
            self._known = NOWHERE
            # SSLError and gaierror are of this family, too.
            raise UnreachableError(call, str(error) or type(error).__name__) from error
        if not known:
            self._known = (line.address, now + KNOWN_S)
        return line

    async def _carry(
        self, line: Connection, request: bytes, limits: Limits, *, keep: bool = False
    ) -> Answer:
        try:
            code, body = await line.exchange(request, limits.body_bytes)
        except BaseException:
            # Half an answer, or a caller who no longer waits: nobody can use this line again.
            line.close()
            raise
        if keep and line.usable and self._opened:
            line.free_since = asyncio.get_running_loop().time()
            self._free.append(line)
        else:
            line.close()
        return Answer(code, body)

    def _request(self, message: Message) -> bytes:
        query = f"?{urlencode(message.query, quote_via=quote)}" if message.query else ""
        headers = {"Host": self._authority, "User-Agent": "shoal", **message.headers}
        if message.body is not None:
            headers["Content-Length"] = str(len(message.body))
        lines = [f"{message.method} {self._prefix}{message.path}{query} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        # Else a name with a line break in it would be a header of somebody's choice.
        if not all(line.isprintable() for line in lines):
            raise ValueError(f"{message.method} {message.path!r}: only printable characters can go")
        return "\r\n".join((*lines, "", "")).encode() + (message.body or b"")
