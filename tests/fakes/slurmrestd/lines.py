"""A port on this machine, and what is said on each line to it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from shoal.runtime import clock

HOST = "127.0.0.1"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """Talks on every line until it is stopped, and leaves none open; a context manager."""

    def __init__(self, talk: Talk, port: int = 0) -> None:
        self.port = port
        self.lines = 0  # so far
        self._talk = talk
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._begin, HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, and cut all lines."""
        if self._server is None:
            return
        self._server.close()
        left = dict(self._open)
        for talk, writer in left.items():
            talk.cancel()
            writer.transport.abort()
        await asyncio.gather(*left, return_exceptions=True)
        await clock.sleep(0)  # the turn in which the sockets are closed
        await self._server.wait_closed()
        self._server = None

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines += 1
        talk = asyncio.create_task(self._until_the_end(reader, writer))
        self._open[talk] = writer
        talk.add_done_callback(self._open.pop)

    async def _until_the_end(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            # A caller that is gone is no error of ours.
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._talk(reader, writer)
        finally:
            writer.transport.abort()
