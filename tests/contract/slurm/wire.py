"""What slurmrestd says, to the byte: no HTTP library, as each of them mends what it reads."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 30.0
LENGTH = re.compile(rb"^content-length: *(\d+)\r$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """One answer; `rest` is what came behind its end."""

    code: int
    head: str
    text: str
    rest: bytes = b""

    @property
    def body(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.text)

    @property
    def numbers(self) -> list[int]:
        """The error numbers in it, none for an answer that is no JSON."""
        if not self.text.startswith("{"):
            return []
        return [problem["error_number"] for problem in self.body.get("errors", ())]

    @property
    def warnings(self) -> str:
        """Its warnings, in one line."""
        return "; ".join(problem["description"] for problem in self.body["warnings"])


@dataclass(frozen=True)
class Asked:
    """One request, as it goes over the wire."""

    method: str
    path: str
    body: Any = None
    token: str | None = None
    headers: Mapping[str, str] | None = None
    content_type: str = "application/json"

    def text(self) -> bytes:
        """Return its bytes."""
        data = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        lines = [f"{self.method} {self.path} HTTP/1.1", "Host: slurmrestd"]
        lines += [f"{name}: {value}" for name, value in (self.headers or {}).items()]
        if self.token is not None:
            lines.append(f"X-SLURM-USER-TOKEN: {self.token}")
        if self.body is None:
            return "\r\n".join((*lines, "", "")).encode()
        lines += [f"Content-Type: {self.content_type}", f"Content-Length: {len(data)}"]
        return "\r\n".join((*lines, "", "")).encode() + data


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a new connection."""
    place = urlsplit(url)
    return await asyncio.open_connection(place.hostname, place.port, limit=1 << 26)


async def ask(url: str, asked: Asked) -> Said:
    """Return the first answer, and what follows it when the server closes the connection."""
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await connected(url)
        try:
            writer.write(asked.text())
            head = await reader.readuntil(b"\r\n\r\n")
            found = LENGTH.search(head)
            body = await reader.readexactly(int(found[1])) if found else b""
            # A server that closes has nothing more to say; one that keeps the line says nothing.
            rest = await reader.read() if b"connection: close" in head.lower() else b""
        finally:
            writer.close()
    code = int(head.split(b" ", 2)[1])
    return Said(code, head.decode(), body.decode(), rest)
