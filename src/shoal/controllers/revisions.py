"""Keeps the revisions of NodeSets: what their workers were made of, now and before."""

from collections.abc import Sequence
from contextlib import suppress

from ..decide.plan import Action
from ..decide.revisions import (
    CreateRevision,
    DeleteRevision,
    Past,
    RenumberRevision,
    Revised,
    revise,
)
from ..kube import kinds
from ..kube.objects import Object, owner_reference
from ..kube.revisions import ControllerRevision
from ..kubeapi.client import Demand, Ref
from ..kubeapi.errors import NotFoundError
from ..model.nodeset import NodeSet
from ..model.workers import Worker
from ..render import revisions as render
from .passes import Hands

KIND = kinds.CONTROLLER_REVISION


async def keep(
    hands: Hands, owner: Object, nodeset: NodeSet, workers: Sequence[Worker], collisions: int
) -> Revised:
    """Keep what the user wants now, and forget what is too old; return which revision is which."""
    found = hands.world.every(KIND, nodeset.part.namespace)
    past = Past(found, [worker.revision for worker in workers], collisions)
    revised = revise(nodeset, owner["metadata"]["uid"], render.data(nodeset), past)
    for action in revised.plan:
        with suppress(NotFoundError):  # somebody has deleted it meanwhile
            await _carry_out(hands, owner, nodeset, action)
    return revised


async def _carry_out(hands: Hands, owner: Object, nodeset: NodeSet, action: Action) -> None:
    client, store = hands.client, hands.world.stores[KIND]
    space = nodeset.part.namespace
    match action:
        case CreateRevision(name=name, hash=hashed, number=number):
            made = render.revision(nodeset, name, hashed, number)
            made["metadata"]["ownerReferences"] = [owner_reference(owner)]
            store.put(await client.create(KIND, made, ControllerRevision))
        case RenumberRevision(name=name, uid=uid, number=number, adopt=adopt):
            meta: Object = {"uid": uid}
            if adopt:
                meta["ownerReferences"] = [owner_reference(owner)]
            change = {"metadata": meta, "revision": number}
            store.put(await client.patch(Ref(KIND, space, name), change, ControllerRevision))
        case DeleteRevision(name=name, uid=uid):
            await client.delete(Ref(KIND, space, name), ControllerRevision, Demand(uid=uid))
            store.removed_by_us((space, name), uid)
        case _:
            raise AssertionError(action)
