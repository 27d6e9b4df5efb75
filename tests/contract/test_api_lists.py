"""Lists: pages, selectors, metadata only."""

import aiohttp
import msgspec
import pytest

from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kube.selectors import Requirement, Selector
from shoal.kubeapi.client import METADATA, Request, Which
from shoal.kubeapi.errors import GoneError, InvalidError

from .apis import PARENT


async def make(api, *names, **labels):
    for name in names:
        obj = api.parent(name, replicas=1)
        obj["metadata"]["labels"] = labels
        await api.create(obj)


async def names(api, **which):
    found = await api.client.every(Which(PARENT, api.namespace, **which), Resource)
    return [obj.metadata.name for obj in found]


async def test_a_list_is_in_the_order_of_names(api):
    await make(api, "c", "a", "b")
    assert await names(api) == ["a", "b", "c"]


async def test_pages_together_are_the_whole_list(api):
    await make(api, "a", "b", "c", "d", "e")
    pages = [page async for page in api.client.pages(Which(PARENT, api.namespace), Resource, 2)]
    assert [[obj.metadata.name for obj in page.items] for page in pages] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]
    assert len({page.metadata.resource_version for page in pages}) == 1


async def test_pages_show_one_moment(api):
    await make(api, "a", "b", "c")
    pages = api.client.pages(Which(PARENT, api.namespace), Resource, 1)
    first = await anext(pages)
    await make(api, "aa")
    await api.client.delete(api.ref(PARENT, "c"), Resource)
    rest = [obj.metadata.name async for page in pages for obj in page.items]
    assert [obj.metadata.name for obj in first.items] + rest == ["a", "b", "c"]


async def test_the_next_page_of_a_list_that_is_too_old_is_refused(api):
    await make(api, "a", "b", "c")
    path = PARENT.path(api.namespace)
    first = await api.raw("GET", path, limit="1")
    await make(api, "d")
    await api.forget()
    with pytest.raises(GoneError) as caught:
        await api.raw("GET", path, **{"continue": api.aged(first["metadata"]["continue"])})
    assert caught.value.status.code == 410
    assert caught.value.status.reason == "Expired"


async def test_a_lists_version_is_that_of_the_newest_write(api):
    await make(api, "a")
    (page,) = [page async for page in api.client.pages(Which(PARENT, api.namespace), Resource)]
    assert int(page.metadata.resource_version) >= page.items[0].version


async def test_a_list_of_a_namespace_has_nothing_of_others(api):
    await make(api, "a")
    every = await api.client.every(Which(PARENT), Resource)
    assert {obj.metadata.namespace for obj in every} >= {api.namespace}
    assert await names(api) == ["a"]
    elsewhere = await api.client.every(Which(PARENT, "default"), Resource)
    assert [obj for obj in elsewhere if obj.metadata.namespace == api.namespace] == []


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("app=x", ["a"]),
        ("app==x", ["a"]),
        ("app!=x", ["b", "c"]),
        ("app in (x,y)", ["a", "b"]),
        ("app notin (x)", ["b", "c"]),
        ("app", ["a", "b"]),
        ("!app", ["c"]),
        ("app,app!=x", ["b"]),
        ("app in (x, z),app", ["a"]),
    ],
)
async def test_labels_select(api, labels, found):
    await make(api, "a", app="x")
    await make(api, "b", app="y")
    await make(api, "c", other="x")
    assert await names(api, labels=labels) == found


async def test_our_selectors_read_as_the_server_reads_them(api):
    await make(api, "a", app="x", pool="1")
    await make(api, "b", app="y")
    await make(api, "c")
    objects = await api.client.every(Which(PARENT, api.namespace), Resource)
    for requirement in (
        Requirement("app", "In", ("x", "y")),
        Requirement("app", "In", ("x",)),
        Requirement("app", "NotIn", ("x",)),
        Requirement("app", "Exists"),
        Requirement("app", "DoesNotExist"),
    ):
        selector = Selector((requirement, Requirement("pool", "NotIn", ("2", "3"))))
        ours = [o.metadata.name for o in objects if selector.matches(o.metadata.labels)]
        assert await names(api, labels=str(selector)) == ours


async def test_a_selector_that_makes_no_sense_is_refused(api):
    with pytest.raises(InvalidError) as caught:
        await names(api, labels="app in x")
    assert caught.value.status.code == 400


async def test_fields_select_by_name(api):
    await make(api, "a", "b")
    assert await names(api, fields="metadata.name=b") == ["b"]
    assert await names(api, fields="metadata.name!=b") == ["a"]


async def test_pods_are_found_by_their_node(api):
    await api.create(api.pod("here", nodeName="n1"))
    await api.create(api.pod("there", nodeName="n2"))
    which = Which(kinds.POD, api.namespace, fields="spec.nodeName=n1")
    found = await api.client.every(which, Resource)
    assert [obj.metadata.name for obj in found] == ["here"]


async def test_a_field_that_is_not_indexed_is_refused(api):
    with pytest.raises(InvalidError) as caught:
        await names(api, fields="spec.word=x")
    assert caught.value.status.code == 400


class Whole(Resource, frozen=True, gc=False):
    spec: msgspec.Raw | None = None


async def test_metadata_only_has_metadata_only(api):
    await make(api, "a", app="x")
    which = Which(PARENT, api.namespace, metadata_only=True)
    found = [obj async for page in api.client.pages(which, Whole) for obj in page.items]
    assert [obj.metadata.name for obj in found] == ["a"]
    assert found[0].spec is None
    assert found[0].metadata.labels == {"app": "x"}


async def test_nothing_at_all_in_brief_is_an_empty_list(api):
    path = kinds.PERSISTENT_VOLUME_CLAIM.path(api.namespace)
    accept = METADATA.format("List")
    async with await api.client._open(
        Request("GET", path, {}, accept=accept), aiohttp.ClientTimeout(total=10)
    ) as answer:
        assert msgspec.json.decode(await answer.read())["items"] is None
    which = Which(kinds.PERSISTENT_VOLUME_CLAIM, api.namespace, metadata_only=True)
    assert await api.client.every(which, Resource) == []
