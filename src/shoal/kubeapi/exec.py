"""Commands in pods: run a program beside one that runs there already, and get what it says.

A command is an effect like any write: it passes the client's gate, and a process that no longer
leads runs nothing. It is bounded in time and in what is kept of its output. One whose time is over
is no longer waited for, but Kubernetes has no way to end it: it may run on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import aiohttp
import msgspec

from ..kube import kinds
from .client import Client, Request
from .errors import (
    ApiError,
    Status,
    UnauthorizedError,
    UnreachableError,
    UnreadableError,
    refusal,
)

TIMEOUT_S = 30.0
LIMIT_BYTES = 16 << 20
# The fifth tells the end of what we say, the fourth does not; we say nothing.
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STDOUT, STDERR, STATUS = 1, 2, 3
NOT_RUN = -1  # which no program ends with


@dataclass(frozen=True)
class Ran:
    """What a program left behind."""

    code: int
    stdout: str
    stderr: str
    cut: bool = False  # it said more than was kept


class _Verdict(Status, frozen=True):
    """How it ended, as the API server says it."""

    status: str = ""


@dataclass
class _Kept:
    """The beginning of what was said."""

    limit: int
    said: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def add(self, more: bytes) -> None:
        room = self.limit - len(self.said)
        self.said += more[:room]
        self.cut = self.cut or len(more) > room

    def __str__(self) -> str:
        return self.said.decode(errors="replace")


async def execute(  # noqa: PLR0913 - where, what, and two bounds
    client: Client,
    namespace: str,
    pod: str,
    container: str,
    command: Sequence[str],
    *,
    timeout_s: float = TIMEOUT_S,
    limit: int = LIMIT_BYTES,
) -> Ran:
    """Run `command` in a container to its end; `limit` bytes are kept of each of its outputs.

    A NotFoundError: no such pod. An InvalidError: no such container. An UnreachableError: nobody
    knows whether it ran, or how it ended. A ServerError: it could not be started.
    """
    path = kinds.POD.path(namespace, pod, "exec")
    request = Request("GET", path, {}, verb="exec", plural="pods", again=False)
    words = [("command", word) for word in command]
    query = [("container", container), ("stdout", "true"), ("stderr", "true"), *words]

    async def run() -> Ran:
        call = f"{request} ({command[0]})"
        try:
            async with asyncio.timeout(timeout_s):
                return await _told(client, request, query, call, limit)
        except TimeoutError as late:
            raise UnreachableError(f"{call}: no end after {timeout_s:g} s") from late

    name = str(request)
    try:
        ran: Ran = await client.through(name, run)
    except UnauthorizedError:
        # So it did not run. What a new token can mend is mended at once, as with any request.
        client.access.credentials.forget()
        ran = await client.through(name, run)
    return ran


async def _told(
    client: Client, request: Request, query: list[tuple[str, str]], call: str, limit: int
) -> Ran:
    kept = {STDOUT: _Kept(limit), STDERR: _Kept(limit)}
    async with client.line(request, query, PROTOCOLS) as line:
        async for message in line:
            # Each begins with its channel; the first of each channel has nothing else.
            if message.type is not aiohttp.WSMsgType.BINARY or len(message.data) < 2:
                continue
            channel, data = message.data[0], message.data[1:]
            if channel == STATUS:
                code = _code(call, data)
                cut = any(one.cut for one in kept.values())
                return Ran(code, str(kept[STDOUT]), str(kept[STDERR]), cut)
            if channel in kept:
                kept[channel].add(data)
    raise UnreachableError(f"{call}: the line ended before the program did")


def _code(call: str, verdict: bytes) -> int:
    """Return the exit code, or raise what kept the program from one."""
    try:
        told = msgspec.json.decode(verdict, type=_Verdict)
    except msgspec.DecodeError as error:
        raise UnreadableError(f"{call}: {error}") from error
    if told.status == "Success":
        return 0
    causes = told.details.causes if told.details else ()
    codes = [cause.message for cause in causes if cause.reason == "ExitCode"]
    if codes and codes[0].isdecimal():
        return int(codes[0])
    raise refusal(call, told.code or 500, verdict)


def in_pod(
    client: Client, namespace: str, pod: str, container: str, *, timeout_s: float = TIMEOUT_S
) -> Callable[[Sequence[str]], Awaitable[Ran]]:
    """Return what runs commands there, for those who know programs and no Kubernetes.

    What Kubernetes did not do has the code NOT_RUN and says why on stderr. So has a program that
    said more than is kept: half a list of jobs would make the nodes of the other half look free.
    """

    async def run(command: Sequence[str]) -> Ran:
        try:
            ran = await execute(client, namespace, pod, container, command, timeout_s=timeout_s)
        except ApiError as error:
            return Ran(NOT_RUN, "", str(error))
        if ran.cut:
            return Ran(NOT_RUN, "", f"it said more than {LIMIT_BYTES} bytes", cut=True)
        return ran

    return run
