"""Requests in slurmrestd's terms, and what each answer means."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

import msgspec

from .errors import Problem, UnreadableError, failure, refusal
from .numbers import Number
from .tokens import Tokens
from .transport import QUICK, Answer, Limits, Message, Transport
from .versions import Capability, path_of

Observe = Callable[[str, str, int, float], None]  # method, family, HTTP code (0: none), seconds

LONGEST_ABOUT = 80


def unobserved(*_: object) -> None:
    """Take no notice of a request."""


class Tree(Enum):
    """Slurm's two REST trees: slurmctld's and slurmdbd's."""

    SLURM = "slurm"
    SLURMDB = "slurmdb"


@dataclass(frozen=True)
class Request:
    """One request; `path` is what follows the version, percent-encoded."""

    method: str
    path: str
    family: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = field(default=None, repr=False)
    tree: Tree = Tree.SLURM
    limits: Limits = QUICK
    needs: Capability | None = None
    absent: tuple[int, ...] = ()  # error numbers that here mean "there is no such thing"
    about: str = ""  # whom it is about, where the path does not say
    user: str = ""  # whom to act as; only SlurmUser's and root's tokens may
    write: bool = False
    again: bool = True  # may be sent again with a new token or version after it was turned away

    def __str__(self) -> str:
        """Return it as errors, logs and the gate name it: `POST /node/w-1`."""
        tree = "" if self.tree is Tree.SLURM else "/slurmdb"
        about = self.about if len(self.about) <= LONGEST_ABOUT else self.about[:LONGEST_ABOUT] + "…"
        return f"{self.method} {tree}/{self.path}" + (f" {about}" if about else "")


class SlurmVersion(msgspec.Struct, frozen=True, gc=False):
    """Which Slurm answered."""

    release: str = ""
    cluster: str = ""


class Meta(msgspec.Struct, frozen=True, gc=False):
    """What every answer says of its sender."""

    slurm: SlurmVersion = SlurmVersion()


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """What every answer has."""

    meta: Meta = Meta()
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


class Dated(Envelope, frozen=True, gc=False):
    """What lists have on top: when, on slurmctld's clock, they were made."""

    last_update: Number = Number()


E = TypeVar("E", bound=Envelope)
T = TypeVar("T")


def decoded(request: Request, answer: Answer, decoder: msgspec.json.Decoder[E]) -> E:
    """Return a good answer's content; a 200 that lists errors is an error."""
    # 204 and 304: nothing to say, nothing to change. Only a write may be answered so.
    if answer.code in (204, 304) and request.write:
        return decoder.decode(b"{}")
    try:
        envelope = decoder.decode(answer.body)
    except msgspec.DecodeError as error:
        raise UnreadableError(str(request), f"HTTP {answer.code}, {error}") from error
    if envelope.errors:
        raise refusal(str(request), envelope.errors, request.absent)
    return envelope


def present(request: Request, items: T | msgspec.UnsetType) -> T:
    """Return what was asked for: a list that is missing is not an empty one."""
    if isinstance(items, msgspec.UnsetType):
        raise UnreadableError(str(request), "the answer does not hold what was asked for")
    return items


class Wire:
    """Sends requests with a token, observes them, and raises what an answer means."""

    def __init__(self, transport: Transport, tokens: Tokens, observe: Observe = unobserved) -> None:
        self.transport = transport
        self.tokens = tokens
        self._observe = observe

    async def once(self, request: Request, version: int) -> Answer:
        """Return the answer to `request`, sent once; HTTP codes from 400 on are raised."""
        call = str(request)
        message = Message(
            request.method,
            f"/{request.tree.value}/{path_of(version)}/{request.path}",
            request.query,
            await self._headers(request),
            None if request.body is None else msgspec.json.encode(request.body),
            request.write,
        )
        code, began = 0, asyncio.get_running_loop().time()
        try:
            answer = await self.transport.exchange(call, message, request.limits)
            code = answer.code
        finally:
            took_s = asyncio.get_running_loop().time() - began
            self._observe(request.method, request.family, code, took_s)
        if code >= 400:
            raise failure(call, code, answer.body, request.absent)
        return answer

    async def _headers(self, request: Request) -> dict[str, str]:
        headers = {"Accept": "application/json", **await self.tokens.header()}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.user:
            headers["X-SLURM-USER-NAME"] = request.user
        return headers
