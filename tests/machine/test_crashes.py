"""A process that dies after any effect leaves nothing that the next one does not put right."""

import pytest

from fakes.loop import run
from fakes.port import Crash, Harness, Lie, Wait
from shoal.runtime import clock

from .family import World
from .stories import STORIES, Story, reference

EFFECTS = {name: run(reference(story)) for name, story in STORIES.items()}
CRASHES = [(name, k) for name, (_, effects) in EFFECTS.items() for k in range(1, len(effects) + 1)]


async def interrupted(story: Story, harness: Harness) -> tuple[World, Harness]:
    """Run a story with a process that crashes and one that begins where it ended."""
    world = await story.world()
    first = world.process(harness)
    await story.tell(world)
    await harness.crashed.wait()
    await first.kill()
    after = Harness()
    second = world.process(after)
    await world.settle()
    await second.stop()
    return world, after


@pytest.mark.parametrize(("name", "k"), CRASHES)
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
async def test_a_crash_at_any_effect_changes_nothing_in_the_end(name, k, before):
    expected, effects = EFFECTS[name]
    first = Harness({k: Crash(before)})
    world, after = await interrupted(STORIES[name], first)
    assert world.seen() == expected
    assert world.owners() == set()
    # What was done is not done again: a pass that was cut short costs a status at most.
    assert len(first.done) + len(after.effects) <= len(effects) + 1


@pytest.mark.parametrize("name", STORIES)
async def test_a_process_that_dies_again_and_again_gets_there(name):
    story, (expected, _) = STORIES[name], EFFECTS[name]
    world = await story.world()
    await story.tell(world)
    for _ in range(40):
        harness = Harness({1: Crash()})
        process = world.process(harness)
        await clock.sleep(60)
        await process.kill()
        if not harness.effects:
            break
    assert world.seen() == expected
    assert harness.effects == []


async def test_an_effect_that_takes_long_keeps_only_its_own_key_waiting():
    world = World()
    harness = Harness({1: Wait(100)})
    process = world.process(harness)
    await world.parent("slow", replicas=1)
    await clock.sleep(1)
    await world.parent("quick", replicas=1)
    await clock.sleep(10)
    assert "Pod quick-0" in world.seen()
    assert "Pod slow-0" not in world.seen()
    await world.settle()
    assert "Pod slow-0" in world.seen()
    await process.stop()


async def test_what_was_said_to_be_done_and_was_not_is_done_when_the_world_tells():
    world = await STORIES["scale down"].world()
    # The first effect is one of the deletions; the answer says that the pod is gone.
    lie = b'{"kind": "Status", "status": "Success"}'
    process = world.process(Harness({1: Lie(lie)}))
    await STORIES["scale down"].tell(world)
    await world.settle()
    await process.kill()
    assert len([name for name in world.seen() if name.startswith("Pod")]) == 2
    second = world.process()
    await world.settle()
    assert world.seen() == EFFECTS["scale down"][0]
    await second.stop()
