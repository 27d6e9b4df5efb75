"""Server-side apply: who owns what, who is refused, and what goes when nobody wants it."""

import pytest

from fakes.fields import spelled
from fakes.managers import owners_of
from shoal.kube import kinds
from shoal.kube.objects import owner_reference
from shoal.kubeapi.errors import ConflictError, InvalidError

from .apis import PARENT


def owned(obj, manager: str, operation: str = "Apply") -> list[str]:
    """Return the fields that `manager` owns; a map's own mark says nothing about its entries."""
    found = [
        spelled(path)
        for who, fields in owners_of(obj).items()
        for path in fields
        if who.name == manager and who.operation == operation
        and not any(path == other[: len(path)] for other in fields if other != path)
    ]  # fmt: skip
    return sorted(found)


def version(obj) -> int:
    return int(obj["metadata"]["resourceVersion"])


async def test_an_applied_object_is_made_and_its_fields_are_owned(api):
    made = await api.apply("one", api.parent(replicas=1, map={"a": "1"}, list=["x"]))
    assert made["spec"] == {"replicas": 1, "map": {"a": "1"}, "list": ["x"]}
    assert owned(made, "one") == [".spec.list", ".spec.map.a", ".spec.replicas"]


async def test_applying_the_same_again_writes_nothing(api):
    first = await api.apply("one", api.parent(replicas=1, items=[{"name": "a", "a": "1"}]))
    again = await api.apply("one", api.parent(replicas=1, items=[{"name": "a", "a": "1"}]))
    assert version(first) == version(again)
    assert first["metadata"]["generation"] == again["metadata"]["generation"] == 1


async def test_a_field_that_is_no_longer_applied_goes(api):
    await api.apply("one", api.parent(replicas=1, word="x", map={"a": "1", "b": "2"}))
    left = await api.apply("one", api.parent(replicas=1, map={"b": "2"}))
    assert left["spec"] == {"replicas": 1, "map": {"b": "2"}}


async def test_the_last_entry_takes_its_map_along(api):
    await api.apply("one", api.parent(replicas=1, map={"a": "1"}, inner={"a": "1"}))
    left = await api.apply("one", api.parent(replicas=1))
    assert left["spec"] == {"replicas": 1}


async def test_a_field_that_somebody_else_applies_too_stays(api):
    await api.apply("one", api.parent(map={"a": "1", "b": "2"}))
    await api.apply("two", api.parent(map={"a": "1"}))
    left = await api.apply("one", api.parent(map={"b": "2"}))
    assert left["spec"] == {"map": {"a": "1", "b": "2"}}
    assert owned(left, "two") == [".spec.map.a"]


async def test_a_field_that_somebody_else_set_stays(api):
    await api.apply("one", api.parent(replicas=1, map={"a": "1"}))
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"map": {"b": "2"}}}, dict)
    left = await api.apply("one", api.parent(replicas=1))
    assert left["spec"] == {"replicas": 1, "map": {"b": "2"}}


async def test_another_value_for_somebody_elses_field_is_a_conflict_that_names_both(api):
    await api.apply("one", api.parent(replicas=1, map={"a": "1"}))
    with pytest.raises(ConflictError, match="2 conflicts") as caught:
        await api.apply("two", api.parent(replicas=2, map={"a": "2", "b": "2"}))
    assert [(c.field, c.reason) for c in caught.value.causes] == [
        (".spec.replicas", "FieldManagerConflict"),
        (".spec.map.a", "FieldManagerConflict"),
    ]
    assert caught.value.causes[0].message == 'conflict with "one"'
    assert (await api.get(PARENT, "p"))["spec"] == {"replicas": 1, "map": {"a": "1"}}


async def test_a_conflict_with_several_managers_names_each(api):
    await api.apply("one", api.parent(replicas=1))
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"word": "x"}}, dict)
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", api.parent(replicas=2, word="y"))
    assert sorted((c.field, c.message) for c in caught.value.causes) == [
        (".spec.replicas", 'conflict with "one"'),
        (".spec.word", 'conflict with "tester" using example.com/v1'),
    ]


async def test_force_takes_the_field_away_from_its_owner(api):
    await api.apply("one", api.parent(replicas=1, word="x"))
    taken = await api.apply("two", api.parent(replicas=2), force=True)
    assert taken["spec"] == {"replicas": 2, "word": "x"}
    assert owned(taken, "one") == [".spec.word"]
    assert owned(taken, "two") == [".spec.replicas"]


