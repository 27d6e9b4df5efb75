"""Processes: who leads, how they end, and what does not end them."""

import asyncio

import msgspec
import pytest

from fakes.network import Lost
from fakes.port import Harness
from fakes.process import Process
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Ref
from shoal.kubeapi.errors import ApiError, UnreachableError
from shoal.runtime import clock, watches
from shoal.runtime.controller import Controller, Done
from shoal.runtime.lease import Terms
from shoal.runtime.process import Setup
from shoal.runtime.store import Store

from .family import PARENT, World, controllers, setup


def terms(identity: str) -> Terms:
    return Terms("default", "family", identity)


def candidate(world: World, identity: str, harness: Harness | None = None) -> Process:
    made = Process(world.network, setup(terms=terms(identity)), controllers, harness or Harness())
    return made.start()


def holder(world: World) -> str:
    (lease,) = world.api.objects(kinds.LEASE)
    return lease["spec"]["holderIdentity"]


async def test_one_of_two_leads_and_only_it_writes():
    world, one, two = World(), Harness(), Harness()
    first, second = candidate(world, "one", one), candidate(world, "two", two)
    await world.parent(replicas=3)
    await world.settle()
    assert sorted([len(one.effects), len(two.effects)]) == [0, 6]
    assert first.inner.ready
    assert second.inner.ready
    for process in (first, second):
        await process.stop()


async def test_when_the_leader_dies_the_standby_takes_over_within_the_lease_and_a_little():
    world = World()
    first = candidate(world, "one")
    await clock.sleep(5)
    second = candidate(world, "two")
    await clock.sleep(5)
    await first.kill()
    died = clock.ticks()
    await world.parent(replicas=1)
    await second.inner.leading.wait()
    assert clock.ticks() - died <= 15 + 2 + 1
    await clock.sleep(2)
    assert len(world.api.objects(kinds.POD)) == 1
    await second.stop()


async def test_a_leader_that_ends_well_lets_the_next_one_in_at_once():
    world = World()
    first = candidate(world, "one")
    await clock.sleep(5)
    second = candidate(world, "two")
    await clock.sleep(5)
    assert await first.stop()
    left = clock.ticks()
    await second.inner.leading.wait()
    assert clock.ticks() - left <= 2.5
    assert holder(world) == "two"
    await second.stop()


async def test_a_leader_that_is_cut_off_stops_writing_before_another_one_begins():
    world, one = World(), Harness()
    first = candidate(world, "one", one)
    await clock.sleep(5)
    second = candidate(world, "two")
    await clock.sleep(5)
    first.cut_off = True
    await second.inner.leading.wait()
    assert first.inner.fence.left_s < -2  # closed for more than two seconds
    assert await first.ended() is False
    await second.stop()


async def test_a_process_that_was_frozen_writes_nothing_when_it_wakes():
    world, one = World(), Harness()
    first = candidate(world, "one", one)
    await world.parent(replicas=1)
    await world.settle()
    done = len(one.done)
    asyncio.get_running_loop().freeze(60)
    (lease,) = world.api.objects(kinds.LEASE)
    taken = {**lease, "spec": {**lease["spec"], "holderIdentity": "two"}}
    world.api.history.write(kinds.LEASE, ("default", "family"), taken)
    await world.edit(replicas=3)  # it wakes, and hears of it before it knows that it was deposed
    assert await first.ended() is False
    assert len(one.done) == done


async def test_one_request_that_hangs_does_not_cost_the_lease():
    world = World()
    first = candidate(world, "one")
    await clock.sleep(5)
    world.network.plan(Lost(at_once=False), "get", "leases")
    await clock.sleep(60)
    assert holder(world) == "one"
    assert first.inner.leading.is_set()
    assert await first.stop()


