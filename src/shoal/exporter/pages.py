"""What a scrape gets, prepared: each collector's text, plain and packed, until it has a newer one.

The packed parts are put behind each other as they are: a gzip file may have several members
(RFC 1952, 2.2), so a small collector's news do not pack the large ones' text again.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from ..runtime import clock
from .catalogue import Collector

# Between two turns of others, so that a scrape does not wait for a collection to end.
TURN_S = 0.0002
# Of the event loop, for others: one to read a request, one to answer it, one to spare. With fewer a
# scrape would wait for a turn of ours at each step.
PASSES = 3
FASTEST = 1  # zlib's level: text like this still becomes a tenth or less
GZIP = 16 + zlib.MAX_WBITS
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Part:
    """One collector's text."""

    plain: tuple[bytes, ...] = ()
    packed: tuple[bytes, ...] = ()
    series: int = 0


async def prepared(pieces: Iterator[str]) -> Part:
    """Return text as it will be served; others have their turns while it is made."""
    plain, some, size, series = list[bytes](), list[bytes](), 0, 0
    async for piece in _in_turns(pieces):
        # What cannot be written in UTF-8 came broken from Slurm; the rest is still worth telling.
        data = piece.encode(errors="replace")
        some.append(data)
        size += len(data)
        # A head is two lines, and stands only at the beginning of a piece.
        series += piece.count("\n") - (2 if piece.startswith("# ") else 0)
        if size > CHUNK_BYTES:
            plain.append(b"".join(some))
            some, size = [], 0
    plain.append(b"".join(some))
    # zlib lets others work beside it, so what takes long is packed in a thread.
    packed = _packed(plain) if len(plain) == 1 else await asyncio.to_thread(_packed, plain)
    return Part(tuple(plain), packed, series)


async def _in_turns(pieces: Iterator[str]) -> AsyncIterator[str]:
    turn = clock.ticks()
    for piece in pieces:
        yield piece
        if clock.ticks() - turn > TURN_S:
            for _ in range(PASSES):
                await clock.sleep(0)
            turn = clock.ticks()


def _packed(chunks: Sequence[bytes]) -> tuple[bytes, ...]:
    packer = zlib.compressobj(FASTEST, zlib.DEFLATED, GZIP)
    return tuple(filter(None, (*map(packer.compress, chunks), packer.flush())))


class Page:
    """All parts, in the order of the collectors."""

    def __init__(self) -> None:
        self._parts: dict[Collector, Part] = {}

    def put(self, name: Collector, part: Part) -> None:
        """Show this of a collector from now on."""
        self._parts[name] = part

    def drop(self, name: Collector) -> None:
        """Show nothing of a collector from now on."""
        self._parts.pop(name, None)

    @property
    def series(self) -> int:
        """Return how many series there are."""
        return sum(part.series for part in self._parts.values())

    def plain(self) -> bytes:
        """Return everything as it is."""
        return b"".join(piece for part in self._ordered() for piece in part.plain)

    def packed(self) -> bytes:
        """Return everything as gzip."""
        parts = [piece for part in self._ordered() for piece in part.packed]
        # No member at all is no gzip file.
        return b"".join(parts) if parts else zlib.compress(b"", FASTEST, GZIP)

    def sizes(self) -> tuple[int, int]:
        """Return how large it is, plain and packed."""
        parts = self._parts.values()
        plain = sum(len(piece) for part in parts for piece in part.plain)
        return plain, sum(len(piece) for part in parts for piece in part.packed)

    def _ordered(self) -> Iterator[Part]:
        return (self._parts[name] for name in Collector if name in self._parts)
