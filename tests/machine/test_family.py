"""The toy operator when all goes well."""

import asyncio

import pytest

from fakes.kubelet import Kubelet
from fakes.port import Harness
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .family import HOLD, PARENT, World
from .stories import STORIES, reference


async def test_a_parent_gets_what_it_asks_for():
    world = World()
    process = world.process()
    await world.parent(replicas=3, word="x")
    await world.settle()
    assert sorted(world.seen()) == [
        "ConfigMap p-config",
        "Parent p",
        "Pod p-0",
        "Pod p-1",
        "Pod p-2",
    ]
    parent = world.seen()["Parent p"]
    assert parent["status"] == {"replicas": 3}
    assert parent["metadata"]["finalizers"] == [HOLD]
    assert await process.stop()


async def test_scaling_down_takes_the_pods_that_are_too_many():
    world = World()
    process = world.process()
    await world.parent(replicas=3)
    await world.settle()
    await world.edit(replicas=1)
    await world.settle()
    assert [obj["metadata"]["name"] for obj in world.api.objects(kinds.POD)] == ["p-0"]
    assert world.seen()["Parent p"]["status"] == {"replicas": 1}
    await process.stop()


async def test_a_parent_goes_after_its_pods_and_nothing_is_left():
    world = World()
    process = world.process()
    await world.parent(replicas=2)
    await world.settle()
    await world.remove()
    await world.settle()
    assert world.seen() == {}
    deleted = [c.kind for c in world.api.history.log if c.after is None]
    assert deleted == [kinds.POD, kinds.POD, PARENT, kinds.CONFIG_MAP]
    await process.stop()


async def test_a_parent_waits_for_pods_that_take_their_time_to_end():
    world = World()
    kubelet = asyncio.create_task(Kubelet(world.api, ends_after_s=25).run())
    process = world.process()
    await world.parent(replicas=2)
    await world.settle()
    assert all(pod["status"]["phase"] == "Running" for pod in world.api.objects(kinds.POD))
    await world.remove()
    await clock.sleep(20)
    assert [pod["metadata"]["ending"] for name, pod in world.seen().items() if "Pod" in name] == [
        True,
        True,
    ]
    assert "Parent p" in world.seen()
    await world.settle()
    assert world.seen() == {}
    await process.stop()
    kubelet.cancel()


async def test_a_pod_that_ends_slowly_is_replaced_when_it_is_gone():
    world = World()
    kubelet = asyncio.create_task(Kubelet(world.api, ends_after_s=10).run())
    process = world.process()
    await world.parent(replicas=1)
    await world.settle()
    (old,) = world.api.objects(kinds.POD)
    await world.user.delete(Ref(kinds.POD, "default", "p-0"), Resource)
    await world.settle()
    (new,) = world.api.objects(kinds.POD)
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert new["status"]["phase"] == "Running"
    await process.stop()
    kubelet.cancel()


@pytest.mark.parametrize("name", STORIES)
async def test_when_nothing_goes_wrong_no_pass_fails(name, logs):
    await reference(STORIES[name])
    assert [entry for entry in logs if entry["log_level"] in ("warning", "error")] == []


async def test_in_the_steady_state_nothing_is_written():
    world, harness = World(), Harness()
    process = world.process(harness)
    for name in ("p", "q", "r"):
        await world.parent(name, replicas=3)
    await world.settle()
    written, count = world.version, len(harness.effects)
    await clock.sleep(3600)
    assert (world.version, len(harness.effects)) == (written, count)
    await process.stop()


async def test_a_restart_writes_nothing_when_nothing_changed():
    world = World()
    first = world.process()
    await world.parent(replicas=3)
    await world.settle()
    await first.stop()
    harness = Harness()
    second = world.process(harness)
    await world.settle()
    assert harness.effects == []
    await second.stop()


async def test_every_object_is_written_once():
    world, harness = World(), Harness()
    process = world.process(harness)
    await world.parent(replicas=5)
    await world.settle()
    # The hold, the ConfigMap, the pods, the status.
    assert len(harness.effects) == 1 + 1 + 5 + 1
    await process.stop()


async def test_what_somebody_deletes_comes_back_and_what_somebody_changes_is_put_right():
    world = World()
    process = world.process()
    await world.parent(replicas=2, word="x")
    await world.settle()
    before = world.seen()
    await world.user.delete(Ref(kinds.POD, "default", "p-1"), Resource)
    where = Ref(kinds.CONFIG_MAP, "default", "p-config")
    await world.user.patch(where, {"data": {"word": "tampered"}}, dict)
    await world.settle()
    assert world.seen() == before
    await process.stop()


TAMPERED = {
    "a field changed": (kinds.CONFIG_MAP, "p-config", {"data": {"word": "tampered"}}),
    "a field removed": (kinds.CONFIG_MAP, "p-config", {"data": None}),
    "a label changed": (kinds.POD, "p-0", {"metadata": {"labels": {"parent": "another"}}}),
    "a label removed": (kinds.POD, "p-0", {"metadata": {"labels": None}}),
    "the owner removed": (kinds.POD, "p-0", {"metadata": {"ownerReferences": None}}),
}


@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.parametrize("meanwhile", ["running", "down"])
async def test_what_a_stranger_changes_is_put_right_whether_or_not_somebody_looked(what, meanwhile):
    world, harness = World(), Harness()
    process = world.process()
    await world.parent(replicas=2, word="x")
    await world.settle()
    before = world.seen()
    if meanwhile == "down":
        await process.stop()
    kind, name, change = TAMPERED[what]
    await world.user.patch(Ref(kind, "default", name), change, dict)
    assert world.seen() != before
    if meanwhile == "down":
        process = world.process(harness)
    await world.settle()
    assert world.seen() == before
    if meanwhile == "down":
        assert len(harness.effects) == 1  # and nothing else was written
    await process.stop()


async def test_a_restart_leaves_alone_what_others_added():
    world, harness = World(), Harness()
    first = world.process()
    await world.parent(replicas=1, word="x")
    await world.settle()
    await first.stop()
    extra = {"metadata": {"labels": {"theirs": "y"}}, "data": {"theirs": "y"}}
    await world.user.patch(Ref(kinds.CONFIG_MAP, "default", "p-config"), extra, dict)
    second = world.process(harness)
    await world.settle()
    assert harness.effects == []
    assert world.seen()["ConfigMap p-config"]["data"] == {"word": "x", "theirs": "y"}
    await second.stop()


async def test_many_parents_are_served_side_by_side():
    world = World()
    process = world.process()
    began = clock.ticks()
    for number in range(50):
        await world.parent(f"p{number}", replicas=4)
    while len(world.api.objects(kinds.POD)) < 200:
        await clock.sleep(0.1)
    assert clock.ticks() - began < 10
    await process.stop()
