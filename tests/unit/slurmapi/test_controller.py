"""slurmctld itself."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens, fake_client
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.runtime import clock
from shoal.slurmapi.errors import ControllerDownError, NotAllowedError
from shoal.slurmapi.peer import FRESH_S

LOOP = VirtualLoop


def make(series: str = "26.05") -> FakeSlurm:
    slurm = FakeSlurm(series)
    slurm.slurmctld.add("w-[0-1]")
    return slurm


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_a_ping_says_which_hosts_are_up(series):
    slurm = make(series)
    client = fake_client(slurm)
    assert [ping.up for ping in await client.controller.ping()] == [True]
    slurm.controller = Daemon.DOWN
    assert [ping.up for ping in await client.controller.ping()] == [False]


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_statistics_count_jobs_and_messages(series):
    slurm = make(series)
    slurm.slurmctld.start("w-0")
    slurm.slurmctld.start()
    slurm.slurmctld.end(slurm.slurmctld.start("w-1").job_id)
    told = await fake_client(slurm).controller.statistics()
    assert (told.jobs_running, told.jobs_pending, told.job_records) == (1, 1, 3)
    assert told.rpcs_by_message_type[0].message_type == "REQUEST_PING"
    assert told.rpcs_by_user[0].user == "slurm"


async def test_the_configuration_is_read():
    told = await fake_client(make()).controller.configuration()
    assert told["ClusterName"] == "lab"


async def test_a_reconfigure_says_yes_and_the_next_call_finds_out_what_became_of_it():
    slurm = make()
    client = fake_client(slurm)
    slurm.slurmctld.bad_config = True
    await client.controller.reconfigure()
    await clock.sleep(FRESH_S)
    with pytest.raises(ControllerDownError):
        await client.nodes.all()
    assert slurm.slurmctld.reconfigured == 1


async def test_who_may_not_reconfigure_is_told_so():
    slurm = make()
    client = fake_client(slurm, tokens=FakeTokens(slurm, "alice"))
    with pytest.raises(NotAllowedError, match="GET /reconfigure/: Invalid user id"):
        await client.controller.reconfigure()
    assert slurm.slurmctld.reconfigured == 0
