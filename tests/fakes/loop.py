"""Virtual time: an event loop whose clock jumps to the next timer when nothing else is left to do.

A test module says `LOOP = VirtualLoop` to have its coroutines run on it; see tests/**/conftest.py.
Sockets work, but no time passes while the loop waits for one; threads are not waited for.
"""

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

START_S = 1000.0
# A timer this far away is one that never comes (asyncio.timeout(inf) is such a one).
HORIZON_S = 366 * 24 * 3600.0


class DeadlockError(Exception):
    """Every task waits for another, or for something that never comes."""


class _Impatient(selectors.DefaultSelector):
    """Looks at the sockets, and instead of waiting for them moves the clock."""

    now = START_S

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.now > HORIZON_S:
            raise DeadlockError(f"nothing will ever happen again (at {self.now:g} s)")
        self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """The event loop; an hour of sleep takes no time at all."""

    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    def time(self) -> float:
        """Return the virtual time."""
        return self._impatient.now

    def freeze(self, seconds: float) -> None:
        """Let time pass while nothing runs, as SIGSTOP and SIGCONT do to a process."""
        self._impatient.now += seconds


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Run `scenario` in virtual time, for tests that are no coroutines (hypothesis)."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(scenario)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, Any]:
    """Give every coroutine the loop that its module names; a conftest imports this hook."""
    return {"loop": getattr(item.module, "LOOP", asyncio.new_event_loop)}