async def test_a_standby_whose_request_hangs_takes_over_in_time_all_the_same():
    world = World()
    first = candidate(world, "one")
    await clock.sleep(5)
    second = candidate(world, "two")
    await clock.sleep(5)
    await first.kill()
    died = clock.ticks()
    world.network.plan(Lost(at_once=False), "get", "leases", nth=5)
    await second.inner.leading.wait()
    assert clock.ticks() - died <= 15 + 2 + 5
    await second.stop()


async def test_a_standby_that_is_asked_to_stop_stops():
    world = World()
    first = candidate(world, "one")
    await clock.sleep(5)
    second = candidate(world, "two")
    await clock.sleep(5)
    began = clock.ticks()
    assert await second.stop()
    assert clock.ticks() - began < 1
    assert holder(world) == "one"
    await first.stop()


# -- ends


def slow(lasts_s: float, began: list, ended: list):
    """Return controllers whose passes take long."""

    def made(client, stores):
        async def reconcile(key):
            began.append(key)
            await clock.sleep(lasts_s)
            ended.append(key)
            return Done()

        return [Controller("slow", (watches.main(PARENT),), reconcile, workers=2)]

    return made


async def test_a_pass_under_way_is_ended_and_no_new_one_begun():
    world, began, ended = World(), [], []
    process = Process(world.network, setup(), slow(5, began, ended)).start()
    await world.parent("p")
    await clock.sleep(2)
    stopping = asyncio.create_task(process.stop())
    await clock.sleep(1)
    await world.parent("late")
    assert await stopping
    assert began == ended == [("default", "p")]


async def test_work_that_arrives_while_it_stops_does_not_hold_a_process_up():
    world, began, ended = World(), [], []
    process = Process(world.network, setup(), slow(1, began, ended)).start()
    await world.parent("p")
    await clock.sleep(0.5)
    asked = clock.ticks()
    stopping = asyncio.create_task(process.stop())
    for number in range(5):
        await world.parent(f"late{number}")
        await clock.sleep(0.05)
    await stopping
    assert clock.ticks() - asked < 3


async def test_a_pass_that_does_not_end_is_cut_after_the_grace_period():
    world, began, ended = World(), [], []
    process = Process(world.network, setup(grace_s=10.0), slow(1000, began, ended)).start()
    await world.parent("p")
    await clock.sleep(2)
    asked = clock.ticks()
    assert await process.stop()
    assert clock.ticks() - asked == pytest.approx(10, abs=1)
    assert (len(began), len(ended)) == (1, 0)


# -- what does not end a process, and what does


async def test_a_row_of_the_watch_table_that_fails_does_not_stop_the_store():
    world, passes = World(), []

    def broken(client, stores):
        async def reconcile(key):
            passes.append(key)
            return Done()

        rows = (
            watches.Watch(PARENT, lambda obj: [("default", obj.metadata.labels["absent"])]),
            watches.main(PARENT),
        )
        return [Controller("broken", rows, reconcile)]

    process = Process(world.network, setup(), broken).start()
    await world.parent("p")
    await clock.sleep(5)
    await world.parent("q")
    await clock.sleep(5)
    assert passes == [("default", "p"), ("default", "q")]
    await process.stop()


class Strict(Resource, frozen=True, gc=False):
    spec: dict[str, int] = msgspec.field(default_factory=dict)


async def test_an_object_that_does_not_fit_its_type_is_told_and_the_rest_goes_on():
    world, passes = World(), []

    def noting(client, stores):
        async def reconcile(key):
            passes.append(key)
            return Done()

        return [Controller("noting", (watches.owned(kinds.POD, PARENT), watches.main(PARENT)),
                           reconcile)]  # fmt: skip

    made = Setup((Store(PARENT, Strict), Store(kinds.POD, Resource)))
    process = Process(world.network, lambda: made, noting).start()
    await world.parent("p", replicas=1)
    await clock.sleep(5)
    await world.parent("bad", word="no number")
    await clock.sleep(5)
    failing = {r.kind.plural: r.failing for r in process.inner.reflectors}
    assert "Expected `int`" in failing["parents"]
    assert failing["pods"] == ""
    await world.user.delete(Ref(PARENT, "default", "bad"), Resource)
    await world.parent("q", replicas=1)
    await clock.sleep(60)
    assert ("default", "q") in passes
    await process.stop()


