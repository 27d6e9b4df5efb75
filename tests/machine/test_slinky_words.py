"""What the operator says of workers: events about what it did, and a condition of what goes on."""

import asyncio

from shoal.dialects.slinky.naming import NAMING
from shoal.dialects.slinky.types import NODE_SET
from shoal.kube import kinds
from shoal.kubeapi.client import Ref
from shoal.runtime import clock
from shoal.runtime.events import Recorder

from .example import SPACE
from .slinky import Scene

REF = Ref(NODE_SET, SPACE, "cpu")
FORCE = {"metadata": {"annotations": {NAMING.annotations.force: "true"}}}


def said(scene: Scene) -> list[str]:
    """Return the events about the NodeSet, in order."""
    found = scene.objects(kinds.EVENT).values()
    of = [event for event in found if event["regarding"]["name"] == "cpu"]
    of.sort(key=lambda event: event["eventTime"])
    return [f"{event['reason']}: {event['note']}" for event in of]


def statuses(scene: Scene) -> int:
    """Count how often the NodeSet was written."""
    return sum(c.kind == NODE_SET and c.key[1] == "cpu" for c in scene.api.history.log)


async def test_workers_that_come_and_go_are_told_in_a_few_events_however_long_it_takes():
    recorder = Recorder("slurm-operator")
    async with Scene(recorder=recorder) as scene:
        sending = asyncio.create_task(recorder.run(scene.user))
        operator = await scene.rise()
        await scene.edit("NodeSet", "cpu", replicas=40)
        await scene.settle()
        slurm = scene.slurm().slurmctld
        job = slurm.start("cpu-[0-39]", limit=60)
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(1800)
        assert said(scene) == [
            "SuccessfulCreate: created 2 workers",
            "ScalingUp: from 0 to 2 workers",
            "SuccessfulCreate: created 38 workers",
            "ScalingUp: from 2 to 40 workers",
            "ScalingDown: 39 workers take no more jobs, and go when they have none",
            "ScalingDown: from 40 to 1 workers",
        ]
        slurm.end(job.job_id)
        await clock.sleep(300)
        assert said(scene)[6:] == ["SuccessfulDelete: deleted 39 workers"]
        await operator.stop()
        scene.process()
        await scene.settle()
        assert len(said(scene)) == 7, "a new process has no news"
        assert all("series" not in event for event in scene.objects(kinds.EVENT).values())
        sending.cancel()


async def test_while_workers_go_the_condition_stays_true_and_says_for_whom_it_waits():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm().slurmctld
        slurm.start("cpu-0", limit=60)
        job = slurm.start("cpu-1", limit=5)
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(60)
        words = "1 pod is ready; 1 worker still with jobs: cpu-1"
        assert scene.ready("NodeSet", "cpu") == ("True", "AsAsked", words)
        written = statuses(scene)
        await clock.sleep(600)
        assert statuses(scene) == written
        slurm.end(job.job_id)
        await scene.settle()
        assert scene.ready("NodeSet", "cpu") == ("True", "AsAsked", "1 pod is ready")


async def test_a_deleted_nodeset_says_for_whom_it_waits_and_how_to_end_that():
    async with Scene() as scene:
        await scene.rise()
        scene.slurm().slurmctld.start("cpu-1")
        await scene.remove(NODE_SET, "cpu")
        await clock.sleep(60)
        status, reason, message = scene.ready("NodeSet", "cpu")
        assert (status, reason) == ("False", "Draining")
        assert message.startswith("1 worker still with jobs: cpu-1; to delete it at once")
        assert f'kubectl annotate nodeset cpu {NAMING.annotations.force}="true"' in message
        assert scene.find("NodeSet", "cpu")["status"]["replicas"] == 1
        written = statuses(scene)
        await clock.sleep(600)
        assert statuses(scene) == written
        await scene.user.patch(REF, FORCE, dict)
        await scene.settle()
        assert "cpu" not in scene.objects(NODE_SET)
        assert scene.lost == ["cpu-1"]


async def test_force_costs_no_job_of_a_nodeset_that_stays():
    async with Scene() as scene:
        await scene.rise()
        scene.slurm().slurmctld.start("cpu-[0-1]")
        await scene.user.patch(REF, FORCE, dict)
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(600)
        assert sorted(name for name in scene.pods() if name.startswith("cpu-")) == [
            "cpu-0",
            "cpu-1",
        ]
        assert scene.lost == []
