"""A cluster of slurm.nebius.ai goes down and comes back: no job is lost, and no root replaced."""

import pytest

from fakes.slurmrestd.slurm import Daemon
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.types import NODE_SET
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.model.maintenance import Mode
from shoal.runtime import clock

from .nebius import Nebius, cluster, nodes, nodeset

FIVE_MINUTES_S = 300
DOWN = ("downscale", "downscaleAndDeletePopulateJail", "downscaleAndOverwritePopulateJail")
JOB = "one-populate-jail"
PARTS = (naming.CONTROLLER, naming.LOGIN, naming.REST, naming.ACCOUNTING, naming.DATABASE)


def parts(scene: Nebius) -> dict[str, int]:
    """Return how many pods each part has."""
    return {part: len(scene.pods_of(part)) for part in (*PARTS, naming.WORKERS, naming.NODE_SET)}


def job(scene: Nebius) -> tuple[str, str]:
    """Return the uid of the Job that fills the root, and whether it replaces what is there."""
    found = scene.objects(kinds.JOB)[JOB]
    (container,) = found["spec"]["template"]["spec"]["containers"]
    (told,) = [env["value"] for env in container["env"] if env["name"] == "OVERWRITE"]
    return found["metadata"]["uid"], told


async def risen(scene: Nebius, *more: Object) -> None:
    await scene.rise(cluster(), *more)
    assert scene.status()["phase"] == "Available"


# -- the root


async def test_nothing_that_has_the_root_comes_before_it_is_filled():
    async with Nebius() as scene:
        scene.toys.stuck = True
        await scene.rise(cluster(), nodeset())
        assert parts(scene) == {
            **dict.fromkeys(PARTS, 0), naming.ACCOUNTING: 1, naming.DATABASE: 1,
            naming.WORKERS: 0, naming.NODE_SET: 0,
        }  # fmt: skip
        for part in ("Controllers", "Login", "Workers"):
            told = scene.condition(f"{part}Available")
            assert told["status"] == "False"
            assert "the shared root is being filled" in told["message"]
        assert scene.condition("AccountingAvailable")["status"] == "True"
        assert scene.status("cpu", NODE_SET)["phase"] == "Provisioning"


async def test_a_job_that_gave_up_is_told_and_tried_again_when_it_is_deleted():
    async with Nebius() as scene:
        scene.toys.stuck = True
        await scene.rise(cluster())
        found = scene.objects(kinds.JOB)[JOB]
        gave_up = {"type": "Failed", "status": "True", "message": "disk full"}
        scene.api.history.write(
            kinds.JOB, ("default", JOB), {**found, "status": {"conditions": [gave_up]}}
        )
        await scene.settle()
        assert "disk full" in scene.condition("ControllersAvailable")["message"]
        scene.toys.stuck = False
        await scene.drop(kinds.JOB, JOB)
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_a_running_cluster_stays_up_when_somebody_deletes_the_job():
    async with Nebius() as scene:
        await risen(scene)
        pods = scene.pods()
        scene.toys.stuck = True
        await scene.drop(kinds.JOB, JOB)
        await scene.settle()
        assert JOB in scene.objects(kinds.JOB)
        assert scene.pods() == pods


async def test_a_root_that_the_user_brings_is_used_at_once():
    async with Nebius() as scene:
        await scene.rise(cluster(maintenance="skipPopulateJail"))
        assert scene.status()["phase"] == "Available"
        assert scene.objects(kinds.JOB) == {}
        assert scene.condition("PopulateJailMode")["reason"] == "skipPopulateJail"


# -- going down


@pytest.mark.parametrize("mode", DOWN)
async def test_slurmctld_goes_only_when_the_last_worker_has_ended_its_jobs(mode):
    async with Nebius() as scene:
        await risen(scene, nodeset())
        slurm = scene.slurm("one").slurmctld
        jobs = [slurm.start("worker-1"), slurm.start("cpu-0")]
        await scene.change(maintenance=mode)
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods_of(naming.WORKERS) == ["one-worker-1"]
        assert scene.pods_of(naming.NODE_SET) == ["cpu-0"]
        assert all(parts(scene)[part] for part in PARTS)
        told = scene.condition("ControllersAvailable")
        assert (told["status"], told["reason"]) == ("False", "Maintenance")
        assert "2 workers are left" in told["message"]
        slurm.end(jobs[0].job_id)
        await clock.sleep(FIVE_MINUTES_S)
        assert all(parts(scene)[part] for part in PARTS)
        slurm.end(jobs[1].job_id)
        await scene.settle()
        assert set(parts(scene).values()) == {0}
        assert scene.lost == []
        assert scene.status()["phase"] == "Not available"
        assert scene.condition("LoginAvailable")["reason"] == "Maintenance"
        assert scene.condition("PodsReady", "cpu", NODE_SET)["reason"] == "Maintenance"
        await scene.change(maintenance="none")
        await scene.settle()
        assert scene.status()["phase"] == "Available"
        assert scene.status()["readyWorkers"] == 4


async def test_while_slurm_says_nothing_a_cluster_stays_up():
    async with Nebius() as scene:
        await risen(scene)
        scene.slurm("one").controller = Daemon.DOWN
        before = parts(scene)
        await scene.change(maintenance="downscale")
        await clock.sleep(FIVE_MINUTES_S)
        assert parts(scene) == before
        assert scene.lost == []


async def test_a_slurmctld_that_somebody_took_down_comes_back_for_its_workers():
    async with Nebius() as scene:
        await risen(scene)
        found = scene.objects(kinds.STATEFUL_SET)["one-controller"]
        scene.toys.stuck = True
        await scene.drop(kinds.JOB, JOB)
        scene.api.history.write(
            kinds.STATEFUL_SET,
            ("default", "one-controller"),
            {**found, "spec": {**found["spec"], "replicas": 0},
             "metadata": {**found["metadata"], "generation": found["metadata"]["generation"] + 1}},
        )  # fmt: skip
        await scene.settle()
        assert scene.pods_of(naming.CONTROLLER) == ["one-controller-0"]