async def test_a_background_service_that_dies_ends_the_process():
    world = World()

    async def service():
        await clock.sleep(5)
        raise RuntimeError("no port to listen on")

    process = Process(world.network, setup(), controllers)
    process.start()
    process.inner.services = (service,)
    with pytest.raises(RuntimeError, match="no port"):
        await process.ended()
    assert not process.inner.leading.is_set()


async def test_passes_that_fail_are_retried_reported_and_do_not_hold_others_up():
    world, passes, reports = World(), [], []

    class Observer:
        def passed(self, *_):
            pass

        def stuck(self, *seen):
            reports.append((seen[1], seen[3]))

    def failing(client, stores):
        async def reconcile(key):
            passes.append(key)
            if key[1] == "bad":
                raise ValueError("a bug")
            return Done()

        made = Controller("failing", (watches.main(PARENT),), reconcile, stuck_s=300)
        made.observer = Observer()
        return [made]

    process = Process(world.network, setup(), failing).start()
    await world.parent("bad")
    await world.parent("good")
    await clock.sleep(1200)
    assert passes.count(("default", "good")) == 1
    assert 10 < passes.count(("default", "bad")) < 60
    assert set(reports) == {(("default", "bad"), "ValueError: a bug")}
    await process.stop()


class SlurmError(Exception):
    """What another API than Kubernetes' may say."""


@pytest.mark.parametrize(
    ("expected", "level", "outcome"),
    [((), "error", "bug"), ((SlurmError,), "warning", "failed")],
)
async def test_what_a_controller_expects_is_retried_and_is_no_bug(expected, level, outcome, logs):
    world, outcomes = World(), []

    class Observer:
        def passed(self, _controller, outcome, *_):
            outcomes.append(outcome)

        def stuck(self, *_):
            pass

    def calling(client, stores):
        async def reconcile(key):
            if len(outcomes) < 2:
                raise SlurmError("GET /nodes: no answer")
            return Done()

        rows = (watches.main(PARENT),)
        more = {"expected": (ApiError, *expected)} if expected else {}
        return [Controller("calling", rows, reconcile, observer=Observer(), **more)]

    process = Process(world.network, setup(), calling).start()
    await world.parent("p")
    await clock.sleep(60)
    assert outcomes == [outcome, outcome, "done"]
    told = [entry["log_level"] for entry in logs if entry["event"] == "pass failed"]
    assert told == [level, level]
    await process.stop()


@pytest.mark.parametrize("error", [UnreachableError("reset"), TimeoutError("Slurm")])
async def test_kubernetes_errors_and_timeouts_are_always_expected_by_default(error, logs):
    world, passes = World(), []

    def failing(client, stores):
        async def reconcile(key):
            passes.append(key)
            if len(passes) == 1:
                raise error
            return Done()

        return [Controller("failing", (watches.main(PARENT),), reconcile)]

    process = Process(world.network, setup(), failing).start()
    await world.parent("p")
    await clock.sleep(60)
    assert len(passes) == 2
    told = [entry["log_level"] for entry in logs if entry["event"] == "pass failed"]
    assert told == ["warning"]
    await process.stop()


async def test_a_pass_has_a_deadline():
    world, passes = World(), []

    def hanging(client, stores):
        async def reconcile(key):
            passes.append(clock.ticks())
            await asyncio.Event().wait()
            return Done()

        return [Controller("hanging", (watches.main(PARENT),), reconcile, deadline_s=10)]

    process = Process(world.network, setup(), hanging).start()
    await world.parent("p")
    await clock.sleep(60)
    assert len(passes) > 3
    assert passes[1] - passes[0] >= 10
    await process.kill()
