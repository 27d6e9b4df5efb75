"""One task at a time, shared by all who ask while it runs."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Flight(Generic[T]):
    """Work that is done once for everybody who waits for it.

    Whoever stops waiting does not stop the work: others may still want it, and it has an end of
    its own.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self.began = float("-inf")  # on the loop's clock, the one under way or the last

    @property
    def under_way(self) -> bool:
        """Return whether somebody started it and it has not ended."""
        return self._task is not None and not self._task.done()

    async def join(self) -> T:
        """Return its result; start it when it is not under way."""
        if self._task is None or self._task.done():
            self.began = asyncio.get_running_loop().time()
            self._task = asyncio.create_task(self._work())
            self._task.add_done_callback(_looked_at)
        return await asyncio.shield(self._task)

    async def stop(self) -> None:
        """End it."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])


def _looked_at(task: asyncio.Task[Any]) -> None:
    # Nobody may be left to see its error; asyncio would log that.
    if not task.cancelled():
        task.exception()
