"""A worker on every node that fits, as nodes come and go."""

from fakes.network import Lost
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .example import EXAMPLE, made
from .slinky import Scene

EVERY = made(
    "NodeSet",
    "every",
    controllerRef={"name": "slurm"},
    scalingMode="DaemonSet",
    slurmd={"image": "slurmd:26.05"},
)


def node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}}


async def come(scene: Scene, *names: str) -> None:
    """Let nodes come."""
    for name in names:
        await scene.user.create(kinds.NODE, node(name), dict)


def workers(scene: Scene) -> list[str]:
    return sorted(name for name in scene.pods() if name.startswith("every-"))


async def test_each_node_has_a_worker_that_is_called_after_it():
    async with Scene() as scene:
        await come(scene, "n0", "n1.example")
        await scene.rise(*EXAMPLE, EVERY)
        assert workers(scene) == ["every-n0", "every-n1.example"]
        assert scene.unready([("NodeSet", "every")]) == []


async def test_a_node_that_comes_has_its_worker_in_the_next_moment():
    async with Scene() as scene:
        await come(scene, "n0")
        await scene.rise(*EXAMPLE, EVERY)
        await come(scene, "n1")
        await clock.sleep(1)
        assert workers(scene) == ["every-n0", "every-n1"]


async def test_a_worker_whose_making_is_not_answered_is_not_made_twice():
    async with Scene() as scene:
        await come(scene, "n0", "n1")
        await scene.rise(*EXAMPLE)
        # Nor is its making told: the watch begins anew.
        scene.network.plan(Lost(after=True), "create", "pods")
        scene.network.mute = True
        await scene.make(EVERY)
        await clock.sleep(10)
        scene.network.mute = False
        scene.network.cut()
        await scene.settle()
        assert workers(scene) == ["every-n0", "every-n1"]


async def test_a_node_that_another_nodeset_gets_has_two_workers_at_no_time():
    def choosing(name: str) -> Object:
        spec = {"nodeSelector": {"of": name}}
        return {
            **EVERY,
            "metadata": {"name": name},
            "spec": {**EVERY["spec"], "template": {"spec": spec}},
        }

    async with Scene() as scene:
        await come(scene, "n0")
        await label(scene, "n0", "every-a")
        await scene.rise(*EXAMPLE, choosing("every-a"), choosing("every-b"))
        slurm = scene.slurm().slurmctld
        job = slurm.start("n0", start=int(slurm.now))
        await label(scene, "n0", "every-b")
        await clock.sleep(60)
        assert workers(scene) == ["every-a-n0"]
        slurm.end(job.job_id)
        await clock.sleep(60)
        assert workers(scene) == ["every-b-n0"]
        assert scene.lost == []


async def label(scene: Scene, node: str, whose: str) -> None:
    """Say whose node it is."""
    change = {"metadata": {"labels": {"of": whose}}}
    await scene.user.patch(Ref(kinds.NODE, "", node), change, dict)
