"""What is down, what hangs, what comes back; and that no job is lost over it."""

import asyncio

import pytest

from shoal.runtime import clock
from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import ControllerDownError, DatabaseDownError, UnreachableError
from shoal.slurmapi.peer import FRESH_S

from .places import Slurm

# Far less than the 9 to 10 s that slurmrestd itself waits for a slurmctld that is not there.
SOON_S = 5.0


async def test_a_controller_that_is_down_is_told_soon_and_its_jobs_go_on(
    slurm: Slurm, client: Client
) -> None:
    job = await slurm.running(required_nodes=["w-0"])
    await client.nodes.drain(["w-1"], "kept")
    await slurm.stop("slurmctld")
    async with asyncio.TaskGroup() as group:
        raw = group.create_task(slurm.ask("GET", "nodes/"))
        await clock.sleep(FRESH_S)
        async with asyncio.timeout(SOON_S):
            with pytest.raises(ControllerDownError):
                await client.nodes.all()
            with pytest.raises(ControllerDownError):
                await client.nodes.drain(["w-0"], "x")
            (ping,) = await client.controller.ping()
            assert not ping.up
            # slurmdbd's tree does not need slurmctld.
            assert await client.accounting.accounts()
    # slurmrestd itself waits long before it says so.
    assert (raw.result().code, raw.result().numbers) == (502, [1800])
    await slurm.start("slurmctld")
    await slurm.eventually(lambda: answers(client))
    assert await slurm.state_of(job) == ["RUNNING"]
    assert (await client.nodes.one("w-1")).reason == "kept"


async def test_a_controller_that_hangs_is_told_soon(slurm: Slurm, client: Client) -> None:
    await client.nodes.all()
    await slurm.freeze("slurmctld")
    async with asyncio.TaskGroup() as group:
        raw = group.create_task(slurm.ask("GET", "nodes/"))
        ping = group.create_task(slurm.ask("GET", "ping/"))
        await clock.sleep(FRESH_S)
        async with asyncio.timeout(SOON_S):
            with pytest.raises(ControllerDownError):
                await client.nodes.all()
    assert (raw.result().code, raw.result().numbers) == (504, [5004])
    assert not ping.result().body["pings"][0]["responding"]
    await slurm.thaw("slurmctld")
    await slurm.eventually(lambda: answers(client))


async def test_without_slurmdbd_slurmctld_still_works(slurm: Slurm, client: Client) -> None:
    await slurm.stop("slurmdbd")
    said = await slurm.ask_database("GET", "accounts/")
    assert (said.code, said.numbers) == (502, [7000])
    with pytest.raises(DatabaseDownError):
        await client.accounting.accounts()
    assert len((await client.nodes.all()).nodes) == 2
    await slurm.running()
    await slurm.start("slurmdbd")
    assert await client.accounting.accounts()


async def test_a_client_outlives_its_slurmrestd(slurm: Slurm, client: Client) -> None:
    await client.nodes.all()
    await slurm.stop("slurmrestd")
    with pytest.raises(UnreachableError):
        await client.nodes.all()
    await slurm.start("slurmrestd")
    assert await slurm.eventually(lambda: answers(client))


async def test_a_slurmrestd_that_hangs_holds_nobody_for_ever(slurm: Slurm, client: Client) -> None:
    await client.nodes.all()
    await slurm.freeze("slurmrestd")
    await clock.sleep(FRESH_S)
    async with asyncio.timeout(SOON_S):
        with pytest.raises((UnreachableError, ControllerDownError)):
            await client.nodes.all()
    await slurm.thaw("slurmrestd")
    assert await slurm.eventually(lambda: answers(client))


async def answers(client: Client) -> bool:
    """Say whether slurmctld answers again."""
    try:
        return len((await client.nodes.all()).nodes) == 2
    except (ControllerDownError, UnreachableError):
        return False
