"""Parts of objects that have paths of their own, and the ways to patch."""

import pytest

from shoal.kube import kinds
from shoal.kubeapi.errors import BusyError, ConflictError, InvalidError, NotFoundError

from .apis import PARENT


async def test_a_status_given_at_creation_is_ignored(api):
    made = await api.create({**api.parent(replicas=1), "status": {"word": "x"}})
    assert "status" not in made


async def test_the_main_path_does_not_change_the_status(api):
    await api.create(api.parent(replicas=1))
    where = api.ref(PARENT, "p")
    changed = await api.client.patch(where, {"status": {"word": "x"}, "spec": {"word": "y"}}, dict)
    assert changed["spec"]["word"] == "y"
    assert "status" not in changed


async def test_the_status_path_changes_the_status_only(api):
    made = await api.create(api.parent(replicas=1))
    wanted = {**made, "spec": {"replicas": 9}, "status": {"word": "x"}}
    changed = await api.client.replace(PARENT, wanted, dict, "status")
    assert changed["status"] == {"word": "x"}
    assert changed["spec"] == {"replicas": 1}
    assert changed["metadata"]["generation"] == 1
    assert changed["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]


async def test_a_status_written_for_another_version_is_a_conflict(api):
    made = await api.create(api.parent(replicas=1))
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 2}}, dict)
    with pytest.raises(ConflictError):
        await api.client.replace(PARENT, {**made, "status": {"word": "x"}}, dict, "status")
    assert "status" not in await api.get(PARENT, "p")


async def test_a_pods_status_has_a_path_of_its_own(api):
    await api.create(api.pod("w"))
    where = api.ref(kinds.POD, "w", "status")
    changed = await api.client.patch(where, {"status": {"phase": "Running"}}, dict)
    assert changed["status"]["phase"] == "Running"


async def test_the_scale_shows_what_is_wanted_and_what_is_there(api):
    await api.create(api.parent(replicas=3))
    status = {"status": {"replicas": 2, "selector": "app=x"}}
    await api.client.patch(api.ref(PARENT, "p", "status"), status, dict)
    scale = await api.client.get(api.ref(PARENT, "p", "scale"), dict)
    assert scale["kind"] == "Scale"
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "app=x"}


async def test_scaling_changes_the_spec_and_is_counted(api):
    await api.create(api.parent(replicas=3, word="x"))
    where = api.ref(PARENT, "p", "scale")
    scaled = await api.client.patch(where, {"spec": {"replicas": 5}}, dict)
    assert scaled["spec"] == {"replicas": 5}
    found = await api.get(PARENT, "p")
    assert found["spec"] == {"replicas": 5, "word": "x"}
    assert found["metadata"]["generation"] == 2


async def test_a_merge_patch_merges_maps_replaces_lists_and_removes_by_null(api):
    await api.create(api.parent(map={"a": "1", "b": "2"}, list=["x", "y"], word="w"))
    patch = {"spec": {"map": {"a": None, "c": "3"}, "list": ["z"], "word": None}}
    changed = await api.client.patch(api.ref(PARENT, "p"), patch, dict)
    assert changed["spec"] == {"map": {"b": "2", "c": "3"}, "list": ["z"]}


async def test_a_json_patch_adds_replaces_and_removes(api):
    await api.create(api.parent(list=["x", "y"], word="w", map={"a/b": "1"}))
    patch = [
        {"op": "test", "path": "/spec/word", "value": "w"},
        {"op": "add", "path": "/spec/list/-", "value": "z"},
        {"op": "add", "path": "/spec/list/0", "value": "a"},
        {"op": "remove", "path": "/spec/list/1"},
        {"op": "replace", "path": "/spec/word", "value": "v"},
        {"op": "remove", "path": "/spec/map/a~1b"},
        {"op": "add", "path": "/spec/map/c", "value": "3"},
    ]
    changed = await api.client.patch(api.ref(PARENT, "p"), patch, dict)
    assert changed["spec"] == {"list": ["a", "y", "z"], "word": "v", "map": {"c": "3"}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/word", "value": "other"},
        {"op": "remove", "path": "/spec/absent"},
        {"op": "replace", "path": "/spec/absent/x", "value": "x"},
        {"op": "add", "path": "/spec/absent/x", "value": "x"},
    ],
    ids=lambda operation: operation["op"],
)
async def test_a_json_patch_that_does_not_fit_is_refused_as_a_whole(api, operation):
    await api.create(api.parent(word="w"))
    first = {"op": "add", "path": "/spec/replicas", "value": 7}
    with pytest.raises(InvalidError) as caught:
        await api.client.patch(api.ref(PARENT, "p"), [first, operation], dict)
    assert caught.value.status.code == 422
    assert (await api.get(PARENT, "p"))["spec"] == {"word": "w"}


# -- evictions


async def running(api, name):
    await api.create(api.pod(name, {"app": "x"}, nodeName="n1"))
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "podIP": "10.0.0.1",
    }
    await api.client.patch(api.ref(kinds.POD, name, "status"), {"status": status}, dict)


async def budget(api, **spec):
    selector = {"matchLabels": {"app": "x"}}
    await api.create(api.obj(kinds.POD_DISRUPTION_BUDGET, "b", spec={"selector": selector, **spec}))

    async def settled():
        if hasattr(api, "fake"):
            return True
        found = await api.get(kinds.POD_DISRUPTION_BUDGET, "b")
        status = found.get("status", {})
        return status.get("observedGeneration") == 1 and status.get("expectedPods", 0) > 0

    await api.eventually(settled)


async def test_an_eviction_ends_the_pod_gently(api):
    await running(api, "w")
    await api.client.evict(api.namespace, "w")
    assert "deletionTimestamp" in (await api.get(kinds.POD, "w"))["metadata"]


async def test_a_budget_that_would_be_violated_refuses_an_eviction_for_now(api):
    await running(api, "w")
    await budget(api, minAvailable=1)
    with pytest.raises(BusyError, match="disruption budget") as caught:
        await api.client.evict(api.namespace, "w")
    assert caught.value.causes[0].reason == "DisruptionBudget"
    assert "deletionTimestamp" not in (await api.get(kinds.POD, "w"))["metadata"]


async def test_a_budget_allows_as_many_evictions_as_it_has_pods_to_spare(api):
    for name in ("w", "v"):
        await running(api, name)
    await budget(api, minAvailable=1)
    await api.client.evict(api.namespace, "w")
    with pytest.raises(BusyError):
        await api.client.evict(api.namespace, "v")
    assert "deletionTimestamp" not in (await api.get(kinds.POD, "v"))["metadata"]


async def test_a_pod_that_does_not_run_yet_may_always_be_evicted(api):
    await running(api, "w")
    await budget(api, minAvailable=1)
    await api.create(api.pod("new", {"app": "x"}))
    await api.client.evict(api.namespace, "new")
    assert await api.gone(kinds.POD, "new")


async def test_only_that_very_pod_is_evicted(api):
    await running(api, "w")
    with pytest.raises(ConflictError):
        await api.client.evict(api.namespace, "w", "11111111-1111-1111-1111-111111111111")
    assert "deletionTimestamp" not in (await api.get(kinds.POD, "w"))["metadata"]


async def test_a_pod_that_is_not_there_cannot_be_evicted(api):
    with pytest.raises(NotFoundError):
        await api.client.evict(api.namespace, "w")
    assert await api.gone(kinds.POD, "w")
