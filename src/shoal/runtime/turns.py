"""So many at once, and fair: whoever wants a thousand turns does not keep others from their one."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """A bound on what runs side by side; those who wait are served in rotation, not by arrival."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        """Hold one turn of `who`'s for a block."""
        await self._take(who)
        try:
            yield
        finally:
            self._give()

    async def _take(self, who: Hashable) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        self._pass_on()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give()  # it came in the same moment
            raise

    def _give(self) -> None:
        self._free += 1
        self._pass_on()

    def _pass_on(self) -> None:
        while self._free and self._waiting:
            who, line = next(iter(self._waiting.items()))
            # To the end of the rotation, or out of it.
            del self._waiting[who]
            turn = line.popleft()
            if line:
                self._waiting[who] = line
            if not turn.done():
                self._free -= 1
                turn.set_result(None)
