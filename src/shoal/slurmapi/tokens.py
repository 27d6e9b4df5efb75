"""Tokens for slurmrestd: where they come from, and for how long each is used.

Whoever has a token of SlurmUser owns the cluster, so none is ever shown: not in a representation,
not in a log line, not in an error.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import uuid4

import jwt

from .signatures import Concealed, Signer, TokenError

HEADER = "X-SLURM-USER-TOKEN"
# Slurm keeps lifetimes as 32-bit numbers, and the largest two of them mean something else.
LONGEST = timedelta(seconds=2**31 - 2)
RENEW_AT = 0.8  # of the lifetime; the rest is for requests under way and clocks that differ

_TOKEN = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_PRINTED = re.compile(r"^SLURM_JWT=(\S+)\s*$", re.MULTILINE)

Now = Callable[[], datetime]


class Tokens(Protocol):
    """Gives the header that says who asks."""

    async def header(self) -> Mapping[str, str]:
        """Return it, renewed where needed, or raise TokenError."""
        ...

    def forget(self) -> None:
        """Drop what was remembered: slurmctld did not accept it."""
        ...


class _Header(dict[str, str]):
    """A header that does not show its value."""

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: ***" for name in self) + "}"


@dataclass(frozen=True)
class Token:
    """A token and the time for which it is good."""

    text: Concealed[str]
    issued: datetime
    expires: datetime

    @property
    def renewed(self) -> datetime:
        """Return when the next one should take its place."""
        return self.issued + RENEW_AT * (self.expires - self.issued)

    def fresh_at(self, now: datetime) -> bool:
        """Say whether to use it at `now`."""
        # A token from the future: the clock was set back, and nobody knows how long it is good.
        return self.issued <= now < self.renewed

    def header(self) -> Mapping[str, str]:
        """Return the header that carries it."""
        return _Header({HEADER: self.text.reveal()})


@dataclass(frozen=True)
class Claims:
    """What a token of ours says."""

    user: str
    issuer: str
    lifetime: timedelta
    subject: str = ""  # the claim `sub`, for those who look at it; Slurm does not

    def at(self, now: datetime, number: str) -> dict[str, str | int]:
        """Return the claims of a token issued at `now`."""
        issued = int(now.timestamp())
        # Slurm takes a token without `exp` as expired, and looks at neither `iat` nor `nbf`.
        claims: dict[str, str | int] = {
            "jti": number,
            "iss": self.issuer,
            "iat": issued,
            "nbf": issued,
            "exp": issued + int(clamped(self.lifetime).total_seconds()),
            "sun": self.user,
        }
        return claims | ({"sub": self.subject} if self.subject else {})


def clamped(lifetime: timedelta) -> timedelta:
    """Return the nearest lifetime that Slurm can hold."""
    return max(timedelta(0), min(lifetime, LONGEST))


def issue(signer: Signer, claims: Claims, now: datetime, number: str) -> Token:
    """Return a new token, or raise TokenError where the key is not fit."""
    issued = now.replace(microsecond=0)
    text = signer.sign(claims.at(issued, number))
    return Token(Concealed(text), issued, issued + clamped(claims.lifetime))


def read_back(text: str, now: datetime, whence: str) -> Token:
    """Return the token that was stored as `text`; who made it is not checked."""
    checked = _checked(text, whence)
    try:
        claims = jwt.decode(checked.reveal(), options={"verify_signature": False})
        issued, expires = (
            datetime.fromtimestamp(claims[key], now.tzinfo) for key in ("iat", "exp")
        )
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError, OSError):
        raise TokenError(whence, "what is there is no token with the claims iat and exp") from None
    return Token(checked, issued, expires)


def _checked(text: str, whence: str) -> Concealed[str]:
    # A newline at the end is how files end; anywhere else it would break the request.
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise TokenError(whence, "what is there is no token: three words joined by dots")
    return Concealed(token)


class Nobody:
    """No token: for a slurmrestd that knows its callers otherwise."""

    async def header(self) -> Mapping[str, str]:
        """Return no header."""
        return {}

    def forget(self) -> None:
        """Do nothing: there is nothing to forget."""


class Static:
    """A token that somebody else made and renews."""

    def __init__(self, text: str, whence: str) -> None:
        self._text = _checked(text, whence)

    async def header(self) -> Mapping[str, str]:
        """Return it."""
        return _Header({HEADER: self._text.reveal()})

    def forget(self) -> None:
        """Keep it: there is no other."""


class Signed:
    """Tokens that we sign, each used for most of its lifetime."""

    def __init__(
        self,
        signer: Signer,
        claims: Claims,
        now: Now,
        number: Callable[[], object] = uuid4,
    ) -> None:
        self._signer = signer
        self._claims = claims
        self._now = now
        self._number = number
        self._token: Token | None = None

    def __repr__(self) -> str:
        return f"Signed({self._claims.user!r} by {self._signer.whence})"

    async def header(self) -> Mapping[str, str]:
        """Return the token in use, or a new one."""
        now = self._now()
        if self._token is None or not self._token.fresh_at(now):
            self._token = issue(self._signer, self._claims, now, str(self._number()))
        return self._token.header()

    def forget(self) -> None:
        """Sign a new one next time."""
        self._token = None

    def rekey(self, signer: Signer) -> None:
        """Sign with another key from now on; the same key again changes nothing."""
        if signer != self._signer:
            self._signer = signer
            self.forget()


class Ran(Protocol):
    """What a program left behind."""

    @property
    def code(self) -> int:
        """Return its exit code."""
        ...

    @property
    def stdout(self) -> str:
        """Return what it printed."""
        ...

    @property
    def stderr(self) -> str:
        """Return what it complained about."""
        ...


Run = Callable[[Sequence[str]], Awaitable[Ran]]


class Standalone:
    """Tokens that `scontrol token` makes, where there is Slurm and no Kubernetes."""

    def __init__(
        self, run: Run, user: str, lifetime: timedelta, now: Now, scontrol: str = "scontrol"
    ) -> None:
        self._run = run
        self._lifetime = max(timedelta(seconds=1), clamped(lifetime))
        self._now = now
        seconds = int(self._lifetime.total_seconds())
        self._command = (scontrol, "token", f"username={user}", f"lifespan={seconds}")
        self._token: Token | None = None
        self._asking = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Standalone({' '.join(self._command)})"

    async def header(self) -> Mapping[str, str]:
        """Return the token in use, or a new one."""
        async with self._asking:  # many requests at once are one run of the program
            if self._token is None or not self._token.fresh_at(self._now()):
                self._token = await self._made()
            return self._token.header()

    def forget(self) -> None:
        """Ask the program next time."""
        self._token = None

    async def _made(self) -> Token:
        # Before the run, so that the token is never thought younger than it is.
        issued = self._now()
        ran = await self._run(self._command)
        command = " ".join(self._command)
        if ran.code != 0:
            said = " ".join(_TOKEN.sub("***", ran.stderr).split()) or "it says nothing"
            cure = "run it as root or SlurmUser where slurmctld's jwt_key is set"
            raise TokenError(command, f"exit code {ran.code}: {said}", cure=cure)
        printed = _PRINTED.search(ran.stdout)
        if not printed:
            cure = "check that this is Slurm's scontrol and that auth/jwt is set up"
            raise TokenError(command, "it printed no line SLURM_JWT=...", cure=cure)
        return Token(_checked(printed[1], command), issued, issued + self._lifetime)
