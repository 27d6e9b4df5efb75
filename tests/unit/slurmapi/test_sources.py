"""Which jobs hold which nodes, and where to find out."""

import asyncio
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Late
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.runtime import clock
from shoal.slurm.durations import Open
from shoal.slurmapi.errors import (
    ControllerDownError,
    DatabaseDownError,
    UnknownError,
    UnreadableError,
)
from shoal.slurmapi.sources import (
    PERIOD_S,
    ChosenJobs,
    ListedJobs,
    Means,
    RecordedJobs,
    SingleJobs,
    Source,
    Thresholds,
    ToolJobs,
    choose,
)

LOOP = VirtualLoop
NOW = 1_800_000_000

BARE, TOOLS, DATABASE = Means(), Means(tools=True), Means(accounting=True)
BOTH = Means(tools=True, accounting=True)
FEW = Thresholds(listed=100, single=10)


@pytest.mark.parametrize(
    ("jobs", "running", "means", "source"),
    [
        (0, 0, BARE, Source.LIST),
        (100, 100, BOTH, Source.LIST),
        (101, 0, BOTH, Source.TOOLS),
        (50_000, 40_000, TOOLS, Source.TOOLS),
        (101, 10, BARE, Source.SINGLES),
        (50_000, 10, DATABASE, Source.SINGLES),
        (50_000, 11, DATABASE, Source.ACCOUNTING),
        (50_000, 40_000, BARE, Source.SINGLES),
    ],
)
def test_the_number_of_jobs_and_what_there_is_decide_where_to_look(jobs, running, means, source):
    assert choose(jobs, running, means, FEW) is source


def test_a_big_cluster_never_has_its_jobs_listed():
    assert choose(50_000, 0, BARE) is not Source.LIST


@dataclass
class Ran:
    code: int = 0
    stdout: str = ""
    stderr: str = ""


def make() -> FakeSlurm:
    slurm = FakeSlurm("26.05", now=lambda: NOW)
    controller = slurm.slurmctld
    controller.add("w-[0-9]")
    controller.start("w-[0-1]", limit=60)  # 1
    controller.start("w-2", limit=math.inf)  # 2
    controller.start()  # 3, pending
    controller.end(controller.start("w-3").job_id)  # 4, ended
    controller.start("w-4", state=["COMPLETED", "COMPLETING"])  # 5
    for task in (0, 1):  # 6 and 7
        controller.start(f"w-{5 + task}", array_job_id=6, array_task_id=task)
    controller.start("w-8", state=["RUNNING", "A_NEW_FLAG"])  # 8
    return slurm


SOURCES = {
    Source.LIST: lambda slurm: ListedJobs(fake_client(slurm)),
    Source.SINGLES: lambda slurm: SingleJobs(fake_client(slurm)),
}


@pytest.mark.parametrize("source", SOURCES)
async def test_slurmrestd_tells_which_jobs_hold_which_nodes(source):
    found = await SOURCES[source](make()).holders()
    assert {job.job_id: job.nodes for job in found.jobs} == {
        1: "w-0,w-1",
        2: "w-2",
        5: "w-4",
        6: "w-5",
        7: "w-6",
        8: "w-8",
    }
    jobs = {job.job_id: job for job in found.jobs}
    assert jobs[1].start == datetime.fromtimestamp(NOW, UTC)
    assert jobs[1].limit == timedelta(hours=1)
    assert jobs[2].limit is Open.UNLIMITED
    assert (found.source, found.complete) == (source, True)


async def test_only_jobs_that_hold_nodes_are_asked_for_one_by_one():
    slurm = make()
    await SOURCES[Source.SINGLES](slurm).holders()
    asked = [name.rpartition("/")[2] for name in slurm.requests if "/job/" in name]
    # The tasks of an array come together.
    assert sorted(asked) == ["1", "2", "5", "6", "8"]
    assert slurm.count("jobs/state") == 1


async def test_a_job_that_ends_meanwhile_holds_nothing():
    slurm = make()
    source = SOURCES[Source.SINGLES](slurm)
    slurm.plan(Late(1), "/job/")

    async def purge():
        await clock.sleep(0.5)
        for job_id in (1, 2):
            del slurm.slurmctld.jobs[job_id]

    found, _ = await asyncio.gather(source.holders(), purge())
    assert 1 not in {job.job_id for job in found.jobs}
    assert 5 in {job.job_id for job in found.jobs}


