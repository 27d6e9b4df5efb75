"""Finalizers: what is held stays, what is released goes, and nobody else's is lost."""

import pytest

from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.errors import ConflictError, InvalidError
from shoal.runtime.finalizers import hold, release
from shoal.runtime.store import Store

from .apis import PARENT, Api

OURS, THEIRS = "shoal/jobs", "example.com/theirs"


async def seen(api: Api, store: Store[Resource]) -> Resource:
    """Let the store know the Parent as it is."""
    found = await api.client.get(api.ref(store.kind, "p"), Resource)
    store.put(found)
    return found


async def test_an_object_is_gone_only_when_the_last_who_held_it_let_go(api):
    await api.create(api.parent("p"))
    store = Store(PARENT, Resource)
    held = await hold(api.client, store, await seen(api, store), OURS)
    held = await hold(api.client, store, held, THEIRS)
    assert held.metadata.finalizers == (OURS, THEIRS)
    await api.client.delete(api.ref(PARENT, "p"), Resource)
    ending = await seen(api, store)
    assert ending.deleting
    left = await release(api.client, store, ending, OURS)
    assert left.metadata.finalizers == (THEIRS,)
    assert not await api.gone(PARENT, "p")
    assert await release(api.client, store, left, THEIRS) is None
    assert await api.gone(PARENT, "p")
    assert store.get((api.namespace, "p")) is None
    store.put(ending)
    assert store.get((api.namespace, "p")) is None


async def test_whoever_saw_an_old_version_takes_nobodys_finalizer_away(api):
    await api.create(api.parent("p"))
    store = Store(PARENT, Resource)
    old = await seen(api, store)
    theirs = {"metadata": {"finalizers": [THEIRS, OURS]}}
    await api.client.patch(api.ref(PARENT, "p"), theirs, Resource)
    with pytest.raises(ConflictError):
        await hold(api.client, store, old, "another/one")
    new = await seen(api, store)
    await api.client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 2}}, Resource)
    with pytest.raises(ConflictError):
        await release(api.client, store, new, OURS)
    assert (await api.get(PARENT, "p"))["metadata"]["finalizers"] == [THEIRS, OURS]


async def test_what_is_deleted_already_cannot_be_held(api):
    obj = api.parent("p")
    obj["metadata"]["finalizers"] = [THEIRS]
    await api.create(obj)
    store = Store(PARENT, Resource)
    await seen(api, store)
    await api.client.delete(api.ref(PARENT, "p"), Resource)
    # The API server's own word on it, and ours.
    change = {"metadata": {"finalizers": [THEIRS, OURS]}}
    with pytest.raises(InvalidError, match="no new finalizers can be added"):
        await api.client.patch(api.ref(PARENT, "p"), change, Resource)
    with pytest.raises(ValueError, match="too late for finalizer"):
        await hold(api.client, store, await seen(api, store), OURS)
    await release(api.client, store, await seen(api, store), THEIRS)
    assert await api.gone(PARENT, "p")


async def test_a_pod_that_is_released_in_its_grace_period_is_still_there(api):
    pod = api.pod("p", nodeName="somewhere", terminationGracePeriodSeconds=30)
    pod["metadata"]["finalizers"] = [OURS]
    await api.create(pod)
    store = Store(kinds.POD, Resource)
    await seen(api, store)
    await api.client.delete(api.ref(kinds.POD, "p"), Resource)
    left = await release(api.client, store, await seen(api, store), OURS)
    assert left is not None
    assert not await api.gone(kinds.POD, "p")
    assert store.get((api.namespace, "p")) is left
