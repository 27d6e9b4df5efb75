"""Several slurmctlds, and a slurmdbd that comes later."""

from shoal.dialects.slinky.naming import NAMING
from shoal.kube import kinds
from shoal.runtime import clock

from .example import ACCOUNTING, CONTROLLER, EXAMPLE, made
from .slinky import Scene

ACTIVE = NAMING.labels.active
MANY = {
    "ha": {"enabled": True, "backups": 1},
    "persistence": {"enabled": True, "existingClaim": "state"},
}


def labelled(scene: Scene) -> list[str]:
    pods = scene.objects(kinds.POD).values()
    return sorted(p["metadata"]["name"] for p in pods if p["metadata"]["labels"].get(ACTIVE))


async def test_of_several_slurmctlds_one_is_served_by_the_service_and_nothing_flaps():
    many = made("Controller", "slurm", **{**CONTROLLER["spec"], **MANY})
    rest = [many if obj is CONTROLLER else obj for obj in EXAMPLE]
    async with Scene() as scene:
        await scene.rise(*rest)
        assert labelled(scene) == ["slurm-controller-0"]
        written = scene.written
        await clock.sleep(600)
        assert scene.written == written


async def test_slurmctld_hears_of_a_new_slurmdbd_only_when_that_listens():
    alone = {k: v for k, v in CONTROLLER["spec"].items() if k != "accountingRef"}
    first = [obj for obj in EXAMPLE if obj not in (CONTROLLER, ACCOUNTING)]
    async with Scene() as scene:
        await scene.rise(made("Controller", "slurm", **alone), *first)
        pods = scene.pods()
        scene.toys.begins_after_s = 30.0
        await scene.make(ACCOUNTING)
        await scene.edit("Controller", "slurm", accountingRef={"name": "slurm"})
        await clock.sleep(20)
        assert scene.ready("Controller", "slurm")[1] == "AccountingStarting"
        assert scene.pods()["slurm-controller-0"] == pods["slurm-controller-0"]
        assert "accounting_storage/none" in scene.conf()
        await scene.settle()
        assert "accounting_storage/slurmdbd" in scene.conf()
        assert scene.unready() == []


MONITOR = {"enabled": True, "serviceMonitor": {"enabled": True}}


async def test_a_monitor_comes_when_its_kind_does_and_goes_when_nobody_wants_it():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("Controller", "slurm", metrics=MONITOR)
        await scene.settle()
        assert scene.unready() == []
        scene.serve(kinds.SERVICE_MONITOR)
        await clock.sleep(120)
        assert list(scene.objects(kinds.SERVICE_MONITOR)) == ["slurm-controller"]
        await scene.edit("Controller", "slurm", metrics={"enabled": True, "serviceMonitor": None})
        await scene.settle()
        assert list(scene.objects(kinds.SERVICE_MONITOR)) == []
