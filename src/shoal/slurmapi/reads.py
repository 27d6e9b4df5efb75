"""Shared reads of the node list: one request serves all who ask, and none is made for no news.

A list of 10,000 nodes is 25 MB and 1.5 s; asking whether anything changed is 8 ms. slurmctld counts
in seconds and calls a change in the very second of the last list a change, so none is missed.

`taken_at` is when a list was asked for, not when it came: whatever had been done by then is in it.
"Newer than our drain" means that `taken_at` is later than the end of our drain.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from . import controller, nodes
from .client import Client
from .errors import RefusedError, SlurmError
from .flights import Flight
from .nodes import Listing, Node

PERIOD_S = 5.0
# A list keeps one thread of slurmrestd busy; with this it is idle nine tenths of the time.
SHARE = 10
# slurmctld's clock may be set back, and then "no change" is said of changes. Not for longer than
# this.
WHOLE_S = 300.0
# Writes to these may change nodes at once.
TOUCHING = (nodes.FAMILY, controller.FAMILY)


@dataclass(frozen=True)
class NodeSnapshot:
    """All nodes as slurmctld knew them at one time."""

    nodes: Mapping[str, Node]
    taken_at: float  # on the loop's clock
    listed_at: float  # when the list itself was read; since then nothing had changed
    last_update: int | None  # on slurmctld's clock

    def newer_than(self, moment: float) -> bool:
        """Say whether all that ended by `moment`, on the loop's clock, is in it."""
        return self.taken_at > moment


class NodeReads:
    """The node list of one cluster, read at most once a period.

    The period is longer where a list takes long, unless somebody needs a newer one; a period of 0
    keeps nothing.
    """

    def __init__(self, client: Client, period_s: float = PERIOD_S) -> None:
        self._client = client
        self._shortest_s = period_s
        self._period_s = period_s
        self._kept: NodeSnapshot | None = None
        self._flight = Flight(self._read)

    async def nodes(self, newer_than: float = float("-inf")) -> NodeSnapshot:
        """Return the nodes of at most a period ago, with all that we wrote and that is older."""
        floor = max(newer_than, self._client.written_at(*TOUCHING))
        now = asyncio.get_running_loop().time()
        kept = self._kept
        if kept and kept.newer_than(floor) and now - kept.taken_at < self._period_s:
            return kept
        if self._flight.under_way and self._flight.began <= floor:
            # It set out too early for us. What becomes of it is the others' concern.
            with suppress(SlurmError):
                await self._flight.join()
        return await self._flight.join()

    async def close(self) -> None:
        """Read no more."""
        await self._flight.stop()

    async def _read(self) -> NodeSnapshot:
        began = asyncio.get_running_loop().time()
        kept = self._kept
        if kept is None or not self._may_probe(kept, began):
            listing: Listing | None = await self._client.nodes.all()
        else:
            listing = await self._news(kept)
        if listing is None:
            assert kept is not None
            self._kept = replace(kept, taken_at=began)
        else:
            took_s = asyncio.get_running_loop().time() - began
            self._period_s = max(self._shortest_s, SHARE * took_s) if self._shortest_s else 0.0
            named = {node.name: node for node in listing.nodes}
            self._kept = NodeSnapshot(named, began, began, listing.last_update)
        return self._kept

    def _may_probe(self, kept: NodeSnapshot, now: float) -> bool:
        # After a write of ours "no change" would be a lie, so it is not asked for.
        wrote = not kept.newer_than(self._client.written_at(*TOUCHING))
        return kept.last_update is not None and not wrote and now - kept.listed_at < WHOLE_S

    async def _news(self, kept: NodeSnapshot) -> Listing | None:
        """Return the nodes, or None when nothing changed."""
        assert kept.last_update is not None
        try:
            return await self._client.nodes.since(kept.last_update)
        except RefusedError:
            # 24.11 answers 500 with error number -1 when nodes changed and partitions did not.
            return await self._client.nodes.all()
