"""A job that lost its process with a young pod does not stay RUNNING for ever."""

import asyncio
from datetime import timedelta

import pytest

from fakes.apiserver import EPOCH
from fakes.slurmrestd.records import Job
from shoal.controllers import slinky
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.runtime import clock

from .slinky import Scene

NODE = "cpu-0"


def since(_: Object) -> Object:
    """Return what kubelet says of a container that begins now."""
    began = EPOCH + timedelta(seconds=asyncio.get_running_loop().time())
    stamp = began.strftime("%Y-%m-%dT%H:%M:%SZ")
    state = {"running": {"startedAt": stamp}}
    return {"containerStatuses": [{"name": "slurmd", "ready": True, "state": state}]}


@pytest.fixture
def inside(monkeypatch):
    """Say what is seen inside workers: steps by the pod's name; none where nothing is said."""
    found: dict[str, bool] = {}

    async def look(_client, _namespace, pod):
        return found.get(pod, False)

    monkeypatch.setattr(slinky, "look_inside", look)
    return found


async def replaced(scene: Scene, **fields) -> Job:
    """Replace a worker by hand with a young job on it; return the job."""
    scene.toys.shown = since
    await scene.rise()
    slurm = scene.slurm().slurmctld
    job = slurm.start(NODE, start=int(slurm.now), **fields)
    await clock.sleep(5)
    await scene.remove(kinds.POD, NODE)
    await clock.sleep(10)
    slurm.nodes[NODE].started = int(slurm.now)
    slurm._touch("nodes")
    return job


async def test_a_job_without_a_process_is_requeued_once_slurm_had_its_chance(inside):
    async with Scene() as scene:
        job = await replaced(scene)
        await clock.sleep(30)
        assert job.state == ["RUNNING"]
        await clock.sleep(120)
        assert job.state == ["PENDING"]
        assert job.restarts == 1


async def test_a_job_that_may_not_be_requeued_is_cancelled_so_that_its_nodes_become_free(inside):
    async with Scene() as scene:
        job = await replaced(scene, requeueable=False)
        await clock.sleep(150)
        assert job.state == ["CANCELLED"]


async def test_a_job_without_a_script_is_left_alone(inside):
    async with Scene() as scene:
        job = await replaced(scene, batch=False)
        await clock.sleep(300)
        assert job.state == ["RUNNING"]


async def test_a_job_with_a_step_in_its_worker_is_left_alone(inside):
    inside[NODE] = True
    async with Scene() as scene:
        job = await replaced(scene)
        await clock.sleep(300)
        assert (job.state, job.restarts) == (["RUNNING"], 0)


async def test_a_job_of_a_worker_that_stayed_is_never_asked_after(inside):
    async with Scene() as scene:
        scene.toys.shown = since
        await scene.rise()
        await clock.sleep(1000)
        slurm = scene.slurm()
        job = slurm.slurmctld.start(NODE)
        await clock.sleep(300)
        assert job.state == ["RUNNING"]
        assert slurm.count("jobs/") == 0
