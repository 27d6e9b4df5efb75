"""What goes wrong in SchedMD's operator and does not here, each by the thread that tells of it."""

from fakes.slurmrestd.faults import Says
from fakes.slurmrestd.slurm import Daemon
from shoal.kube import kinds
from shoal.runtime import clock

from .example import EXAMPLE
from .slinky import Scene
from .test_slinky_scale import workers

OURS = "slurm-operator: Pod is pending termination for scale-in"


async def test_a_worker_that_cannot_be_resumed_keeps_nobody_from_coming():
    """https://github.com/SlinkyProject/slurm-operator/issues/249"""
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm()
        slurm.plan(Says(404, {"errors": [{"error_number": 2009}]}), "POST", times=-1)
        slurm.slurmctld.update_nodes("slurm", ["cpu-0"], {"state": ["DRAIN"], "reason": OURS})
        await scene.edit("NodeSet", "cpu", replicas=4)
        await clock.sleep(30)
        assert workers(scene) == ["cpu-0", "cpu-1", "cpu-2", "cpu-3"]
        assert slurm.slurmctld.nodes["cpu-0"].reason == OURS
        slurm.heal()
        await scene.settle()
        assert "DRAIN" not in slurm.slurmctld.nodes["cpu-0"].flags


async def test_a_slurmctld_that_comes_and_goes_leaves_nothing_stuck_behind():
    """https://github.com/SlinkyProject/slurm-operator/issues/239"""
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm()
        await scene.edit("NodeSet", "cpu", replicas=1)
        for daemon in (Daemon.DOWN, Daemon.UP, Daemon.HUNG, Daemon.UP) * 15:
            slurm.controller = daemon
            await clock.sleep(7)
        await clock.sleep(60)
        assert workers(scene) == ["cpu-0"]
        assert scene.lost == []


async def test_a_nodeset_that_is_deleted_and_made_again_at_once_has_its_workers():
    """https://github.com/SlinkyProject/slurm-operator/issues/74"""
    async with Scene() as scene:
        await scene.rise()
        before = scene.pods()
        (nodeset,) = (
            o for o in EXAMPLE if o["kind"] == "NodeSet" and o["metadata"]["name"] == "cpu"
        )
        await scene.remove(scene.kind("NodeSet"), "cpu")
        while "cpu" in scene.objects(scene.kind("NodeSet")):
            await clock.sleep(1)
        await scene.make(nodeset)
        await scene.settle()
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert not {before["cpu-0"], before["cpu-1"]} & set(scene.pods().values())
        assert scene.unready() == []


async def test_a_deleted_nodesets_partition_stays_in_slurm_conf_until_its_jobs_are_over():
    """https://github.com/SlinkyProject/slurm-operator/issues/138"""
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("NodeSet", "cpu", partition={"enabled": True})
        await scene.settle()
        line = "PartitionName=cpu "
        assert line in scene.conf()
        job = scene.slurm().slurmctld.start("cpu-1")
        await scene.remove(scene.kind("NodeSet"), "cpu")
        await clock.sleep(300)
        assert line in scene.conf()
        scene.slurm().slurmctld.end(job.job_id)
        await scene.settle()
        assert line not in scene.conf()
        assert scene.lost == []


async def test_what_the_kubelet_says_of_a_pod_is_not_overwritten_by_what_slurm_says():
    """slurm-operator 1.2.1 writes the whole list of conditions, as it had read it a while ago."""
    async with Scene() as scene:
        await scene.rise()
        pod = scene.objects(kinds.POD)["cpu-0"]
        news = {"type": "DisruptionTarget", "status": "True", "reason": "x", "message": ""}
        told = [*pod["status"]["conditions"], news]
        changed = {**pod, "status": {**pod["status"], "conditions": told}}
        scene.api.history.write(kinds.POD, ("default", "cpu-0"), changed)
        scene.slurm().slurmctld.start("cpu-0")
        await clock.sleep(30)
        found = {c["type"] for c in scene.objects(kinds.POD)["cpu-0"]["status"]["conditions"]}
        assert {"DisruptionTarget", "Ready", "SlurmNodeStateMixed"} <= found
