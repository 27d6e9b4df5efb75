"""What slurmdbd keeps, read and upserted."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Says
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.accounting import Account, Association, Defaults, Qos, User, Wanted
from shoal.slurmapi.numbers import Number

LOOP = VirtualLoop

PHYSICS = Account("physics", "physics department", "university")
ALICE = User("alice", ("Operator",), Defaults("physics"))
FAST = Qos("fast", priority=Number(set=True, number=100))
MEMBER = Association("physics", "lab", "alice")


@pytest.fixture(params=["24.11", "26.05"])
def slurm(request) -> FakeSlurm:
    return FakeSlurm(request.param)


async def test_what_is_written_is_read_back_and_writing_it_again_is_no_error(slurm):
    accounting = fake_client(slurm).accounting
    for _ in range(2):
        await accounting.write_accounts([PHYSICS])
        await accounting.write_users([ALICE])
        await accounting.write_qos([FAST])
        await accounting.write_associations([MEMBER])
    assert PHYSICS in await accounting.accounts()
    assert ALICE in await accounting.users()
    assert FAST in await accounting.qos()
    assert MEMBER in await accounting.associations()
    assert [cluster.name for cluster in await accounting.clusters()] == ["lab"]


async def test_all_of_it_comes_at_once(slurm):
    accounting = fake_client(slurm).accounting
    await accounting.write_accounts([PHYSICS])
    content = await accounting.content()
    assert PHYSICS in content.accounts
    assert [qos.name for qos in content.qos] == ["normal"]


async def test_what_is_not_said_is_left_as_it_is(slurm):
    accounting = fake_client(slurm).accounting
    await accounting.write_users([ALICE])
    await accounting.write_users([User("alice", default=Defaults("chemistry"))])
    (alice,) = [user for user in await accounting.users() if user.name == "alice"]
    assert alice == User("alice", ("Operator",), Defaults("chemistry"))


async def test_nothing_to_write_is_no_request(slurm):
    await fake_client(slurm).accounting.write_accounts([])
    assert slurm.requests == []


async def test_jobs_are_found_by_state_and_cluster(slurm):
    slurm.slurmctld.add("w-0")
    slurm.slurmctld.start("w-0", limit=60)
    slurm.slurmctld.start()
    accounting = fake_client(slurm).accounting
    (job,) = await accounting.jobs(Wanted("lab", states=("RUNNING",)))
    assert (job.job_id, job.nodes, job.time.limit.value) == (1, "w-0", 60)
    assert job.state.current == ("RUNNING",)
    assert job.tres.allocated[0].type == "cpu"
    assert len(await accounting.jobs(Wanted("lab"))) == 2
    assert len(await accounting.jobs(Wanted("lab", states=("RUNNING", "PENDING")))) == 2
    assert await accounting.jobs(Wanted("elsewhere")) == []


async def test_a_job_of_a_user_that_nobody_knows_is_read(slurm):
    slurm.plan(Says(200, {"jobs": [{"job_id": 1, "user": None}], "errors": []}), "slurmdb")
    (job,) = await fake_client(slurm).accounting.jobs(Wanted())
    assert job.user is None


async def test_slurmdbd_is_pinged(slurm):
    assert [ping.up for ping in await fake_client(slurm).accounting.ping()] == [True]


def test_a_question_is_written_as_slurmrestd_reads_it():
    always = {"skip_steps": "true", "disable_truncate_usage_time": "true"}
    times = {"start_time": "uts1800000000", "end_time": "uts1800003600"}
    wanted = Wanted("lab", 1_800_000_000, 1_800_003_600, ("RUNNING", "SUSPENDED"))
    assert wanted.queries() == [
        {"cluster": "lab", **times, **always, "state": "RUNNING"},
        {"cluster": "lab", **times, **always, "state": "SUSPENDED"},
    ]
    assert Wanted().queries() == [always]
