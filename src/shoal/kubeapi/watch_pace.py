"""The pace of a watch: what follows an event closely is read together with what follows that.

The API server writes each event on its own, and in pieces. Awake for each of them we would spend
more on waking up than on the events. It is the kernel that waits for us: a transport of asyncio
that is told to pause goes on reading below TLS.

Where events do not end for seconds, as when thousands of pods come up one after the other, the
moments become longer, until there is one without an event.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import aiohttp

from .lines import transport_of

# A fifth of what a queue waits for more of the same: a pass begins that much later.
PAUSE_S = 0.02
# It takes two seconds of events without a gap to get there, as only thousands of objects have them.
GROWTH, LONGEST_S = 1.1, 0.2
ENOUGH_BYTES = 1 << 18  # as much as asyncio reads at once: worth waking up for sooner


class Pace:
    """Holds one line back for a moment at a time; one that has no socket is left as it is."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        transport = transport_of(answer)
        self._socket: Any = transport.get_extra_info("socket") if transport is not None else None
        self._timer: asyncio.TimerHandle | None = None
        self._pause_s = PAUSE_S
        self._released = float("-inf")

    def hold(self) -> None:
        """Read on when there is enough, or in a moment; the end of a line is seen at once."""
        if self._socket is None or self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        goes_on = loop.time() - self._released < self._pause_s
        self._pause_s = min(GROWTH * self._pause_s, LONGEST_S) if goes_on else PAUSE_S
        self._wake_at(ENOUGH_BYTES)
        self._timer = loop.call_later(self._pause_s, self._release)

    def end(self) -> None:
        """Hold back no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._release()

    def _release(self) -> None:
        self._timer = None
        self._released = asyncio.get_running_loop().time()
        self._wake_at(1)

    def _wake_at(self, size: int) -> None:
        # Linux looks anew at what has come when this is set. Of a line that is lost it is no news.
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
