"""An operator that dies after any effect leaves nothing that the next one does not put right."""

from collections.abc import Awaitable, Callable

import pytest

from fakes.port import Crash, Harness
from shoal.kube.objects import Object
from shoal.runtime import clock

from .example import EXAMPLE, encoded
from .slinky import Scene, Snapshot, played

Step = Callable[[Scene], Awaitable[None]]


async def create(scene: Scene) -> None:
    await scene.make(*EXAMPLE)


async def configure(scene: Scene) -> None:
    await scene.edit("Controller", "slurm", extraConf="SelectTypeParameters=CR_CPU\n")


async def break_it(scene: Scene) -> None:
    await scene.edit("Controller", "slurm", extraConf="Nonsense=1\n")


async def rekey(scene: Scene) -> None:
    await scene.rewrite("Secret", "keys", **encoded(slurm_key="new"))


async def shrink(scene: Scene) -> None:
    await scene.edit("NodeSet", "cpu", replicas=0)


async def grow(scene: Scene) -> None:
    await scene.edit("NodeSet", "cpu", replicas=4)


async def risen() -> Snapshot:
    async with Scene() as scene:
        await (await scene.rise()).stop()
        return scene.snapshot()


RISEN = played(risen())
STORIES: dict[str, tuple[Snapshot | None, Step]] = {
    "create": (None, create),
    "configure": (RISEN, configure),
    "break": (RISEN, break_it),
    "rekey": (RISEN, rekey),
    "shrink": (RISEN, shrink),
    "grow": (RISEN, grow),
}


async def told(name: str) -> tuple[dict[str, Object], int]:
    begin, step = STORIES[name]
    async with Scene(begin=begin) as scene:
        harness = Harness()
        scene.process(harness)
        await step(scene)
        await scene.settle()
        return scene.seen(), len(harness.effects)


# The end of each story when nothing goes wrong, and how many effects led to it.
EXPECTED = {name: played(told(name)) for name in STORIES}


def crashes(*names: str) -> list[tuple[str, int]]:
    return [(name, k) for name in names for k in range(1, EXPECTED[name][1] + 1)]


@pytest.mark.parametrize(("name", "k"), crashes("create", "configure", "shrink"))
async def test_a_crash_after_any_effect_changes_nothing_in_the_end(name, k):
    begin, step = STORIES[name]
    async with Scene(begin=begin) as scene:
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
    async with Scene(begin=begin) as scene:
        await step(scene)
        for _ in range(80):
            harness = Harness({1: Crash()})
            process = scene.process(harness)
            await clock.sleep(60)
            await process.kill()
            if not harness.effects:
                break
        assert harness.effects == []
        assert scene.seen() == EXPECTED[name][0]
        assert scene.lost == []
