"""What users do to Parents, for tests that let something go wrong meanwhile."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fakes.port import Harness

from .family import World

Step = Callable[[World], Awaitable[object]]


@dataclass(frozen=True)
class Story:
    """How the world was before, and what a user then does to it."""

    before: tuple[Step, ...]
    then: tuple[Step, ...]

    async def world(self, seed: int = 0) -> World:
        """Return a world that is as it was before, without a process."""
        world = World(seed)
        for step in self.before:
            await step(world)
        if self.before:
            process = world.process()
            await world.settle()
            await process.stop()
        return world

    async def tell(self, world: World) -> None:
        """Let the user do it."""
        for step in self.then:
            await step(world)


def make(name: str = "p", **spec: object) -> Step:
    return lambda world: world.parent(name, **spec)


def edit(name: str = "p", **spec: object) -> Step:
    return lambda world: world.edit(name, **spec)


def remove(name: str = "p") -> Step:
    return lambda world: world.remove(name)


THREE = make(replicas=3, word="a")
STORIES = {
    "create": Story((), (THREE,)),
    "scale up": Story((make(replicas=1, word="a"),), (edit(replicas=3),)),
    "scale down": Story((THREE,), (edit(replicas=1),)),
    "edit": Story((THREE,), (edit(word="b"),)),
    "there and back": Story((THREE,), (edit(replicas=1), edit(replicas=3))),
    "delete": Story((THREE,), (remove(),)),
    "delete and create": Story((THREE,), (remove(), make("q", replicas=1))),
}


async def reference(story: Story) -> tuple[dict, list[str]]:
    """Return the end of a story when nothing goes wrong, and the effects that led to it."""
    world, harness = await story.world(), Harness()
    process = world.process(harness)
    await story.tell(world)
    await world.settle()
    await process.stop()
    return world.seen(), harness.effects
