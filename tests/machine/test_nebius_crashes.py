"""An operator of slurm.nebius.ai may die after any effect: the next one comes to the same end."""

from collections.abc import Awaitable, Callable

import pytest

from fakes.port import Crash, Harness
from shoal.dialects.nebius.types import NODE_SET, SLURM_CLUSTER
from shoal.kube.objects import Object
from shoal.runtime import clock

from .nebius import Nebius, cluster, nodes, nodeset
from .slinky import Snapshot, played

Step = Callable[[Nebius], Awaitable[None]]


async def create(scene: Nebius) -> None:
    await scene.make(cluster(), nodeset())


async def update(scene: Nebius) -> None:
    await scene.change(
        customSlurmConfig="KillWait=31\n",
        **nodes(
            accounting={"enabled": False},
            login={"size": 2},
            worker={"slurmd": {"image": "slurmd:26.05.1"}},
        ),
    )


async def overwrite(scene: Nebius) -> None:
    await scene.change(maintenance="downscaleAndOverwritePopulateJail")


async def wake(scene: Nebius) -> None:
    await scene.change(maintenance="none")


async def delete(scene: Nebius) -> None:
    await scene.drop(NODE_SET, "cpu")
    await scene.drop(SLURM_CLUSTER, "one")


async def after(*steps: Step) -> Snapshot:
    async with Nebius() as scene:
        process = scene.process()
        for step in steps:
            await step(scene)
            await scene.settle()
        await process.stop()
        return scene.snapshot()


RISEN = played(after(create))
DOWN = played(after(create, overwrite))
STORIES: dict[str, tuple[Snapshot | None, Step]] = {
    "create": (None, create),
    "update": (RISEN, update),
    "maintenance": (RISEN, overwrite),
    "back": (DOWN, wake),
    "delete": (RISEN, delete),
}


async def told(name: str) -> tuple[dict[str, Object], int]:
    begin, step = STORIES[name]
    async with Nebius(begin=begin) as scene:
        harness = Harness()
        scene.process(harness)
        await step(scene)
        await scene.settle()
        return scene.seen(), len(harness.effects)


# The end of each story when nothing goes wrong, and how many effects led to it.
EXPECTED = {name: played(told(name)) for name in STORIES}
CRASHES = [(name, k) for name in STORIES for k in range(1, EXPECTED[name][1] + 1)]


@pytest.mark.parametrize(("name", "k"), CRASHES)
async def test_a_crash_after_any_effect_changes_nothing_in_the_end(name, k):
    begin, step = STORIES[name]
    async with Nebius(begin=begin) as scene:
        harness = Harness({k: Crash()})
        first = scene.process(harness)
        await step(scene)
        await harness.crashed.wait()
        await first.kill()
        scene.process()
        await scene.settle()
        assert scene.seen() == EXPECTED[name][0]
        assert scene.lost == []


@pytest.mark.parametrize("name", STORIES)
async def test_an_operator_that_dies_after_each_effect_gets_there(name):
    begin, step = STORIES[name]
    async with Nebius(begin=begin) as scene:
        await step(scene)
        for _ in range(150):
            harness = Harness({1: Crash()})
            process = scene.process(harness)
            await clock.sleep(60)
            await process.kill()
            if not harness.effects:
                break
        assert harness.effects == []
        assert scene.seen() == EXPECTED[name][0]
        assert scene.lost == []
