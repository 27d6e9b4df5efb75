"""Versions, conflicts and generations."""

import pytest

from shoal.kube import kinds
from shoal.kubeapi.errors import ConflictError, ExistsError, InvalidError, NotFoundError

from .apis import PARENT


def version(obj) -> int:
    return int(obj["metadata"]["resourceVersion"])


async def test_every_write_has_a_version_of_its_own_and_later_ones_are_larger(api):
    first = await api.create(api.config_map("a", x="1"))
    second = await api.create(api.config_map("b", x="1"))
    third = await api.client.patch(api.ref(kinds.CONFIG_MAP, "a"), {"data": {"x": "2"}}, dict)
    assert version(first) < version(second) < version(third)


async def test_a_write_that_changes_nothing_makes_no_version(api):
    made = await api.create(api.config_map("a", x="1"))
    same = await api.client.patch(api.ref(kinds.CONFIG_MAP, "a"), {"data": {"x": "1"}}, dict)
    again = await api.client.replace(kinds.CONFIG_MAP, same, dict)
    assert version(made) == version(same) == version(again)


async def test_a_name_is_taken_once(api):
    await api.create(api.config_map("a"))
    with pytest.raises(ExistsError, match='configmaps "a" already exists') as caught:
        await api.create(api.config_map("a"))
    assert caught.value.status.code == 409


async def test_a_replacement_of_another_version_is_a_conflict(api):
    made = await api.create(api.parent(replicas=1))
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 2}}, dict)
    with pytest.raises(ConflictError, match="the object has been modified"):
        await api.client.replace(PARENT, {**made, "spec": {"replicas": 3}}, dict)
    assert (await api.get(PARENT, "p"))["spec"] == {"replicas": 2}


async def test_a_custom_object_is_not_replaced_without_a_version(api):
    await api.create(api.parent(replicas=1))
    with pytest.raises(InvalidError, match=r"metadata\.resourceVersion") as caught:
        await api.client.replace(PARENT, api.parent(replicas=2), dict)
    assert caught.value.causes[0].field == "metadata.resourceVersion"


async def test_a_config_map_may_be_replaced_without_a_version(api):
    await api.create(api.config_map("a", x="1"))
    new = await api.client.replace(kinds.CONFIG_MAP, api.config_map("a", y="2"), dict)
    assert new["data"] == {"y": "2"}


async def test_a_patch_of_another_version_is_a_conflict(api):
    await api.create(api.parent(replicas=1))
    stale = {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 2}}
    with pytest.raises(ConflictError):
        await api.client.patch(api.ref(PARENT, "p"), stale, dict)
    assert (await api.get(PARENT, "p"))["spec"] == {"replicas": 1}


async def test_what_is_not_there_cannot_be_replaced_or_patched(api):
    with pytest.raises(NotFoundError, match=r'parents\.example\.com "p" not found'):
        await api.client.patch(api.ref(PARENT, "p"), {"spec": {}}, dict)
    with pytest.raises(NotFoundError):
        await api.client.replace(kinds.CONFIG_MAP, api.config_map("a"), dict)
    assert await api.gone(PARENT, "p")


async def test_nothing_is_made_in_a_namespace_that_is_not_there(api):
    stray = api.config_map("a")
    stray["metadata"]["namespace"] = "nowhere"
    with pytest.raises(NotFoundError, match='namespaces "nowhere" not found') as caught:
        await api.create(stray)
    assert caught.value.status.code == 404


async def test_a_generation_counts_changes_of_the_spec_only(api):
    made = await api.create(api.parent(replicas=1))
    where, seen = api.ref(PARENT, "p"), [made["metadata"]["generation"]]
    for change in (
        {"metadata": {"labels": {"a": "b"}}},
        {"spec": {"replicas": 2}},
        {"spec": {"replicas": 2}},
        {"metadata": {"annotations": {"a": "b"}}},
        {"spec": {"word": "x"}},
    ):
        changed = await api.client.patch(where, change, dict)
        seen.append(changed["metadata"]["generation"])
    status = api.ref(PARENT, "p", "status")
    changed = await api.client.patch(status, {"status": {"replicas": 1}}, dict)
    assert [*seen, changed["metadata"]["generation"]] == [1, 1, 2, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("kind", "parts", "counts"),
    [
        (kinds.CONFIG_MAP, {}, False),
        (kinds.SECRET, {}, False),
        (kinds.SERVICE_ACCOUNT, {}, False),
        (kinds.SERVICE, {"spec": {"ports": [{"port": 80}]}}, False),
        (kinds.LEASE, {"spec": {}}, False),
        (kinds.POD, {"spec": {"containers": [{"name": "c", "image": "x"}]}}, True),
        (kinds.POD_DISRUPTION_BUDGET, {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, True),
        (PARENT, {"spec": {}}, True),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
async def test_only_some_kinds_count_generations(api, kind, parts, counts):
    made = await api.create(api.obj(kind, "a", **parts))
    assert made["metadata"].get("generation") == (1 if counts else None)


@pytest.mark.parametrize(
    ("kind", "parts", "change", "words"),
    [
        (
            kinds.POD,
            {"spec": {"containers": [{"name": "c", "image": "x"}]}},
            {"spec": {"hostname": "other"}},
            "may not change fields other than",
        ),
        (
            kinds.STATEFUL_SET,
            {
                "spec": {
                    "replicas": 0,
                    "serviceName": "a",
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {"containers": [{"name": "c", "image": "x"}]},
                    },
                }
            },
            {"spec": {"serviceName": "b"}},
            "are forbidden",
        ),
        (kinds.SECRET, {"type": "x/y"}, {"type": "x/z"}, "field is immutable"),
        (kinds.CONFIG_MAP, {"immutable": True}, {"data": {"a": "b"}}, "field is immutable"),
        (
            kinds.SERVICE,
            {"spec": {"clusterIP": "10.96.7.7", "ports": [{"port": 80}]}},
            {"spec": {"clusterIP": "None", "clusterIPs": ["None"]}},
            "may not change once set",
        ),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
async def test_an_immutable_field_is_refused_as_invalid(api, kind, parts, change, words):
    await api.create(api.obj(kind, "a", **parts))
    with pytest.raises(InvalidError, match=words) as caught:
        await api.client.patch(api.ref(kind, "a"), change, dict)
    assert caught.value.status.code == 422


async def test_an_image_of_a_pod_may_change(api):
    await api.create(api.pod("w"))
    change = [{"op": "replace", "path": "/spec/containers/0/image", "value": "y"}]
    changed = await api.client.patch(api.ref(kinds.POD, "w"), change, dict)
    assert changed["spec"]["containers"][0]["image"] == "y"
    assert changed["metadata"]["generation"] == 2


async def test_a_name_can_be_left_to_the_server(api):
    obj = api.config_map("a")
    del obj["metadata"]["name"]
    obj["metadata"]["generateName"] = "a-"
    names = {(await api.create(obj))["metadata"]["name"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("a-") for name in names)
