"""ControllerRevisions of ours: data without a kind, numbers that move, and an owner that comes."""

import pytest

from shoal.decide.revisions import Past, RenumberRevision, revise
from shoal.kube import kinds
from shoal.kube.objects import Resource, owner_reference
from shoal.kube.revisions import HASH, ControllerRevision
from shoal.kubeapi.client import Demand
from shoal.kubeapi.errors import InvalidError
from shoal.model.nodeset import NodeSet
from shoal.model.part import Part

SELECTOR = {"app": "w"}
NODESET = NodeSet(Part("w", "", SELECTOR, SELECTOR), "w", "w-", "s", "b")
DATA = {"spec": {"hostNetwork": True, "x": [1, {"y": 0.5}]}, "padding": 3, "ssh": None}
REVISION = kinds.CONTROLLER_REVISION


def revision(api, number: int = 1):
    meta = {"name": "w-abc", "namespace": api.namespace, "labels": {**SELECTOR, HASH: "abc"}}
    return {
        "apiVersion": REVISION.api_version,
        "kind": REVISION.kind,
        "metadata": meta,
        "revision": number,
        "data": DATA,
    }


async def seen(api) -> ControllerRevision:
    return await api.client.get(api.ref(REVISION, "w-abc"), ControllerRevision)


async def test_what_is_stored_is_found_again_by_what_it_says(api):
    owner = await api.create(api.parent(replicas=1))
    made = revision(api)
    made["metadata"]["ownerReferences"] = [owner_reference(owner)]
    await api.client.apply(REVISION, made, dict)
    found = await seen(api)
    assert (found.hash, found.revision, found.data) == ("abc", 1, DATA)
    revised = revise(NODESET, owner["metadata"]["uid"], DATA, Past((found,), ("abc",)))
    assert (revised.update, revised.plan) == ("abc", ())


async def test_an_orphan_gets_an_owner_and_a_number_by_one_patch(api):
    owner = await api.create(api.parent(replicas=1))
    await api.create(revision(api))
    (action,) = revise(NODESET, owner["metadata"]["uid"], DATA, Past((await seen(api),), ())).plan
    assert isinstance(action, RenumberRevision)
    meta = {"uid": action.uid, "ownerReferences": [owner_reference(owner)]}
    change = {"metadata": meta, "revision": action.number + 4}
    await api.client.patch(api.ref(REVISION, "w-abc"), change, dict)
    found = await seen(api)
    assert found.revision == 5
    assert revise(NODESET, owner["metadata"]["uid"], DATA, Past((found,), ())).plan == ()


async def test_what_a_revision_says_cannot_be_changed(api):
    await api.create(revision(api))
    with pytest.raises(InvalidError):
        await api.client.patch(api.ref(REVISION, "w-abc"), {"data": {"padding": 4}}, dict)


async def test_a_revision_is_deleted_by_its_uid(api):
    made = await api.create(revision(api))
    demand = Demand(uid=made["metadata"]["uid"])
    assert await api.client.delete(api.ref(REVISION, "w-abc"), Resource, demand) is None
