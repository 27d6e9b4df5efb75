"""A job that has lost its process goes back into the queue, and no other run of it does."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.controllers.requeue import requeue
from shoal.controllers.slurms import Slurm
from shoal.decide.ghosts import FINAL, GHOST
from shoal.decide.plan import RequeueJob

LOOP = VirtualLoop


@dataclass
class Ran:
    """What a tool left behind."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""


class Scene:
    """A Slurm with one job, and the wish to requeue it."""

    def __init__(self, client, slurm, **fields):
        self.slurm = slurm
        slurm.slurmctld.add("w-0")
        self.job = slurm.slurmctld.start("w-0", **fields)
        start = datetime.fromtimestamp(self.job.start, UTC)
        self.action = RequeueJob(GHOST, self.job.job_id, "w-0", start)
        self.ours = Slurm("", None, client, None, None, run=self.run)
        self.ran = []
        self.result = Ran()

    async def run(self, words):
        self.ran.append(tuple(words))
        return self.result


@pytest.fixture
async def make():
    """Return a function that makes a scene."""
    opened = []

    async def make(series="26.05", **fields):
        slurm = FakeSlurm(series)
        opened.append(fake_client(slurm))
        return Scene(await opened[-1].__aenter__(), slurm, **fields)

    yield make
    for client in opened:
        await client.__aexit__(None, None, None)


async def test_it_is_requeued(make):
    scene = await make()
    assert await requeue(scene.ours, scene.action) == scene.action
    assert scene.job.state == ["PENDING"]


async def test_an_older_slurm_is_told_by_its_own_tool(make):
    scene = await make("24.11")
    assert await requeue(scene.ours, scene.action) == scene.action
    assert scene.ran == [("scontrol", "requeue", str(scene.job.job_id))]


async def test_one_that_may_not_be_requeued_is_cancelled_and_that_is_said(make):
    scene = await make(requeueable=False)
    assert await requeue(scene.ours, scene.action) == replace(scene.action, why=FINAL)
    assert scene.job.state == ["CANCELLED"]


@pytest.mark.parametrize(
    "fields", [{"batch": False}, {"state": ["RUNNING", "COMPLETING"]}, {"state": ["COMPLETED"]}]
)
async def test_what_is_no_running_batch_job_is_left_alone(make, fields):
    scene = await make(**fields)
    before = list(scene.job.state)
    assert await requeue(scene.ours, scene.action) is None
    assert scene.job.state == before


async def test_another_run_of_the_same_job_is_left_alone(make):
    scene = await make()
    earlier = replace(scene.action, start=scene.action.start - timedelta(seconds=9))
    assert await requeue(scene.ours, earlier) is None
    assert await requeue(scene.ours, replace(scene.action, node="w-1")) is None
    assert scene.job.state == ["RUNNING"]


async def test_a_refusal_is_neither_a_cancellation_nor_the_end_of_the_pass(make):
    scene = await make("24.11")
    scene.result = Ran(1, stderr="slurm_requeue error: Access denied")
    assert await requeue(scene.ours, scene.action) is None
    assert scene.job.state == ["RUNNING"]
