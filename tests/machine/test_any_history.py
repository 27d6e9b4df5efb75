"""Whatever happens in whatever order: the end is what the users' last wishes say."""

from contextlib import suppress
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.loop import run
from fakes.network import Delayed, Lost, Stale
from fakes.port import Crash, Harness
from fakes.refusals import Refusal
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Ref
from shoal.kubeapi.errors import NotFoundError
from shoal.runtime import clock

from .family import HOLD, PARENT, World

NAMES = ("p", "q")
names = st.sampled_from(NAMES)
pauses = st.sampled_from([0.0, 0.01, 0.1, 0.5, 3.0, 40.0])
faults = st.sampled_from(
    [
        Refusal(409, "Conflict", "somebody was faster"),
        Refusal(429, "TooManyRequests", "later", retry_after_s=2),
        Refusal(500, "InternalError", "etcdserver: leader changed"),
        Lost(),
        Lost(after=True),
        Lost(at_once=False),
        Lost(after=True, at_once=False),
        Delayed(5),
    ]
)
verbs = st.sampled_from(["create", "patch", "apply", "delete", "list"])


@dataclass(frozen=True)
class Wish:
    """A user wants a Parent with so many pods, or none (-1)."""

    name: str
    replicas: int

    async def happen(self, scene: "Scene") -> None:
        there = [o for o in scene.world.api.objects(PARENT) if o["metadata"]["name"] == self.name]
        ending = any("deletionTimestamp" in obj["metadata"] for obj in there)
        with suppress(NotFoundError):  # it went on the way
            if self.replicas < 0 and there:
                await scene.world.remove(self.name)
            elif self.replicas >= 0 and not there:
                await scene.world.parent(self.name, replicas=self.replicas)
            elif self.replicas >= 0 and not ending:
                await scene.world.edit(self.name, replicas=self.replicas)


@dataclass(frozen=True)
class Vandal:
    """Somebody deletes what is not theirs."""

    kind: kinds.Kind
    name: str

    async def happen(self, scene: "Scene") -> None:
        with suppress(NotFoundError):
            await scene.world.user.delete(Ref(self.kind, "default", self.name), Resource)


@dataclass(frozen=True)
class Trouble:
    """The API server misbehaves at one of the next requests."""

    fault: object
    verb: str
    nth: int

    async def happen(self, scene: "Scene") -> None:
        scene.world.network.plan(self.fault, self.verb, nth=self.nth)


@dataclass(frozen=True)
class Cut:
    """The watches break, and the history with them, or a new list comes from the past."""

    gone: bool
    past: int

    async def happen(self, scene: "Scene") -> None:
        if self.gone:
            scene.world.api.history.compact()
        if self.past:
            scene.world.network.plan(Stale(self.past), "list", times=2)
        scene.world.network.cut()


@dataclass(frozen=True)
class Death:
    """The process dies at one of its next effects, and another one begins."""

    after: int

    async def happen(self, scene: "Scene") -> None:
        scene.die_after(self.after)


@dataclass
class Scene:
    """A world with one process after the other."""

    world: World

    def __post_init__(self) -> None:
        self.harness = Harness()
        self.process = self.world.process(self.harness)

    def die_after(self, count: int) -> None:
        self.harness.tricks[len(self.harness.effects) + count] = Crash()

    async def pause(self, seconds: float) -> None:
        await clock.sleep(seconds)
        if self.harness.crashed.is_set():
            await self.process.kill()
            self.__post_init__()

    async def end(self) -> None:
        """Let all trouble be over, and wait until nothing moves."""
        while True:
            await self.world.settle()
            if not self.harness.crashed.is_set():
                break
            await self.pause(0)
        await self.process.stop()


happenings = st.one_of(
    st.builds(Wish, names, st.integers(-1, 3)),
    st.builds(Wish, names, st.integers(-1, 3)),
    st.builds(Vandal, st.just(kinds.POD), names.map(lambda name: f"{name}-0")),
    st.builds(Vandal, st.just(kinds.CONFIG_MAP), names.map(lambda name: f"{name}-config")),
    st.builds(Trouble, faults, verbs, st.integers(1, 3)),
    st.builds(Cut, st.booleans(), st.integers(0, 6)),
    st.builds(Death, st.integers(1, 4)),
)


def expected(world: World) -> dict[str, set[str]]:
    """Return what each Parent that is there must have."""
    found = {}
    for obj in world.api.objects(PARENT):
        name, count = obj["metadata"]["name"], obj["spec"].get("replicas", 0)
        found[name] = {f"{name}-config", *(f"{name}-{n}" for n in range(count))}
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(happenings, pauses), max_size=14), st.integers(0, 5))
def test_the_end_is_what_the_last_wishes_say(history, seed):
    async def scenario() -> None:
        world = World(seed)
        scene = Scene(world)
        for happening, pause_s in history:
            await happening.happen(scene)
            await scene.pause(pause_s)
        await scene.end()

        owned = {name: set() for name in expected(world)}
        for obj in (*world.api.objects(kinds.POD), *world.api.objects(kinds.CONFIG_MAP)):
            (owner,) = obj["metadata"]["ownerReferences"]
            owned[owner["name"]].add(obj["metadata"]["name"])
        assert owned == expected(world)
        assert world.owners() == set()
        for obj in world.api.objects(PARENT):
            assert obj["metadata"]["finalizers"] == [HOLD]
            assert "deletionTimestamp" not in obj["metadata"]
            assert obj.get("status", {}).get("replicas", 0) == obj["spec"].get("replicas", 0)

    run(scenario())
