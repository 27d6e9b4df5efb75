"""A store is kept equal to what the API server has, also where it knows a kind only at times."""

import asyncio

import pytest

from shoal.kube.kinds import CONFIG_MAP
from shoal.kube.objects import Meta, Resource, Slim
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import NotFoundError, Status
from shoal.runtime import clock, reflector
from shoal.runtime.clock import sleep as turn
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store


class Page(Slim, frozen=True):
    """What a list finds."""

    metadata: Meta
    items: tuple[Resource, ...]


class Client:
    """Lists one object, while it knows the kind."""

    def __init__(self, *, knows: bool) -> None:
        self.knows = knows

    async def pages(self, _which, _type):
        if not self.knows:
            raise NotFoundError("GET /configmaps: not found", Status())
        meta = Meta(name="x", namespace="ns", uid="u", resource_version="5")
        yield Page(Meta(resource_version="7"), (Resource(metadata=meta),))


@pytest.fixture
def unknown(monkeypatch):
    """Let the kind be gone when it is watched, and no pause take time."""

    async def watch(*_):
        raise NotFoundError("WATCH /configmaps: not found", Status())
        yield

    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        await turn(0)
        if len(pauses) > 3:
            await asyncio.Event().wait()

    monkeypatch.setattr(reflector, "watch", watch)
    monkeypatch.setattr(clock, "sleep", sleep)
    return pauses


async def reflected(*, knows=True, **told):
    store, synced = Store(CONFIG_MAP, Resource), []
    awaited = told.pop("awaited", False)
    made = Reflector(store, Which(CONFIG_MAP), lambda: synced.append(1), **told)
    made.awaited = awaited
    task = asyncio.create_task(made.run(Client(knows=knows)))
    for _ in range(50):
        await turn(0)
    task.cancel()
    return store, bool(synced), made


async def test_a_kind_that_is_there_only_at_times_takes_its_objects_along(unknown):
    store, synced, _ = await reflected(optional=True)
    assert (len(store), store.served, synced) == (0, False, True)


async def test_a_kind_that_was_there_once_is_not_gone_because_somebody_says_so(unknown):
    store, synced, made = await reflected(awaited=True)
    assert (len(store), store.served, synced) == (1, True, True)
    assert made.failing


async def test_a_kind_that_is_yet_to_come_keeps_nobody_waiting(unknown):
    store, synced, made = await reflected(knows=False, awaited=True)
    assert (len(store), store.served, synced) == (0, False, True)
    assert not made.failing


async def test_a_kind_that_has_to_be_there_is_waited_for(unknown):
    _, synced, made = await reflected(knows=False)
    assert (synced, bool(made.failing)) == (False, True)
