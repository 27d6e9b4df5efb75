"""What a write says to the API server."""

from collections.abc import Callable

import aiohttp
from aiohttp.abc import AbstractStreamWriter


class Body(aiohttp.BytesPayload):
    """A body that asks once more whether it may, right before it leaves."""

    def __init__(self, content: bytes, may_send: Callable[[], None]) -> None:
        super().__init__(content)
        self._may_send = may_send

    async def write_with_length(
        self, writer: AbstractStreamWriter, content_length: int | None
    ) -> None:
        """Write it, if it still may leave."""
        self._may_send()
        await super().write_with_length(writer, content_length)
