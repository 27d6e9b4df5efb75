"""slurmctld is never started on an empty state where there was one without the user's word."""

from shoal.dialects.slinky.naming import NAMING
from shoal.dialects.slinky.types import CONTROLLER
from shoal.kube import kinds
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .example import CONTROLLER as ALONE
from .example import FILES, KEYS, SPACE
from .slinky import Scene

POD = "slurm-controller-0"
MAP = "slurm-controller-state"
NOTES = NAMING.annotations


def notes(scene: Scene) -> dict[str, str]:
    """Return the annotations of the Controller."""
    return dict(scene.find("Controller", "slurm")["metadata"].get("annotations", {}))


async def annotate(scene: Scene, **told: str | None) -> None:
    """Let the user annotate the Controller, by the names that `Annotations` has."""
    changes = {getattr(NOTES, name): value for name, value in told.items()}
    change = {"metadata": {"annotations": changes}}
    await scene.user.patch(Ref(CONTROLLER, SPACE, "slurm"), change, dict)


async def lose(scene: Scene) -> None:
    """Empty the volume while slurmctld is away."""
    scene.toys.emptied.add((SPACE, POD))
    await scene.remove(kinds.POD, POD)
    await clock.sleep(10)


async def test_that_there_is_a_state_is_noted_and_slurmctld_is_not_restarted_for_it():
    spec = {k: v for k, v in ALONE["spec"].items() if k != "accountingRef"}
    async with Scene() as scene:
        await scene.rise(KEYS, FILES, {**ALONE, "spec": spec})
        uid = scene.find("Controller", "slurm")["metadata"]["uid"]
        assert notes(scene)[NOTES.has_state] == uid
        assert scene.find("ConfigMap", MAP)["data"]["expected"] == "true\n"
        there = [c.after for c in scene.api.history.log if c.kind is kinds.POD and c.after]
        pods = {pod["metadata"]["uid"] for pod in there if pod["metadata"]["name"] == POD}
        assert pods == {scene.pods()[POD]}


async def test_a_slurmctld_whose_state_is_gone_is_not_started_and_the_condition_says_what_to_do():
    async with Scene() as scene:
        await scene.rise()
        workers = {name: uid for name, uid in scene.pods().items() if "controller" not in name}
        await lose(scene)
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "StateLost")
        assert f"{NOTES.accept_empty_state}=true" in message
        blocked = scene.pods()[POD]
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "StateLost"
        assert scene.pods()[POD] == blocked
        assert scene.pods().items() >= workers.items()


async def test_the_users_word_starts_it_once_and_the_next_loss_is_one_again():
    async with Scene() as scene:
        await scene.rise()
        for _ in range(2):
            await lose(scene)
            assert scene.ready("Controller", "slurm")[1] == "StateLost"
            await annotate(scene, accept_empty_state="true")
            await scene.settle()
            assert scene.ready("Controller", "slurm")[0] == "True"
            assert NOTES.accept_empty_state not in notes(scene)
            assert scene.find("ConfigMap", MAP)["data"]["expected"] == "true\n"


async def test_a_restored_volume_needs_no_word():
    async with Scene() as scene:
        await scene.rise()
        await lose(scene)
        scene.toys.emptied.clear()
        await scene.remove(kinds.POD, POD)
        await scene.settle()
        assert scene.ready("Controller", "slurm")[0] == "True"


async def test_the_loss_of_either_note_does_not_let_slurmctld_start_without_its_state():
    async with Scene() as scene:
        await scene.rise()
        await lose(scene)
        await annotate(scene, has_state=None)
        await scene.remove(kinds.POD, POD)
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "StateLost"
        await annotate(scene, has_state=scene.find("Controller", "slurm")["metadata"]["uid"])
        await scene.remove(kinds.CONFIG_MAP, MAP)
        await scene.remove(kinds.POD, POD)
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "StateLost"


async def test_a_restart_of_the_operator_forgets_nothing_of_it():
    async with Scene() as scene:
        process = await scene.rise()
        await process.kill()
        scene.toys.emptied.add((SPACE, POD))
        await scene.remove(kinds.POD, POD)
        await clock.sleep(10)
        scene.process()
        await scene.settle()
        assert scene.ready("Controller", "slurm")[1] == "StateLost"
