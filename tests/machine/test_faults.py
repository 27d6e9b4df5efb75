"""Whatever the API server and the line to it do, the end is the same."""

import random

import pytest

from fakes.loop import run
from fakes.network import Delayed, Lost, Stale, cut_after, gap_at, swapped, twice
from fakes.port import Harness
from fakes.refusals import Refusal
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .family import RIGHTS, World
from .stories import STORIES, reference

EXPECTED = {name: run(reference(story)) for name, story in STORIES.items()}
FAULTS = {
    "409": Refusal(409, "Conflict", "somebody was faster"),
    "429": Refusal(429, "TooManyRequests", "later", retry_after_s=3),
    "500": Refusal(500, "InternalError", "etcdserver: leader changed"),
    "503": Refusal(503, "ServiceUnavailable", "apiserver is shutting down"),
    "403": Refusal(403, "Forbidden", "not yet"),
    "reset": Lost(),
    "reset after": Lost(after=True),
    "time-out": Lost(at_once=False),
    "time-out after": Lost(after=True, at_once=False),
    "slow": Delayed(20),
}
# Each of these leaves the writer with another belief about what was done.
TELLING = ("409", "429", "500", "reset", "reset after", "time-out after")
WRITES = [(name, k) for name, (_, effects) in EXPECTED.items() for k in range(len(effects))]


async def told(name: str, prepare, seed: int = 0) -> World:
    """Run a story in a world that was prepared to go wrong."""
    world = await STORIES[name].world(seed)
    prepare(world)
    process = world.process()
    await STORIES[name].tell(world)
    await world.settle()
    await process.stop()
    return world


@pytest.mark.parametrize("fault", TELLING)
@pytest.mark.parametrize(("name", "k"), WRITES)
async def test_a_write_that_fails_is_made_good(name, k, fault):
    def prepare(world):
        for verb in ("create", "patch", "apply", "delete"):
            world.network.plan(FAULTS[fault], verb, nth=k + 1)

    world = await told(name, prepare)
    assert world.seen() == EXPECTED[name][0]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", STORIES)
async def test_a_hard_hour_ends_well(name, fault):
    """Every third write fails, ten times."""

    def prepare(world):
        for nth in range(1, 30, 3):
            world.network.plan(FAULTS[fault], "apply", nth=nth)
            world.network.plan(FAULTS[fault], "create", nth=nth)
            world.network.plan(FAULTS[fault], "delete", nth=nth)
            world.network.plan(FAULTS[fault], "patch", nth=nth)

    world = await told(name, prepare)
    assert world.seen() == EXPECTED[name][0]


EVENTS = {
    "told twice": lambda _: twice,
    "in the wrong order": lambda _: swapped,
    "cut after each": lambda _: cut_after(1),
    "cut after every third": lambda _: cut_after(3),
    "each lost for good": lambda network: gap_at(network, 1),
    "every second lost for good": lambda network: gap_at(network, 2),
    "every fifth lost for good": lambda network: gap_at(network, 5),
}


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("name", STORIES)
async def test_events_that_get_lost_or_mixed_up_change_nothing_in_the_end(name, events):
    def prepare(world):
        world.network.mangler = EVENTS[events](world.network)

    world = await told(name, prepare)
    assert world.seen() == EXPECTED[name][0]


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("name", STORIES)
async def test_whatever_the_order_of_news_and_answers_the_end_is_the_same(name, seed):
    def prepare(world):
        chance = random.Random(seed)
        world.network.latency_s = (0.0, chance.choice([0.001, 0.1, 2.0]))
        world.network.lag_s = (0.0, chance.choice([0.001, 0.1, 2.0]))
        world.network.api.pages.shuffle = chance

    world = await told(name, prepare, seed)
    assert world.seen() == EXPECTED[name][0]


@pytest.mark.parametrize("versions", [1, 2, 5, 10])
@pytest.mark.parametrize("name", STORIES)
async def test_a_new_process_that_first_sees_the_past_catches_up(name, versions):
    world = await STORIES[name].world()
    await STORIES[name].tell(world)
    world.network.plan(Stale(versions), "list", times=3)
    process = world.process()
    await world.settle()
    assert world.seen() == EXPECTED[name][0]
    await process.stop()


