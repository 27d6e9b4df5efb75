"""Let what a busy line brings come in lumps, not each event on its own.

To be woken up costs twice what it costs to read an event. So while bytes come densely the
kernel keeps them back until there is a lump of them, and for no longer than a moment. A line that
is not busy is left alone: what comes after a pause is heard at once.
"""

import asyncio
import socket
from contextlib import suppress

LUMP_BYTES = 1 << 16  # half of a fresh socket's buffer, lest a full one holds the sender up
MOMENT_S = 0.02  # small beside the 0.1 s for which the queue gathers wake-ups


class Lumps:
    """Keeps back what comes on one connection."""

    def __init__(self, transport: asyncio.BaseTransport | None) -> None:
        self._socket = transport.get_extra_info("socket") if transport else None
        self._last = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def came(self) -> None:
        """Take note that something came; what follows is kept back if it came soon after other."""
        loop = asyncio.get_running_loop()
        now, before = loop.time(), self._last
        self._last = now
        if self._timer is None and now - before < MOMENT_S:
            self._wake_at(LUMP_BYTES)
            self._timer = loop.call_later(MOMENT_S, self._release)

    def end(self) -> None:
        """Keep nothing back any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._release()

    def _release(self) -> None:
        self._timer = None
        self._wake_at(1)  # Linux wakes us for what is there already

    def _wake_at(self, size: int) -> None:
        """Let the socket be readable from so many bytes on, or once its other end is closed."""
        if self._socket is not None:
            with suppress(OSError):  # closed by now; or a kind of socket that has no such mark
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