# -- what becomes of the root


async def test_a_downscale_leaves_the_root_as_it_is():
    async with Nebius() as scene:
        await risen(scene)
        before = job(scene)
        for mode in ("downscale", "none"):
            await scene.change(maintenance=mode)
            await scene.settle()
            assert job(scene) == before


async def test_the_job_is_taken_away_and_made_anew_afterwards():
    async with Nebius() as scene:
        await risen(scene)
        before = job(scene)
        await scene.change(maintenance="downscaleAndDeletePopulateJail")
        await scene.settle()
        assert scene.objects(kinds.JOB) == {}
        await scene.change(maintenance="none")
        await scene.settle()
        uid, overwrites = job(scene)
        assert (uid != before[0], overwrites) == (True, "0")


async def test_each_overwriting_maintenance_replaces_the_root_once_and_under_nobody():
    async with Nebius() as scene:
        await risen(scene)
        seen = {job(scene)[0]}
        for _ in range(2):
            running = scene.slurm("one").slurmctld.start("worker-0")
            await scene.change(maintenance="downscaleAndOverwritePopulateJail")
            await clock.sleep(FIVE_MINUTES_S)
            assert JOB not in scene.objects(kinds.JOB)  # it would replace the root of a job
            scene.slurm("one").slurmctld.end(running.job_id)
            await scene.settle()
            uid, overwrites = job(scene)
            assert (uid in seen, overwrites) == (False, "1")
            seen.add(uid)
            await scene.change(maintenance="none")
            await scene.settle()
            assert job(scene)[0] == uid
            assert scene.status()["phase"] == "Available"
        assert scene.lost == []


async def test_a_cluster_that_is_wanted_back_early_waits_until_its_root_is_whole():
    async with Nebius() as scene:
        await risen(scene)
        scene.toys.stuck = True
        await scene.change(maintenance="downscaleAndOverwritePopulateJail")
        await scene.settle()
        for mode in ("none", "skipPopulateJail"):
            await scene.change(maintenance=mode)
            await scene.settle()
            assert scene.pods_of(naming.CONTROLLER) == []
            assert scene.pods_of(naming.WORKERS) == []
        scene.toys.stuck = False
        scene.toys.finish(("default", JOB))
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_a_user_who_wants_everything_replaced_has_it_replaced_under_nobody():
    async with Nebius() as scene:
        await scene.rise(cluster(populateJail={"overwrite": True}))
        assert job(scene)[1] == "1"
        await scene.drop(kinds.JOB, JOB)
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.objects(kinds.JOB) == {}
        assert scene.pods_of(naming.CONTROLLER) == ["one-controller-0"]


async def test_workers_that_are_no_longer_asked_for_are_drained_first():
    async with Nebius() as scene:
        await risen(scene)
        slurm = scene.slurm("one").slurmctld
        running = slurm.start("worker-0")
        await scene.change(**nodes(worker=None))
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods_of(naming.WORKERS) == ["one-worker-0"]
        slurm.end(running.job_id)
        await scene.settle()
        assert scene.pods_of(naming.WORKERS) == []
        assert scene.lost == []
        assert not scene.condition("WorkersAvailable")
        assert scene.status()["phase"] == "Available"


def needed(scene: Nebius) -> set[str]:
    """Name what a worker of the cluster's own cannot do without, as far as it is there."""
    wanted = {
        kinds.SERVICE: {"one-worker-svc"},
        kinds.CONFIG_MAP: {"one-worker-security-limits"},
        kinds.POD_DISRUPTION_BUDGET: {"one-workers-pdb"},
    }
    return {name for kind, names in wanted.items() for name in names & {*scene.there(kind)}}


async def test_what_running_workers_need_stays_until_the_last_of_them_is_gone():
    async with Nebius() as scene:
        await risen(scene)
        slurm, whole = scene.slurm("one").slurmctld, needed(scene)
        uid = scene.there(kinds.SERVICE)["one-worker-svc"]["metadata"]["uid"]
        running = slurm.start("worker-0")
        await scene.change(**nodes(worker=None))
        await clock.sleep(FIVE_MINUTES_S)
        assert needed(scene) == whole == {
            "one-worker-svc", "one-worker-security-limits", "one-workers-pdb",
        }  # fmt: skip
        kept = scene.there(kinds.SERVICE)["one-worker-svc"]
        assert kept["metadata"]["uid"] == uid
        labels = scene.there(kinds.POD)["one-worker-0"]["metadata"]["labels"]
        assert kept["spec"]["selector"].items() <= labels.items()
        assert "NodeSet=one-worker Feature=worker" in scene.conf("one-slurm-configs")
        slurm.end(running.job_id)
        await scene.settle()
        assert needed(scene) == set()
        assert "NodeSet=one-worker" not in scene.conf("one-slurm-configs")
        assert scene.lost == []


@pytest.mark.parametrize("mode", [mode.value for mode in Mode if mode.down])
async def test_slurmctlds_images_are_held_ready_during_maintenance_by_pods_without_the_root(mode):
    async with Nebius() as scene:
        await risen(scene)
        before = scene.there(kinds.DAEMON_SET)["one-controller-placeholder"]
        await scene.change(maintenance=mode)
        await scene.settle()
        assert scene.pods_of(naming.CONTROLLER) == []
        assert scene.there(kinds.DAEMON_SET)["one-controller-placeholder"] == before
        assert "volumes" not in before["spec"]["template"]["spec"]
