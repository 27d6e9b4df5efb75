"""The port: every effect of this process goes through here, one after the other or side by side.

An effect is a Kubernetes write, a Slurm call, a file, a program. A port decides whether it is
carried out: the real one asks whether we still lead; a test's counts, delays, fails, lies, or
crashes the process after effect number k.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from . import clock
from .errors import DeposedError

Effect = Callable[[], Awaitable[Any]]


class Port(Protocol):
    """Carries effects out. Its shape is what the clients take as their gate."""

    async def __call__(self, name: str, effect: Effect) -> Any:  # noqa: ANN401 - what the effect returns
        """Carry `effect` out, or raise instead; `name` says what it is, for people and tests."""
        ...


class Fence:
    """How long this process may act, as its Lease says."""

    def __init__(self) -> None:
        self._until = float("-inf")

    def extend(self, until: float) -> None:
        """Allow effects until then, on the event loop's clock."""
        self._until = until

    def close(self) -> None:
        """Allow none from now on."""
        self._until = float("-inf")

    def check(self) -> None:
        """Raise unless effects are allowed now."""
        if self.left_s <= 0:
            raise DeposedError("not sent, this process does not lead")

    @property
    def left_s(self) -> float:
        """Return the seconds that are left."""
        return self._until - clock.ticks()


class Fenced:
    """The real port: only a leader's effects pass, and none that could end after its time."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def __call__(self, name: str, effect: Effect) -> Any:  # noqa: ANN401 - as in Port
        """Carry `effect` out within the time that is left to us."""
        # Checked at the last moment: a process that was frozen wakes up with its time over.
        left_s = self._fence.left_s
        if left_s <= 0:
            raise DeposedError(f"{name}: not carried out, this process does not lead")
        try:
            async with asyncio.timeout(left_s):
                return await effect()
        except TimeoutError as late:
            if self._fence.left_s > 0:
                raise
            raise DeposedError(f"{name}: cut short, this process no longer leads") from late