async def test_a_list_from_the_past_does_not_bring_back_what_is_gone():
    world = await STORIES["scale down"].world()
    harness = Harness()
    process = world.process(harness)
    await world.settle()
    await STORIES["scale down"].tell(world)
    await world.settle()
    done = len(harness.effects)
    world.network.plan(Stale(4), "list", times=6)
    world.api.history.compact()
    world.network.cut()
    await world.settle()
    assert len(harness.effects) == done
    assert world.seen() == EXPECTED["scale down"][0]
    await process.stop()


async def test_while_news_are_late_what_was_written_is_not_written_again():
    world, harness = World(), Harness()
    process = world.process(harness)
    world.network.lag_s = (5, 5)
    await world.parent(replicas=3, word="a")
    await clock.sleep(1)
    await world.edit(word="b")
    await world.settle()
    # The hold, the ConfigMap, three pods, the status; and the ConfigMap once more.
    assert len(harness.effects) == 7
    assert len(world.api.objects(kinds.POD)) == 3
    await process.stop()


async def test_an_object_that_took_the_place_of_ours_is_not_deleted_for_it():
    world = await STORIES["scale down"].world()
    process = world.process()
    await world.settle()
    # News of pods lag far behind: five seconds for each.
    world.network.lag_s = (5, 5)
    other = Ref(kinds.POD, "default", "p-2")
    for number in range(3):
        await world.user.patch(other, {"metadata": {"labels": {"n": str(number)}}}, dict)
    await world.user.delete(Ref(kinds.POD, "default", "p-1"), Resource)
    theirs = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p-1", "namespace": "default"},
        "spec": {"containers": [{"name": "theirs", "image": "y"}]},
    }
    made = await world.user.create(kinds.POD, theirs, dict)
    await STORIES["scale down"].tell(world)
    await world.settle()
    pods = {pod["metadata"]["name"]: pod for pod in world.api.objects(kinds.POD)}
    assert sorted(pods) == ["p-0", "p-1"]
    assert pods["p-1"]["metadata"]["uid"] == made["metadata"]["uid"]
    await process.stop()


async def test_a_server_that_is_away_for_an_hour_is_waited_for():
    world = await STORIES["scale up"].world()
    process = world.process()
    await world.settle()
    world.network.down = True
    world.network.cut()
    await STORIES["scale up"].tell(world)
    served = world.network.served
    await clock.sleep(3600)
    assert world.network.served == served
    world.network.down = False
    await clock.sleep(60)
    assert world.seen() == EXPECTED["scale up"][0]
    await process.stop()


async def test_a_line_that_is_dead_but_open_is_noticed():
    world = await STORIES["scale up"].world()
    process = world.process()
    await world.settle()
    world.network.mute = True
    await STORIES["scale up"].tell(world)
    await clock.sleep(30)
    world.network.mute = False
    assert world.seen() != EXPECTED["scale up"][0]
    await clock.sleep(200)
    assert world.seen() == EXPECTED["scale up"][0]
    await process.stop()


async def test_a_server_that_ends_every_watch_at_once_is_not_flooded():
    world = await STORIES["create"].world()
    process = world.process()
    world.network.hasty = True
    await STORIES["create"].tell(world)
    await clock.sleep(600)
    watches = [request for request in world.api.requests if request.startswith("watch")]
    assert len(watches) < 200
    await process.stop()


@pytest.mark.parametrize("right", sorted(RIGHTS & {r for r in RIGHTS if r[0] != "watch"}))
async def test_a_right_that_is_missing_is_a_complaint_and_not_the_end(right):
    world = World()
    world.api.allowed = RIGHTS - {right}
    process = world.process()
    await world.parent(replicas=2)
    await clock.sleep(30)
    world.api.allowed = RIGHTS
    await world.settle()
    assert len(world.api.objects(kinds.POD)) == 2
    await process.stop()
