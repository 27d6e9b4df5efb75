"""The fake on a socket, to the byte: no HTTP server sends what slurmrestd does."""

import asyncio
import http
import math
from urllib.parse import parse_qsl

from .faults import Cut, Late, Lost
from .lines import HOST, Listener
from .slurm import Asked, FakeSlurm, Reply
from .transport import said


class FakeServer(Listener):
    """Slurmrestd on a port of this machine; a context manager."""

    def __init__(self, slurm: FakeSlurm) -> None:
        super().__init__(self._converse)
        self.slurm = slurm

    @property
    def url(self) -> str:
        """Return where it is."""
        return f"http://{HOST}:{self.port}"

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._answer(await _asked(reader), writer):
            pass

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the line is kept."""
        fault = self.slurm.fault(asked)
        if isinstance(fault, Lost) and not fault.after:
            return False
        if isinstance(fault, Late):
            await _pass(fault.seconds)
        reply = said(self.slurm, asked, fault)
        await _pass(reply.after_s)
        if isinstance(fault, Lost):
            return False
        head, body = _head(reply), reply.body
        if isinstance(fault, Cut):
            body = body[: fault.size]
            head = head if fault.line else _head(Reply(reply.code, body, reply.content_type))
        writer.write(head + body)
        last = reply.code >= 400 or isinstance(fault, Cut)
        if reply.code >= 400 and self.slurm.series.errors_twice:
            words = Reply(reply.code, b"once more, in plain text", "text/plain")
            writer.write(_head(words) + words.body)
        if asked.headers.get("connection", "").lower() == "close":
            writer.write(b"Connection: Close\r\n")
            last = True
        await writer.drain()
        if last:
            writer.write_eof()
        return not last


async def _pass(seconds: float) -> None:
    """Let time pass; infinity until we are stopped."""
    await asyncio.sleep(1e6 if math.isinf(seconds) else seconds)  # noqa: TID251 - the server's time


async def _asked(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    parts = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in parts}
    path, _, query = target.partition("?")
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    return Asked(method, path, pairs, headers, body, query)


def _head(reply: Reply) -> bytes:
    words = http.HTTPStatus(reply.code).phrase.upper()
    lines = [f"HTTP/1.1 {reply.code} {words}"]
    if reply.code >= 400:
        lines.append("Connection: Close")
    if reply.code != 304:
        lines.append(f"Content-Length: {len(reply.body)}")
        lines.append(f"Content-Type: {reply.content_type}")
    return "\r\n".join((*lines, "", "")).encode()
