"""Watches: nothing is missed, nothing is told twice, and what is too old is said to be."""

import asyncio

import msgspec
import pytest

from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import METADATA, Which
from shoal.kubeapi.errors import GoneError
from shoal.kubeapi.watch import watch

from .apis import PARENT


async def now(api, kind=PARENT) -> str:
    pages = api.client.pages(Which(kind, api.namespace), Resource)
    return [page.metadata.resource_version async for page in pages][-1]


async def told(api, version: str, count: int, kind=PARENT, **query) -> list[tuple[str, str]]:
    """Return the next `count` events since `version`: what happened to what."""
    found = []
    async with api.events(kind.path(api.namespace), version, **query) as events:
        async for event in events:
            found.append((event["type"], event["object"]["metadata"].get("name", "")))
            if len(found) == count:
                break
    return found


async def test_everything_since_a_version_is_told_in_order(api):
    since = await now(api)
    await api.create(api.parent("a", replicas=1))
    await api.create(api.parent("b"))
    await api.client.patch(api.ref(PARENT, "a"), {"spec": {"replicas": 2}}, dict)
    await api.client.delete(api.ref(PARENT, "b"), Resource)
    assert await told(api, since, 4) == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]


async def test_a_watch_resumed_tells_only_what_came_after(api):
    await now(api)
    made = await api.create(api.parent("a"))
    await api.create(api.parent("b"))
    assert await told(api, made["metadata"]["resourceVersion"], 1) == [("ADDED", "b")]


async def test_a_deletion_is_told_with_a_version_of_its_own(api):
    made = await api.create(api.parent("a"))
    since = made["metadata"]["resourceVersion"]
    await api.client.delete(api.ref(PARENT, "a"), Resource)
    async with api.events(PARENT.path(api.namespace), since) as events:
        event = await anext(events)
    assert event["type"] == "DELETED"
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(since)


async def test_a_write_that_changes_nothing_is_not_told(api):
    made = await api.create(api.parent("a", replicas=1))
    since = made["metadata"]["resourceVersion"]
    await api.client.patch(api.ref(PARENT, "a"), {"spec": {"replicas": 1}}, dict)
    await api.create(api.parent("b"))
    assert await told(api, since, 1) == [("ADDED", "b")]


async def test_the_end_of_a_held_object_is_told_in_two_steps(api):
    obj = api.parent("a")
    obj["metadata"]["finalizers"] = ["x/y"]
    made = await api.create(obj)
    await api.client.delete(api.ref(PARENT, "a"), Resource)
    await api.client.patch(api.ref(PARENT, "a"), {"metadata": {"finalizers": None}}, dict)
    since = made["metadata"]["resourceVersion"]
    assert await told(api, since, 2) == [("MODIFIED", "a"), ("DELETED", "a")]


async def test_leaving_a_selection_is_told_as_a_deletion_and_entering_as_an_addition(api):
    since = await now(api)
    await api.create(api.parent("a"))
    where = api.ref(PARENT, "a")
    await api.client.patch(where, {"metadata": {"labels": {"app": "x"}}}, dict)
    await api.client.patch(where, {"metadata": {"labels": {"app": "y"}}}, dict)
    found = await told(api, since, 2, labelSelector="app=x")
    assert found == [("ADDED", "a"), ("DELETED", "a")]


async def test_a_watch_ends_when_its_time_is_over(api):
    began = asyncio.get_running_loop().time()
    assert await told(api, await now(api), 99, timeoutSeconds="1") == []
    assert 0.5 < asyncio.get_running_loop().time() - began < 5


async def test_news_arrive_while_watching(api):
    since = await now(api)
    watching = asyncio.create_task(told(api, since, 1))
    await asyncio.wait([watching], timeout=0.2)
    await api.create(api.parent("a"))
    assert await watching == [("ADDED", "a")]


async def test_metadata_only_has_metadata_only(api):
    since = await now(api)
    await api.create(api.parent("a", replicas=1))
    path = PARENT.path(api.namespace)
    async with api.events(path, since, accept=METADATA.format("")) as events:
        event = await anext(events)
    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert set(event["object"]) == {"kind", "apiVersion", "metadata"}


async def test_bookmarks_tell_how_far_the_world_has_come(api):
    since = await now(api)
    elsewhere = api.parent("a")
    elsewhere["metadata"]["namespace"] = "default"
    elsewhere["metadata"]["name"] = f"of-{api.namespace}"
    path = PARENT.path(api.namespace)
    async with api.events(path, since, allowWatchBookmarks="true") as events:
        made = await api.create(elsewhere)
        event = await anext(events)
    assert event["type"] == "BOOKMARK"
    version = event["object"]["metadata"]["resourceVersion"]
    assert int(version) >= int(made["metadata"]["resourceVersion"])


class PodSpec(msgspec.Struct, frozen=True):
    containers: list[msgspec.Raw]


class Pod(Resource, frozen=True, gc=False, kw_only=True):
    """As strict as slim types are."""

    spec: PodSpec
    status: dict[str, msgspec.Raw] = {}  # noqa: RUF012 - msgspec copies it


async def test_a_bookmark_is_understood_however_empty_it_is(api):
    which = Which(kinds.POD, api.namespace)
    async with api.events(
        kinds.POD.path(api.namespace), await now(api, kinds.POD), allowWatchBookmarks="true"
    ) as events:
        await api.create(api.pod("w"))
        lines = [event async for event in events]
    assert lines[-1]["type"] == "BOOKMARK"

    async def replayed(*_):
        yield b"".join(msgspec.json.encode(line) + b"\n" for line in lines)

    api.client.stream = replayed
    batches = [batch async for batch in watch(api.client, which, Pod, "1")]
    kinds_told = [event.type for batch in batches for event in batch]
    assert kinds_told[0] == "ADDED"
    assert kinds_told[-1] == "BOOKMARK"
    assert batches[-1][-1].object.version >= batches[0][0].object.version


async def test_a_version_that_is_too_old_is_told_as_gone(api):
    # The watch cache of a kind begins when its first object is asked for: nothing is that old.
    which = Which(PARENT, api.namespace)
    await now(api)
    if hasattr(api, "fake"):
        await api.create(api.parent("a"))
        await api.forget()
    with pytest.raises(GoneError) as caught:
        async for _ in watch(api.client, which, Resource, "2"):
            pass
    assert caught.value.status.code == 410
    assert caught.value.status.reason == "Expired"


async def test_gone_is_understood_for_objects_with_a_status_of_their_own(api):
    if hasattr(api, "fake"):
        await api.create(api.parent("a"))
        await api.forget()
    await now(api)

    class Typed(Resource, frozen=True, gc=False):
        status: PodSpec | None = None

    with pytest.raises(GoneError):
        async for _ in watch(api.client, Which(PARENT, api.namespace), Typed, "2"):
            pass
    assert api.namespace
