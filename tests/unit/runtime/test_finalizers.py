"""Finalizers: held once, released once, and nobody else's is lost."""

import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Lost, Network
from fakes.wire import FakeClient
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Ref
from shoal.kubeapi.errors import ConflictError, NotFoundError
from shoal.runtime.finalizers import hold, release
from shoal.runtime.store import Store

LOOP = VirtualLoop
OURS, THEIRS = "shoal/jobs", "example.com/theirs"
WHERE = Ref(kinds.CONFIG_MAP, "default", "a")


class Shelf:
    """A ConfigMap, our client, and somebody else's."""

    def __init__(self) -> None:
        self.network = Network(FakeApi(), latency_s=(0, 0), lag_s=(0, 0))
        self.writes: list[str] = []
        self.client = FakeClient(self.network, through=self._noted)
        self.other = FakeClient(self.network, "other")
        self.store = Store(kinds.CONFIG_MAP, Resource)

    async def _noted(self, name, call):
        self.writes.append(name)
        return await call()

    async def made(self, *finalizers: str) -> Resource:
        meta = {"name": "a", "namespace": "default", "finalizers": list(finalizers)}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        found = await self.other.create(kinds.CONFIG_MAP, obj, Resource)
        self.store.put(found)
        return found

    async def deleted(self) -> Resource:
        left = await self.other.delete(WHERE, Resource)
        assert left is not None
        self.store.put(left)
        return left

    @property
    def there(self) -> list[str] | None:
        """The finalizers as the API server has them; None: the object is gone."""
        found = self.network.api.objects(kinds.CONFIG_MAP)
        return found[0]["metadata"].get("finalizers", []) if found else None


async def test_an_object_is_held_beside_whoever_holds_it():
    shelf = Shelf()
    held = await hold(shelf.client, shelf.store, await shelf.made(THEIRS), OURS)
    assert shelf.there == [THEIRS, OURS]
    assert shelf.store.get(held.key) is held


async def test_what_is_held_is_not_written_again():
    shelf = Shelf()
    held = await hold(shelf.client, shelf.store, await shelf.made(), OURS)
    assert await hold(shelf.client, shelf.store, held, OURS) is held
    assert len(shelf.writes) == 1


async def test_a_hold_of_an_old_version_takes_nobodys_finalizer_away():
    shelf = Shelf()
    seen = await shelf.made()
    await shelf.other.patch(WHERE, {"metadata": {"finalizers": [THEIRS]}}, Resource)
    with pytest.raises(ConflictError):
        await hold(shelf.client, shelf.store, seen, OURS)
    assert shelf.there == [THEIRS]


async def test_a_release_of_an_old_version_takes_nobodys_finalizer_away():
    shelf = Shelf()
    seen = await shelf.made(OURS)
    await shelf.other.patch(WHERE, {"metadata": {"finalizers": [OURS, THEIRS]}}, Resource)
    with pytest.raises(ConflictError):
        await release(shelf.client, shelf.store, seen, OURS)
    assert shelf.there == [OURS, THEIRS]


async def test_what_is_being_deleted_cannot_be_held_and_nobody_is_told_that_it_is():
    shelf = Shelf()
    await shelf.made(THEIRS)
    with pytest.raises(ValueError, match=r"ConfigMap default/a: too late for finalizer shoal/jobs"):
        await hold(shelf.client, shelf.store, await shelf.deleted(), OURS)
    assert shelf.writes == []


async def test_a_release_leaves_what_others_hold():
    shelf = Shelf()
    await shelf.made(OURS, THEIRS)
    left = await release(shelf.client, shelf.store, await shelf.deleted(), OURS)
    assert left.metadata.finalizers == (THEIRS,)
    assert shelf.there == [THEIRS]
    assert shelf.store.get(("default", "a")) is left


async def test_an_object_that_is_not_deleted_stays_when_it_is_released():
    shelf = Shelf()
    left = await release(shelf.client, shelf.store, await shelf.made(OURS), OURS)
    assert left is not None
    assert shelf.there == []
    assert shelf.store.get(("default", "a")) is left


async def test_after_the_last_release_the_object_is_gone_for_the_next_pass_too():
    shelf = Shelf()
    await shelf.made(OURS)
    seen = await shelf.deleted()
    assert await release(shelf.client, shelf.store, seen, OURS) is None
    assert shelf.there is None
    assert shelf.store.get(("default", "a")) is None
    shelf.store.put(seen)  # news from before are still on their way
    assert shelf.store.get(("default", "a")) is None


async def test_a_successor_of_the_same_name_stays_in_the_store():
    shelf = Shelf()
    await shelf.made(OURS)
    seen = await shelf.deleted()
    await shelf.other.patch(WHERE, {"metadata": {"finalizers": None}}, Resource)
    successor = await shelf.made()
    with pytest.raises(ConflictError):
        await release(shelf.client, shelf.store, seen, OURS)
    assert shelf.store.get(("default", "a")) is successor


async def test_what_is_released_is_not_written_again():
    shelf = Shelf()
    seen = await shelf.made(THEIRS)
    assert await release(shelf.client, shelf.store, seen, OURS) is seen
    assert shelf.writes == []


async def test_an_object_that_went_meanwhile_is_released():
    shelf = Shelf()
    await shelf.made(OURS)
    seen = await shelf.deleted()
    await shelf.other.patch(WHERE, {"metadata": {"finalizers": None}}, Resource)
    assert await release(shelf.client, shelf.store, seen, OURS) is None
    assert shelf.store.get(seen.key) is None


async def test_a_hold_of_an_object_that_went_meanwhile_is_no_hold():
    shelf = Shelf()
    seen = await shelf.made()
    await shelf.other.delete(WHERE, Resource)
    with pytest.raises(NotFoundError):
        await hold(shelf.client, shelf.store, seen, OURS)
    assert shelf.there is None


async def test_a_release_whose_answer_is_lost_is_asked_for_again_and_ends():
    shelf = Shelf()
    await shelf.made(OURS)
    shelf.network.plan(Lost(after=True), "patch")
    assert await release(shelf.client, shelf.store, await shelf.deleted(), OURS) is None
    assert shelf.there is None
