"""Notices what changes in Slurm, which tells nobody: a cheap question to each, now and then.

One question answers for all NodeSets of a cluster, and none is asked per worker. A cluster that is
slow to answer delays no other one.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..kube.objects import Key
from ..runtime import clock
from ..runtime.queue import Queue
from .slurms import Nodes, Slurm, Slurms, now

TICK_S = 0.5
# Between two questions: where a list is long, a change may take three times as long to be seen.
SMALL, SMALL_S, LARGE_S = 1000, 4.0, 15.0


@dataclass
class Pulse:
    """Wakes whoever has to do with a cluster when its nodes have changed."""

    slurms: Slurms
    users: Callable[[Key], Iterable[Key]]  # of a cluster, by its namespace and name
    _asked: dict[Key, float] = field(default_factory=dict)
    _told: dict[Key, Nodes | None] = field(default_factory=dict)
    _asking: dict[Key, "asyncio.Task[None]"] = field(default_factory=dict)

    async def run(self, queue: Queue[Key]) -> None:
        """Ask until cancelled."""
        try:
            while True:
                self._beat(queue)
                await clock.sleep(TICK_S)
        finally:
            for task in self._asking.values():
                task.cancel()

    def _beat(self, queue: Queue[Key]) -> None:
        for where, slurm in self.slurms:
            due = self._asked.get(where, float("-inf")) + period(slurm)
            if where not in self._asking and now() >= due:
                self._asked[where] = now()
                self._asking[where] = asyncio.create_task(self._ask(where, slurm, queue))

    async def _ask(self, where: Key, slurm: Slurm, queue: Queue[Key]) -> None:
        try:
            # Whatever somebody else was told in the last moment is new enough.
            seen = await slurm.nodes(newer_than=now() - TICK_S)
            if seen is not self._told.get(where):
                self._told[where] = seen
                for key in self.users(where):
                    queue.add(key)
        finally:
            del self._asking[where]


def period(slurm: Slurm) -> float:
    """Return the seconds between two questions."""
    return SMALL_S if len(slurm.seen or ()) <= SMALL else LARGE_S