async def test_what_was_taken_away_is_a_conflict_for_its_old_owner(api):
    await api.apply("one", api.parent(replicas=1))
    await api.apply("two", api.parent(replicas=2), force=True)
    with pytest.raises(ConflictError) as caught:
        await api.apply("one", api.parent(replicas=1))
    assert [c.field for c in caught.value.causes] == [".spec.replicas"]


async def test_a_plain_write_takes_fields_without_asking(api):
    await api.apply("one", api.parent(replicas=1, word="x"))
    changed = await api.client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 5}}, dict)
    assert owned(changed, "one") == [".spec.word"]
    assert owned(changed, "tester", "Update") == [".spec.replicas"]


async def test_the_same_manager_by_another_way_is_another_owner(api):
    await api.create(api.parent(replicas=1))
    with pytest.raises(ConflictError, match=r'conflict with "tester" using example\.com/v1'):
        await api.apply("tester", api.parent(replicas=2))
    assert (await api.get(PARENT, "p"))["spec"] == {"replicas": 1}


async def test_an_atomic_list_has_one_owner(api):
    await api.apply("one", api.parent(list=["x"]))
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", api.parent(list=["y"]))
    assert [c.field for c in caught.value.causes] == [".spec.list"]


async def test_an_atomic_map_has_one_owner(api):
    await api.apply("one", api.parent(whole={"a": "1"}))
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", api.parent(whole={"b": "1"}))
    assert [c.field for c in caught.value.causes] == [".spec.whole"]


async def test_items_of_a_keyed_list_have_owners_of_their_own(api):
    await api.apply("one", api.parent(items=[{"name": "x", "a": "1"}, {"name": "y"}]))
    both = await api.apply("two", api.parent(items=[{"name": "z"}, {"name": "x", "b": "2"}]))
    assert {i["name"]: i for i in both["spec"]["items"]} == {
        "x": {"name": "x", "a": "1", "b": "2"},
        "y": {"name": "y"},
        "z": {"name": "z"},
    }
    left = await api.apply("one", api.parent(items=[{"name": "x", "a": "1"}]))
    assert {i["name"]: i for i in left["spec"]["items"]} == {
        "x": {"name": "x", "a": "1", "b": "2"},
        "z": {"name": "z"},
    }


async def test_a_conflict_in_a_keyed_list_names_the_item(api):
    await api.apply("one", api.parent(items=[{"name": "x", "a": "1"}]))
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", api.parent(items=[{"name": "x", "a": "2"}]))
    assert [c.field for c in caught.value.causes] == ['.spec.items[name="x"].a']


async def test_an_item_goes_with_all_that_others_did_not_set(api):
    await api.apply("one", api.parent(items=[{"name": "x", "a": "1"}, {"name": "y", "a": "1"}]))
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"word": "w"}}, dict)
    left = await api.apply("one", api.parent(items=[{"name": "y", "a": "1"}]))
    assert left["spec"] == {"word": "w", "items": [{"name": "y", "a": "1"}]}


async def test_a_set_is_shared_value_by_value(api):
    await api.apply("one", api.parent(tags=["a", "b"]))
    await api.apply("two", api.parent(tags=["b", "c"]))
    left = await api.apply("one", api.parent(tags=["a"]))
    assert sorted(left["spec"]["tags"]) == ["a", "b", "c"]
    left = await api.apply("two", api.parent(tags=["c"]))
    assert sorted(left["spec"]["tags"]) == ["a", "c"]


async def test_containers_are_told_apart_by_name_and_their_ports_by_number(api):
    def pod(*containers):
        return api.obj(kinds.POD, "w", spec={"containers": list(containers)})

    await api.apply("one", pod({"name": "a", "image": "x", "ports": [{"containerPort": 80}]}))
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", pod({"name": "a", "image": "y"}))
    assert [c.field for c in caught.value.causes] == ['.spec.containers[name="a"].image']


async def test_labels_and_annotations_are_shared_entry_by_entry(api):
    mine, yours = api.config_map("a"), api.config_map("a")
    mine["metadata"]["labels"] = {"x": "1"}
    mine["metadata"]["annotations"] = {"k": "1"}
    yours["metadata"]["labels"] = {"y": "1"}
    await api.apply("one", mine)
    both = await api.apply("two", yours)
    assert both["metadata"]["labels"] == {"x": "1", "y": "1"}
    del mine["metadata"]["labels"]
    left = await api.apply("one", mine)
    assert left["metadata"]["labels"] == {"y": "1"}
    assert left["metadata"]["annotations"] == {"k": "1"}


