"""Reads and writes as the families make them: version, ping, gate, and one second chance.

Every write passes through one gate (`Through`), so that whoever owns the client can count, delay,
refuse or fake each effect. Reads do not.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from .errors import (
    BadTokenError,
    ControllerDownError,
    DatabaseDownError,
    NoSuchPathError,
    SlurmError,
    UnreachableError,
)
from .peer import FRESH_S, Peer
from .transport import Answer
from .wire import E, Request, Tree, Wire, decoded

# Who asks again and again whether anything is new learns by that whether slurmctld is up.
PROBED_S = 20.0
Through = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]


async def directly(_: str, call: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - passes on what the call returns
    """Do the call: the gate that is always open."""
    return await call()


class Calls:
    """What the families call."""

    def __init__(self, wire: Wire, through: Through = directly) -> None:
        self.peer = Peer(wire)
        self._wire = wire
        self._through = through
        self._written: dict[str, float] = {}

    async def read(self, request: Request, decoder: msgspec.json.Decoder[E]) -> E:
        """Return what was asked for."""
        await self._ready(request)
        return decoded(request, await self._send(request), decoder)

    async def changed(self, request: Request, decoder: msgspec.json.Decoder[E]) -> E | None:
        """Return what was asked for, or None when nothing changed since its `update_time`."""
        await self._ready(request, PROBED_S)
        asked = asyncio.get_running_loop().time()
        answer = await self._send(request)
        found = None if answer.code == 304 else decoded(request, answer, decoder)
        self.peer.felt(asked)
        return found

    async def write(self, request: Request, decoder: msgspec.json.Decoder[E]) -> E:
        """Do it, through the gate, and return what slurmrestd says of it."""
        await self._ready(request)
        try:
            answer = await self._through(str(request), lambda: self._send(request))
        finally:
            # Also when it went wrong: it may have been done.
            self._written[request.family] = asyncio.get_running_loop().time()
        return decoded(request, answer, decoder)

    def written_at(self, *families: str) -> float:
        """Return when, on the loop's clock, we last ended a write to one of `families`."""
        return max(self._written.get(family, float("-inf")) for family in families)

    async def _ready(self, request: Request, fresh_s: float = FRESH_S) -> None:
        await self.peer.need(str(request), request.needs)
        # slurmdbd's tree works without slurmctld.
        if request.tree is Tree.SLURM:
            await self.peer.check(str(request), fresh_s)

    async def _send(self, request: Request) -> Answer:
        version = (await self.peer.known()).version
        try:
            return await self._wire.once(request, version)
        except BadTokenError:
            self._wire.tokens.forget()
            if not request.again:
                raise
        except NoSuchPathError:
            # Turned away before anything was done, so even a write may go again.
            if not await self.peer.renegotiated(version) or not request.again:
                raise
        except DatabaseDownError as down:
            await self._blame(request, down)
        except (ControllerDownError, UnreachableError):
            self.peer.forget_pulse()
            raise
        return await self._wire.once(request, (await self.peer.known()).version)

    async def _blame(self, request: Request, down: DatabaseDownError) -> None:
        """Return when only the token was at fault and is renewed; raise otherwise.

        slurmdbd does not say whether it is away or does not take our token; slurmctld does.
        """
        before = self.peer.renewals
        self.peer.forget_pulse()
        try:
            await self.peer.check(str(request))
        except BadTokenError as bad:
            raise bad from down
        except SlurmError:
            raise down from None
        if self.peer.renewals == before:
            raise down
