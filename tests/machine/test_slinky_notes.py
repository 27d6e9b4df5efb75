"""What an admin noted of a worker that serves does not keep it, and is not lost."""

from shoal.runtime import clock

from .slinky import Scene

NOTE = "loud fan"


async def test_a_note_outlives_a_drain_of_ours():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm().slurmctld
        for name in ("cpu-0", "cpu-1"):
            slurm.start(name, limit=60)
        node = slurm.nodes["cpu-1"]
        slurm.update_nodes("root", ["cpu-1"], {"reason": NOTE})
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(60)
        drained = [n.name for n in slurm.nodes.values() if "DRAIN" in n.flags]
        assert drained == ["cpu-1"]
        assert node.reason == "slurm-operator: Pod is pending termination for scale-in"
        await scene.edit("NodeSet", "cpu", replicas=2)
        await clock.sleep(60)
        assert "DRAIN" not in node.flags
        assert node.reason == NOTE
        assert NOTE not in node.comment
        assert scene.lost == []
