"""Keeps what a cluster cannot do without until the NodeSets that are deleted with it are gone.

Workers are drained before they end, and for that slurmctld and slurmrestd have to be there. A
NodeSet that stays holds nothing: its jobs run on without a slurmctld, and a new one knows them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..runtime.controller import Done, Reconcile
from ..runtime.finalizers import hold, release
from .passes import Hands


@dataclass(frozen=True)
class Holding:
    """Dependencies of a reconciler that holds its objects."""

    hands: Hands
    kind: Kind
    finalizer: str
    needed: Callable[[Resource], bool]  # whether NodeSets that are deleted still need it
    then: Reconcile

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        store = self.hands.world.stores[self.kind]
        obj = store.get(key)
        if obj is not None and obj.deleting:
            if not self.needed(obj):
                await release(self.hands.client, store, obj, self.finalizer)
        elif obj is not None:
            await hold(self.hands.client, store, obj, self.finalizer)
        return await self.then(key)