async def test_owner_references_are_told_apart_by_uid(api):
    def mine(parent):
        obj = api.config_map("a")
        reference = owner_reference(parent)
        del reference["controller"]
        obj["metadata"]["ownerReferences"] = [reference]
        return obj

    parents = [await api.create(api.parent(name)) for name in ("p-1", "p-2")]
    await api.apply("one", mine(parents[0]))
    both = await api.apply("two", mine(parents[1]))
    one, two = (p["metadata"]["uid"] for p in parents)
    assert {o["uid"] for o in both["metadata"]["ownerReferences"]} == {one, two}


async def test_finalizers_are_a_set(api):
    def mine(*names):
        obj = api.config_map("a")
        return {**obj, "metadata": {**obj["metadata"], "finalizers": list(names)}}

    await api.apply("one", mine("x/one"))
    await api.apply("two", mine("x/two"))
    left = await api.apply("one", api.config_map("a"))
    assert left["metadata"]["finalizers"] == ["x/two"]
    await api.apply("two", api.config_map("a"))


async def test_an_empty_map_is_owned_though_it_is_not_stored(api):
    made = await api.apply("one", {**api.config_map("a"), "data": {}})
    assert "data" not in made
    with pytest.raises(ConflictError) as caught:
        await api.apply("two", {**api.config_map("a"), "data": {}})
    assert [c.field for c in caught.value.causes] == [".data"]


async def test_a_secrets_text_is_stored_encoded_and_applying_it_again_writes_nothing(api):
    secret = api.obj(kinds.SECRET, "s", stringData={"a": "x"}, type="Opaque")
    first = await api.apply("one", secret)
    assert first["data"] == {"a": "eA=="}
    assert "stringData" not in first
    assert version(await api.apply("one", secret)) == version(first)


async def test_the_status_is_applied_by_its_own_path_only(api):
    await api.apply("one", {**api.parent(replicas=1), "status": {"word": "ignored"}})
    async with api.connect("one") as client:
        status = {**api.parent(replicas=7), "status": {"word": "seen"}}
        changed = await client.apply(PARENT, status, dict, subresource="status")
    assert changed["status"] == {"word": "seen"}
    assert changed["spec"] == {"replicas": 1}
    assert changed["metadata"]["generation"] == 1


async def test_conditions_of_a_status_are_told_apart_by_type(api):
    await api.apply("one", api.parent())
    for manager, kind in (("one", "Ready"), ("two", "Other")):
        async with api.connect(manager) as client:
            status = {"conditions": [{"type": kind, "status": "True"}]}
            changed = await client.apply(
                PARENT, {**api.parent(), "status": status}, dict, subresource="status"
            )
    assert {c["type"] for c in changed["status"]["conditions"]} == {"Ready", "Other"}


async def test_applying_to_another_version_is_a_conflict(api):
    await api.apply("one", api.parent(replicas=1))
    stale = api.parent(replicas=1)
    stale["metadata"]["resourceVersion"] = "1"
    with pytest.raises(ConflictError, match="has been modified"):
        await api.apply("one", stale)
    assert (await api.get(PARENT, "p"))["metadata"]["generation"] == 1


async def test_applying_to_an_object_that_is_another_one_now_is_refused(api):
    await api.apply("one", api.parent(replicas=1))
    other = api.parent(replicas=1)
    other["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"
    with pytest.raises(InvalidError, match=r"metadata\.uid"):
        await api.apply("one", other)
    assert (await api.get(PARENT, "p"))["metadata"]["generation"] == 1


async def test_an_object_that_came_with_its_ownership_is_not_applied(api):
    await api.apply("one", api.parent(replicas=1))
    live = await api.get(PARENT, "p")
    with pytest.raises(InvalidError, match="managedFields must be nil") as caught:
        await api.apply("one", live)
    assert caught.value.status.code == 400


async def test_sharing_a_field_changes_the_version_but_not_the_generation(api):
    first = await api.apply("one", api.parent(replicas=1))
    shared = await api.apply("two", api.parent(replicas=1))
    assert version(shared) > version(first)
    assert shared["metadata"]["generation"] == 1
    assert owned(shared, "one") == owned(shared, "two") == [".spec.replicas"]
