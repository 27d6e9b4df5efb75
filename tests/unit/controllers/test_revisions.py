"""Revisions are made before workers of them, found again, and forgotten when they are too many."""

from dataclasses import replace

import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Network
from fakes.wire import FakeClient
from shoal.controllers.passes import Hands
from shoal.controllers.revisions import KIND, keep
from shoal.controllers.world import World
from shoal.kube import kinds
from shoal.kube.revisions import ControllerRevision
from shoal.kubeapi.client import Ref
from shoal.model.nodeset import NodeSet
from shoal.model.part import Part
from shoal.runtime.store import Store

LOOP = VirtualLoop
LABELS = {"app.kubernetes.io/instance": "w"}
FIRST = NodeSet(Part("w", "default", LABELS, LABELS), "w", "w-", "s", "b")
SECOND, THIRD = replace(FIRST, padding=2), replace(FIRST, padding=3)


class Stage:
    """A NodeSet and its revisions."""

    def __init__(self) -> None:
        self.api, self.owner = FakeApi(), {}
        self.client = FakeClient(Network(self.api, latency_s=(0, 0), lag_s=(0, 0)))
        self.store = Store(KIND, ControllerRevision)
        self.hands = Hands(self.client, World({KIND: self.store}), None)  # type: ignore[arg-type]

    async def keep(self, nodeset: NodeSet) -> str:
        return (await keep(self.hands, self.owner, nodeset, (), 0)).update

    @property
    def numbers(self) -> dict[str, int]:
        found = self.api.objects(KIND)
        return {obj["metadata"]["name"]: obj["revision"] for obj in found}


@pytest.fixture
async def stage():
    made = Stage()
    meta = {"name": "w", "namespace": "default"}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    made.owner = await made.client.create(kinds.CONFIG_MAP, owner, dict)
    return made


async def test_the_same_wish_is_one_revision_and_one_write(stage):
    first = await stage.keep(FIRST)
    written = len(stage.api.requests)
    assert await stage.keep(FIRST) == first
    assert stage.numbers == {f"w-{first}": 1}
    assert len(stage.api.requests) == written


async def test_going_back_makes_the_earlier_revision_the_newest(stage):
    kept = replace(FIRST, revisions=5), replace(SECOND, revisions=5)
    first, second = await stage.keep(kept[0]), await stage.keep(kept[1])
    assert await stage.keep(kept[0]) == first
    assert stage.numbers == {f"w-{first}": 3, f"w-{second}": 2}


async def test_no_more_old_ones_are_kept_than_asked_for(stage):
    for wish in (FIRST, SECOND, THIRD):
        last = await stage.keep(wish)
    await stage.keep(THIRD)
    assert stage.numbers == {f"w-{last}": 3}


async def test_one_that_somebody_deleted_meanwhile_stops_nothing(stage):
    first = await stage.keep(FIRST)
    await stage.client.delete(Ref(KIND, "default", f"w-{first}"), ControllerRevision)
    # The store has not heard of it.
    second = await stage.keep(SECOND)
    assert set(stage.numbers) == {f"w-{second}"}
