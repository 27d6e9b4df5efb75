"""The line between a client and the fake API server, and all that can go wrong on it."""

import random
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import aiohttp

from shoal.kube.objects import Object
from shoal.runtime import clock

from .apiserver import Call, FakeApi
from .refusals import Refusal

Mangle = Callable[[Object], Iterable[Object]]


@dataclass(frozen=True)
class Lost:
    """No answer: the request never arrived, or `after` it was carried out the answer was lost."""

    after: bool = False
    at_once: bool = True  # a reset connection; else silence until the client gives up


@dataclass(frozen=True)
class Delayed:
    """An answer that takes its time."""

    seconds: float


@dataclass(frozen=True)
class Stale:
    """A read of what was true so many versions ago."""

    versions: int


Fault = Refusal | Lost | Delayed | Stale


@dataclass
class _Planned:
    fault: Fault
    verb: str
    resource: str
    wait: int  # requests of that kind that still go well
    times: int

    def fits(self, verb: str, resource: str) -> bool:
        return self.verb in ("", verb) and self.resource in ("", resource)


class CutError(aiohttp.ClientPayloadError):
    """The line was cut in the middle of a stream."""


@dataclass
class Network:
    """Brings requests to `api` and answers back. Everything is repeatable by `seed`."""

    api: FakeApi
    latency_s: tuple[float, float] = (0.001, 0.005)
    lag_s: tuple[float, float] = (0.001, 0.02)  # until a change is told to a watch
    seed: int = 0
    down: bool = False  # connections are refused
    mute: bool = False  # streams stay open and say nothing
    hasty: bool = False  # streams end as soon as they have begun
    mangler: Callable[[], Mangle] = field(default_factory=lambda: plain)
    served: int = 0  # requests that reached the server
    _planned: list[_Planned] = field(default_factory=list)
    _cuts: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def plan(
        self, fault: Fault, verb: str = "", resource: str = "", *, nth: int = 1, times: int = 1
    ) -> None:
        """Let the `nth` request of a kind from now on, and `times` in all, meet `fault`."""
        self._planned.append(_Planned(fault, verb, resource, nth - 1, times))

    def cut(self) -> None:
        """End all streams in the middle of whatever they say."""
        self._cuts += 1
        self.api.history.wake()

    def _pick(self, verb: str, resource: str) -> Fault | None:
        chosen: Fault | None = None
        for planned in self._planned:
            if planned.fits(verb, resource):
                if planned.wait:
                    planned.wait -= 1
                elif planned.times and chosen is None:
                    planned.times -= 1
                    chosen = planned.fault
        return chosen

    async def carry(
        self, understand: Callable[[], Call], verb: str, resource: str, patience_s: float
    ) -> tuple[int, Object]:
        """Return the answer to a request, or raise as a broken line does."""
        if self.down:
            raise aiohttp.ClientConnectionError("Connection refused")
        fault = self._pick(verb, resource)
        await clock.sleep(self._chance.uniform(*self.latency_s))
        match fault:
            case Refusal():
                raise fault
            case Lost(after=False):
                await self._lose(fault, patience_s)
            case Delayed(seconds):
                await clock.sleep(min(seconds, patience_s))
                if seconds >= patience_s:
                    raise TimeoutError
        self.served += 1
        answer = self.api.carry_out(understand(), fault.versions if isinstance(fault, Stale) else 0)
        await clock.sleep(self._chance.uniform(*self.latency_s))
        if isinstance(fault, Lost):
            await self._lose(fault, patience_s)
        return answer

    async def _lose(self, fault: Lost, patience_s: float) -> None:
        if fault.at_once:
            raise aiohttp.ServerDisconnectedError
        await clock.sleep(patience_s)
        raise TimeoutError

    async def events(self, events: AsyncIterator[Object | None]) -> AsyncIterator[Object]:
        """Yield the events of a watch as they arrive, until the line is cut."""
        cuts, mangle = self._cuts, self.mangler()
        async for event in events:
            if self.hasty:
                return
            if self._cuts != cuts or self.down:
                raise CutError("Response payload is not completed")
            if event is None:
                continue
            await clock.sleep(self._chance.uniform(*self.lag_s))
            for told in mangle(event) if event["type"] != "ERROR" else (event,):
                yield told


# -- what a line may do to the events of a watch; each stream has a mangler of its own


def plain() -> Mangle:
    """Tell everything as it is."""
    return lambda event: (event,)


def twice() -> Mangle:
    """Tell everything twice."""
    return lambda event: (event, event)


def swapped() -> Mangle:
    """Tell every two neighbours in the wrong order."""
    held: list[Object] = []

    def mangle(event: Object) -> Iterable[Object]:
        held.append(event)
        if len(held) < 2:
            return ()
        both, held[:] = list(reversed(held)), []
        return both

    return mangle


def cut_after(count: int) -> Callable[[], Mangle]:
    """Cut every stream after so many events."""

    def made() -> Mangle:
        told = 0

        def mangle(event: Object) -> Iterable[Object]:
            nonlocal told
            told += 1
            yield event
            if told == count:
                raise CutError("Response payload is not completed")

        return mangle

    return made


def gap_at(network: "Network", count: int) -> Callable[[], Mangle]:
    """Lose the so-manyeth event of every stream for good: it is cut, and the history is gone."""

    def made() -> Mangle:
        told = 0

        def mangle(event: Object) -> Iterable[Object]:
            nonlocal told
            told += 1
            if told == count:
                network.api.history.compact()
                raise CutError("Response payload is not completed")
            yield event

        return mangle

    return made
