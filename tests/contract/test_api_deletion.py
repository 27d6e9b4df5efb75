"""How objects end."""

import pytest

from shoal.kube import kinds
from shoal.kube.objects import Resource, owner_reference
from shoal.kubeapi.client import Demand
from shoal.kubeapi.errors import ConflictError, InvalidError, NotFoundError

from .apis import PARENT


async def delete(api, kind, name, **demand):
    return await api.client.delete(api.ref(kind, name), Resource, Demand(**demand))


async def test_an_object_that_nothing_holds_is_gone_at_once(api):
    await api.create(api.config_map("a"))
    assert await delete(api, kinds.CONFIG_MAP, "a") is None
    assert await api.gone(kinds.CONFIG_MAP, "a")


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (kinds.SERVICE, {"spec": {"ports": [{"port": 80}]}}),
        (kinds.SERVICE_ACCOUNT, {}),
        (kinds.SECRET, {}),
        (kinds.POD, {"spec": {"containers": [{"name": "c", "image": "x"}]}}),
        (PARENT, {"spec": {}}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
async def test_what_is_gone_is_told_as_gone_whatever_the_answer_looks_like(api, kind, parts):
    await api.create(api.obj(kind, "a", **parts))
    assert await delete(api, kind, "a") is None
    assert await api.gone(kind, "a")


async def test_what_is_not_there_cannot_be_deleted(api):
    with pytest.raises(NotFoundError):
        await delete(api, kinds.CONFIG_MAP, "a")
    assert await api.gone(kinds.CONFIG_MAP, "a")


async def test_only_that_very_object_is_deleted(api):
    made = await api.create(api.config_map("a"))
    with pytest.raises(ConflictError, match="UID in the precondition"):
        await delete(api, kinds.CONFIG_MAP, "a", uid="11111111-1111-1111-1111-111111111111")
    assert not await api.gone(kinds.CONFIG_MAP, "a")
    assert await delete(api, kinds.CONFIG_MAP, "a", uid=made["metadata"]["uid"]) is None


async def test_only_an_object_as_it_was_seen_is_deleted(api):
    seen = await api.create(api.config_map("a", x="1"))
    await api.client.patch(api.ref(kinds.CONFIG_MAP, "a"), {"data": {"x": "2"}}, dict)
    with pytest.raises(ConflictError, match="ResourceVersion in the precondition"):
        await delete(api, kinds.CONFIG_MAP, "a", version=seen["metadata"]["resourceVersion"])
    assert not await api.gone(kinds.CONFIG_MAP, "a")


async def held(api, name="p"):
    obj = api.parent(name, replicas=1)
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    return await api.create(obj)


async def test_a_finalizer_keeps_an_object_and_its_end_is_marked(api):
    await held(api)
    left = await delete(api, PARENT, "p")
    assert left is not None
    assert left.deleting
    assert left.metadata.finalizers == ("example.com/hold",)
    found = await api.get(PARENT, "p")
    assert found["metadata"]["deletionGracePeriodSeconds"] == 0
    assert found["metadata"]["generation"] == 2


async def test_deleting_twice_changes_nothing_more(api):
    await held(api)
    first, second = [await delete(api, PARENT, "p") for _ in range(2)]
    assert first == second


async def test_with_its_last_finalizer_an_object_goes(api):
    await held(api)
    await delete(api, PARENT, "p")
    await api.client.patch(api.ref(PARENT, "p"), {"metadata": {"finalizers": None}}, dict)
    assert await api.gone(PARENT, "p")


async def test_with_its_last_finalizer_no_longer_applied_an_object_goes(api):
    obj = api.parent(replicas=1)
    await api.apply("one", {**obj, "metadata": {**obj["metadata"], "finalizers": ["x/y"]}})
    await delete(api, PARENT, "p")
    await api.apply("one", obj)
    assert await api.gone(PARENT, "p")


async def test_no_finalizer_is_added_to_an_object_that_ends(api):
    await held(api)
    await delete(api, PARENT, "p")
    more = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    with pytest.raises(InvalidError, match="no new finalizers can be added"):
        await api.client.patch(api.ref(PARENT, "p"), more, dict)
    assert (await api.get(PARENT, "p"))["metadata"]["finalizers"] == ["example.com/hold"]


async def test_an_object_that_ends_can_still_be_changed(api):
    await held(api)
    await delete(api, PARENT, "p")
    changed = await api.client.patch(api.ref(PARENT, "p"), {"spec": {"word": "x"}}, dict)
    assert changed["spec"]["word"] == "x"
    assert "deletionTimestamp" in changed["metadata"]


async def test_a_pod_on_a_node_is_given_time_to_end(api):
    await api.create(api.pod("w", nodeName="n1", terminationGracePeriodSeconds=7))
    left = await delete(api, kinds.POD, "w")
    assert left is not None
    assert left.deleting
    assert (await api.get(kinds.POD, "w"))["metadata"]["deletionGracePeriodSeconds"] == 7


async def test_a_pod_that_is_not_given_time_is_gone_at_once(api):
    await api.create(api.pod("w", nodeName="n1"))
    assert await delete(api, kinds.POD, "w", grace_s=0) is None
    assert await api.gone(kinds.POD, "w")


async def test_a_pod_that_ends_can_be_hurried(api):
    await api.create(api.pod("w", nodeName="n1"))
    await delete(api, kinds.POD, "w")
    assert await delete(api, kinds.POD, "w", grace_s=0) is None
    assert await api.gone(kinds.POD, "w")


async def test_a_pod_that_has_ended_goes_at_once(api):
    await api.create(api.pod("w", nodeName="n1"))
    status = {"status": {"phase": "Succeeded"}}
    await api.client.patch(api.ref(kinds.POD, "w", "status"), status, dict)
    assert await delete(api, kinds.POD, "w") is None
    assert await api.gone(kinds.POD, "w")


async def owned_map(api, name, *owners):
    obj = api.config_map(name)
    references = [owner_reference(owner) for owner in owners]
    for reference in references[1:]:
        reference["controller"] = False
    obj["metadata"]["ownerReferences"] = references
    return await api.create(obj)


async def test_what_belongs_to_an_object_goes_with_it(api):
    parent = await api.create(api.parent())
    await owned_map(api, "child", parent)
    await delete(api, PARENT, "p")
    assert await api.eventually(lambda: api.gone(kinds.CONFIG_MAP, "child"))


async def test_what_still_belongs_to_somebody_stays(api):
    first, second = [await api.create(api.parent(name)) for name in ("p", "q")]
    await owned_map(api, "shared", first, second)
    await owned_map(api, "only", first)
    await delete(api, PARENT, "p")
    await api.eventually(lambda: api.gone(kinds.CONFIG_MAP, "only"))
    assert not await api.gone(kinds.CONFIG_MAP, "shared")


async def test_what_is_made_for_an_owner_that_is_gone_goes_too(api):
    parent = await api.create(api.parent())
    await delete(api, PARENT, "p")
    await owned_map(api, "late", parent)
    assert await api.eventually(lambda: api.gone(kinds.CONFIG_MAP, "late"))


async def test_an_owner_of_the_same_name_does_not_keep_what_belonged_to_the_old_one(api):
    parent = await api.create(api.parent())
    await owned_map(api, "child", parent)
    await delete(api, PARENT, "p")
    await api.create(api.parent())
    assert await api.eventually(lambda: api.gone(kinds.CONFIG_MAP, "child"))


async def test_an_owner_that_is_held_keeps_what_belongs_to_it(api):
    parent = await held(api)
    await owned_map(api, "child", parent)
    await delete(api, PARENT, "p")
    await owned_map(api, "probe", {**parent, "metadata": {"name": "x", "uid": "no-such-uid"}})
    await api.eventually(lambda: api.gone(kinds.CONFIG_MAP, "probe"))
    assert not await api.gone(kinds.CONFIG_MAP, "child")
