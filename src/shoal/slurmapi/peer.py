"""The slurmrestd at the other end: which version it speaks, and whether slurmctld answers it.

Every call but a ping waits 9 to 10 s inside slurmrestd when slurmctld is down; a ping says so in
3 ms. So a ping goes first, and counts for a moment.

A ping is no check of the token: with a bad one slurmctld does not answer, and slurmrestd says
"DOWN". Then one more call, cut off soon, tells the two apart: a bad token is refused at once.
"""

import asyncio
from dataclasses import dataclass, replace

import msgspec

from .errors import (
    BadTokenError,
    ControllerDownError,
    MissingError,
    NoSuchPathError,
    SlurmError,
    TimedOutError,
)
from .flights import Flight
from .transport import MIB, PING, Limits
from .versions import RELEASES, SPOKEN, Capability, path_of
from .wire import Envelope, Request, SlurmVersion, Wire, decoded

FRESH_S = 1.0
DOUBT_S = 10.0
CUT_OFF = Limits(0.5, 16 * MIB)

PING_REQUEST = Request("GET", "ping/", "ping", limits=PING)
# Any slurmctld path does; this one is small.
TOKEN_CHECK = Request("GET", "diag/", "diag", limits=CUT_OFF)


class Ping(msgspec.Struct, frozen=True):
    """What one slurmctld host answered."""

    hostname: str = ""
    pinged: str = ""
    responding: bool = False
    primary: bool = False
    mode: str = ""
    latency: int = 0

    @property
    def up(self) -> bool:
        """Return whether it answered."""
        return self.responding or self.pinged == "UP"


class Pings(Envelope, frozen=True):
    """The answer to a ping: one entry per SlurmctldHost."""

    pings: tuple[Ping, ...] = ()

    @property
    def up(self) -> bool:
        """Return whether one of them answered."""
        return any(ping.up for ping in self.pings)


_PINGS = msgspec.json.Decoder(Pings)


@dataclass(frozen=True)
class Known:
    """What is remembered of a slurmrestd."""

    version: int
    slurm: SlurmVersion


@dataclass(frozen=True)
class _Pulse:
    at: float
    known: Known | None
    error: SlurmError | None


class Peer:
    """What we know of one slurmrestd and the slurmctld behind it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._known: Known | None = None
        self._pulse: _Pulse | None = None
        self._down_at = float("-inf")
        self.renewals = 0  # how often a token was thrown away here
        # Shared, failures too: a hundred callers of a dead server wait for one time-out.
        self._feeling = Flight(self._feel)

    async def known(self) -> Known:
        """Return which version to speak, and with whom; asked once per server."""
        if self._known is not None:
            return self._known
        pulse = await self._feeling.join()
        if pulse.known is None:
            assert pulse.error is not None
            raise pulse.error
        return pulse.known

    async def can(self, capability: Capability) -> bool:
        """Return whether the Slurm at hand has `capability`."""
        return (await self.known()).version >= capability.since

    async def need(self, call: str, capability: Capability | None) -> None:
        """Raise a MissingError where the Slurm at hand lacks `capability`."""
        if capability is None or await self.can(capability):
            return
        has = (await self.known()).slurm.release or "an older one"
        words = f"{capability.words} needs Slurm {capability.release} or newer, this is {has}"
        raise MissingError(call, words)

    async def renegotiated(self, version: int) -> bool:
        """Ask anew which version to speak; return whether it is another than `version`."""
        if self._known is not None and self._known.version == version:
            self._known = self._pulse = None
        return (await self.known()).version != version

    async def ping(self) -> tuple[Ping, ...]:
        """Ask each slurmctld host whether it is up, now."""
        return (await self._ping())[1].pings

    async def check(self, call: str, fresh_s: float = FRESH_S) -> None:
        """Return when slurmctld answered a moment ago; raise what is wrong otherwise."""
        pulse = self._pulse
        if pulse is None or asyncio.get_running_loop().time() - pulse.at >= fresh_s:
            pulse = await self._feeling.join()
        if pulse.error is not None:
            ours = pulse.error.call in (str(PING_REQUEST), str(TOKEN_CHECK))
            raise pulse.error.of(call) if ours else pulse.error

    def felt(self, at: float) -> None:
        """Take note that slurmctld answered what it was asked at that time."""
        if self._pulse is not None and self._pulse.error is None:
            self._pulse = replace(self._pulse, at=max(self._pulse.at, at))

    def forget_pulse(self) -> None:
        """Ping again before the next call: something did not go as it should."""
        self._pulse = None

    async def close(self) -> None:
        """Ask nothing more."""
        await self._feeling.stop()

    # -- only in flight

    async def _feel(self) -> _Pulse:
        # From before the question on: an answer is about the moment in which it was asked.
        at = asyncio.get_running_loop().time()
        known, error = None, None
        try:
            known, pings = await self._ping()
            if not pings.up:
                error = await self._doubt(known)
                # The token was renewed by then.
                if isinstance(error, BadTokenError) and (await self._ping())[1].up:
                    error = None
        except TimedOutError as late:
            known = self._known
            error = ControllerDownError(late.call, "slurmctld does not answer a ping in time")
        except SlurmError as other:
            error = other
            if isinstance(other, BadTokenError):
                self._wire.tokens.forget()
        self._pulse = _Pulse(at, known, error)
        return self._pulse

    async def _ping(self) -> tuple[Known, Pings]:
        known = self._known
        if known is None:
            return await self._negotiate()
        try:
            answer = await self._wire.once(PING_REQUEST, known.version)
        except NoSuchPathError:
            return await self._negotiate()
        pings = decoded(PING_REQUEST, answer, _PINGS)
        if pings.meta.slurm != known.slurm:
            # Another Slurm answers at the same address: it may speak a newer version.
            return await self._negotiate()
        return known, pings

    async def _negotiate(self) -> tuple[Known, Pings]:
        """Try our versions, newest first: an unserved one is a 404 within a millisecond.

        The list of paths would say the same in one request, of 1.8 MB and 60 ms.
        """
        for version in SPOKEN:
            try:
                answer = await self._wire.once(PING_REQUEST, version)
            except NoSuchPathError:
                continue
            pings = decoded(PING_REQUEST, answer, _PINGS)
            self._known = Known(version, pings.meta.slurm)
            return self._known, pings
        span = f"{path_of(SPOKEN[-1])} to {path_of(SPOKEN[0])}"
        oldest = RELEASES[SPOKEN[-1]]
        words = f"this slurmrestd serves none of {span}; Slurm {oldest} or newer is needed"
        raise MissingError(str(PING_REQUEST), words)

    async def _doubt(self, known: Known) -> SlurmError:
        """Return why slurmctld does not answer: because it is down, or because of our token."""
        down = ControllerDownError(str(PING_REQUEST), "slurmctld is DOWN")
        now = asyncio.get_running_loop().time()
        # Each such call holds a thread of slurmrestd for 10 s when slurmctld is really down.
        if now - self._down_at < DOUBT_S:
            return down
        try:
            await self._wire.once(TOKEN_CHECK, known.version)
        except BadTokenError as bad:
            self._wire.tokens.forget()
            self.renewals += 1
            return bad
        except SlurmError:
            self._down_at = now
        return down