async def test_slurmdbd_tells_who_runs_but_proves_no_node_free():
    slurm = make()
    found = await RecordedJobs(fake_client(slurm), "lab").holders()
    assert {job.job_id: job.nodes for job in found.jobs} == {
        1: "w-0,w-1",
        2: "w-2",
        6: "w-5",
        7: "w-6",
        8: "w-8",
    }
    assert not found.complete
    asked = [name for name in slurm.requests if "/slurmdb/" in name]
    assert [name.rpartition("&")[2] for name in asked] == ["state=RUNNING", "state=SUSPENDED"]


async def test_slurmdbd_that_is_down_is_no_empty_list():
    slurm = make()
    slurm.database = Daemon.DOWN
    with pytest.raises(DatabaseDownError):
        await RecordedJobs(fake_client(slurm), "lab").holders()
    assert slurm.count("slurmdb") == 1


def tool(ran: Ran, calls: list[tuple[str, ...]] | None = None):
    async def run(command):
        if calls is not None:
            calls.append(tuple(command))
        return ran

    return run


async def test_squeue_tells_which_jobs_hold_which_nodes():
    calls = []
    ran = Ran(stdout="7|RUNNING|2027-01-15T08:00:00|2:00:00|w-0|w-[0-1]\n")
    found = await ToolJobs(tool(ran, calls)).holders()
    (job,) = found.jobs
    assert (job.job_id, job.nodes, job.limit) == (7, "w-[0-1]", timedelta(hours=2))
    assert job.start == datetime(2027, 1, 15, 8, tzinfo=UTC)
    assert found.complete
    assert calls[0][3] == "squeue"


@pytest.mark.parametrize(
    ("ran", "error"),
    [
        (Ran(1, stderr="error: Unable to contact slurm controller"), ControllerDownError),
        (Ran(127, stderr="env: squeue: No such file"), UnknownError),
        (Ran(1), UnknownError),
        (Ran(0, stdout="what"), UnreadableError),
    ],
)
async def test_a_squeue_that_does_not_work_is_no_empty_list(ran, error):
    with pytest.raises(error) as caught:
        await ToolJobs(tool(ran)).holders()
    assert type(caught.value) is error


# -- the chosen one


async def test_a_small_cluster_is_listed_and_a_large_one_is_not():
    slurm = make()
    jobs = ChosenJobs(fake_client(slurm), tool(Ran()), thresholds=Thresholds(listed=8))
    assert (await jobs.holders()).source is Source.LIST
    for _ in range(10):
        slurm.slurmctld.start()
    await clock.sleep(PERIOD_S)
    assert (await jobs.holders()).source is Source.TOOLS
    assert slurm.count("/jobs/") == 1


async def test_ended_jobs_count_as_slurmctld_still_holds_them():
    slurm = FakeSlurm()
    slurm.slurmctld.add("w-0")
    for _ in range(20):
        slurm.slurmctld.end(slurm.slurmctld.start("w-0").job_id)
    jobs = ChosenJobs(fake_client(slurm), thresholds=Thresholds(listed=10))
    assert (await jobs.holders()).source is Source.SINGLES


async def test_all_who_ask_within_a_period_share_one_answer():
    slurm = make()
    jobs = ChosenJobs(fake_client(slurm), cluster="lab", thresholds=Thresholds(0, 0))
    slurm.plan(Late(2), "slurmdb")
    await asyncio.gather(*(jobs.holders() for _ in range(100)))
    found = await jobs.holders()
    assert found.source is Source.ACCOUNTING
    assert slurm.count("diag") == 1
    await clock.sleep(PERIOD_S)
    await jobs.holders()
    assert slurm.count("diag") == 2


async def test_a_reader_that_is_closed_leaves_nothing_behind():
    slurm = make()
    jobs = ChosenJobs(fake_client(slurm))
    slurm.plan(Late(2), "/jobs/")
    waiting = asyncio.create_task(jobs.holders())
    await clock.sleep(1)
    await jobs.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert slurm.count("/jobs/") == 0
