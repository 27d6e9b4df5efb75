"""Workers that tell Slurm other things of their nodes than those before them."""

from shoal.decide.facts import told_of

from .slinky import Scene


async def test_slurm_makes_a_record_anew_for_a_worker_of_another_shape_and_for_no_other():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm().slurmctld
        job, before = slurm.start("cpu-0", start=int(slurm.now)), dict(slurm.nodes)
        await scene.edit("NodeSet", "cpu", slurmd={"image": "slurmd:26.05.1"})
        await scene.settle()
        assert all(slurm.nodes[name] is before[name] for name in before)
        shape = told_of(slurm.nodes["cpu-1"].comment).shape
        await scene.edit("NodeSet", "cpu", extraConf="Features=fast")
        await scene.settle()
        # The one with a job is as it was.
        assert slurm.nodes["cpu-0"] is before["cpu-0"]
        assert slurm.nodes["cpu-1"] is not before["cpu-1"]
        slurm.end(job.job_id)
        await scene.settle()
        assert slurm.nodes["cpu-0"] is not before["cpu-0"]
        shapes = {told_of(slurm.nodes[name].comment).shape for name in ("cpu-0", "cpu-1")}
        assert len(shapes) == 1
        assert shape not in shapes
        assert scene.lost == []
