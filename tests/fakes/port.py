"""A port that counts every effect, and at effect number k crashes, fails, delays or lies."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shoal.runtime import clock
from shoal.runtime.port import Effect, Port


@dataclass(frozen=True)
class Crash:
    """The process ends: right after the effect, or right before it."""

    before: bool = False


@dataclass(frozen=True)
class Fail:
    """The effect is not carried out."""

    error: Exception


@dataclass(frozen=True)
class FailAfter:
    """The effect is carried out, and told as failed."""

    error: Exception


@dataclass(frozen=True)
class Wait:
    """The effect is carried out late."""

    seconds: float


@dataclass(frozen=True)
class Lie:
    """The effect is not carried out, and told as done."""

    answer: Any


Trick = Crash | Fail | FailAfter | Wait | Lie


@dataclass
class Harness:
    """Stands before another port (or none) of one process. Effects are numbered from 1."""

    tricks: dict[int, Trick] = field(default_factory=dict)
    effects: list[str] = field(default_factory=list)  # as they began
    done: list[str] = field(default_factory=list)  # those that the world has seen
    inner: Port | None = None
    crashed: asyncio.Event = field(default_factory=asyncio.Event)

    def before(self, port: Callable[[Any], Port]) -> Callable[[Any], Port]:
        """Return how a process that has `port` gets this one before it."""

        def made(fence: Any) -> Port:
            self.inner = port(fence)
            return self

        return made

    async def __call__(self, name: str, effect: Effect) -> Any:
        """Carry `effect` out, or do to it what is planned for its number."""
        if self.crashed.is_set():
            await self._dead()
        self.effects.append(name)
        match trick := self.tricks.get(len(self.effects)):
            case Fail(error):
                raise error
            case Lie(answer):
                return answer
            case Wait(seconds):
                await clock.sleep(seconds)
            case Crash(before=True):
                await self._dead()
        answer = await (self.inner(name, effect) if self.inner else effect())
        self.done.append(name)
        match trick:
            case Crash():
                await self._dead()
            case FailAfter(error):
                raise error
        return answer

    async def _dead(self) -> None:
        """Never return: what a crashed process would do next does not happen."""
        self.crashed.set()
        await asyncio.get_running_loop().create_future()
