"""slurmctld itself, partitions and reservations."""

import pytest

from shoal.runtime import clock
from shoal.slurm.hostlists import expand
from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import BusyError, MissingError, NotFoundError
from shoal.slurmapi.reservations import ReservationWish
from shoal.slurmapi.versions import Capability

from .places import Slurm


async def test_a_ping_says_who_answers(client: Client) -> None:
    (ping,) = await client.controller.ping()
    assert (ping.up, ping.primary) == (True, True)


async def test_the_newest_version_of_a_ping_has_no_word_for_it(slurm: Slurm) -> None:
    old = (await slurm.ask("GET", "ping/")).body["pings"][0]
    assert (old["pinged"], old["responding"]) == ("UP", True)
    if not slurm.old:
        (new,) = (await slurm.ask("GET", "ping/", version=45)).body["pings"]
        assert ("pinged" in new, new["responding"]) == (False, True)


async def test_statistics_count_jobs(slurm: Slurm, client: Client) -> None:
    before = (await client.controller.statistics()).jobs_submitted
    await slurm.running()
    after = await client.controller.statistics()
    assert after.jobs_submitted == before + 1
    assert after.rpcs_by_message_type


async def test_a_reconfigure_keeps_the_running_job_and_the_drain(
    slurm: Slurm, client: Client
) -> None:
    job = await slurm.running(required_nodes=["w-0"])
    await client.nodes.drain(["w-1"], "kept")
    await client.controller.reconfigure()

    async def up() -> bool:
        return any(ping.up for ping in await client.controller.ping())

    await slurm.eventually(up)
    assert await slurm.state_of(job) == ["RUNNING"]
    node = await client.nodes.one("w-1")
    assert (node.reason, "DRAIN" in node.state) == ("kept", True)


async def test_the_configuration_is_told_where_slurm_can(slurm: Slurm, client: Client) -> None:
    if not await client.can(Capability.CONFIG_READ):
        assert slurm.old
        with pytest.raises(MissingError, match=r"26\.05"):
            await client.controller.configuration()
        return
    told = await client.controller.configuration()
    assert (told["ClusterName"], told["AuthType"]) == ("lab", "auth/slurm")


async def test_partitions_are_told_with_their_nodes(client: Client) -> None:
    found = {partition.name: partition for partition in await client.partitions.all()}
    assert set(found) == {"all", "spare"}
    assert expand(found["all"].nodes.configured) == ("w-0", "w-1")
    assert found["all"].nodes.total == 2
    assert found["all"].partition.state == ("UP",)
    assert (await client.partitions.one("spare")).name == "spare"


async def test_an_unknown_partition_is_none(client: Client) -> None:
    assert await client.partitions.find("nope") is None
    with pytest.raises(NotFoundError):
        await client.partitions.one("nope")


async def test_partitions_are_made_and_deleted_where_slurm_can(
    slurm: Slurm, client: Client
) -> None:
    wish = {"name": "extra", "nodes": {"configured": "w-0"}}
    if not await client.can(Capability.PARTITION_WRITES):
        assert slurm.old
        with pytest.raises(MissingError, match=r"26\.05"):
            await client.partitions.write(wish)
        return
    await client.partitions.write(wish)
    assert (await client.partitions.one("extra")).nodes.configured == "w-0"
    job = await slurm.submit(partition="extra", hold=True)
    with pytest.raises(BusyError):
        await client.partitions.delete("extra")
    await client.jobs.cancel(job)
    await client.partitions.delete("extra")
    assert await client.partitions.find("extra") is None
    with pytest.raises(NotFoundError):
        await client.partitions.delete("extra")


async def test_reservations_are_written_changed_and_deleted_where_slurm_can(
    slurm: Slurm, client: Client
) -> None:
    start = int(clock.now().timestamp()) + 3600
    flags = ("MAINT", "IGNORE_JOBS")
    wish = ReservationWish("m1", start, 60, ("w-0",), ("root",), flags=flags)
    if not await client.can(Capability.RESERVATION_WRITES):
        assert slurm.old
        with pytest.raises(MissingError, match=r"25\.05"):
            await client.reservations.write(wish)
        with pytest.raises(MissingError, match=r"25\.05"):
            await client.reservations.delete("m1")
        return
    await client.reservations.write(wish)
    await client.reservations.write(ReservationWish("m1", start, 90, ("w-0",), ("root",)))
    (found,) = await client.reservations.all()
    assert (found.name, found.node_list, found.users) == ("m1", "w-0", "root")
    assert (found.start_time.time, found.end_time.time) == (start, start + 90 * 60)
    assert {"MAINT", "IGNORE_JOBS", "SPEC_NODES"} <= set(found.flags)
    assert await client.reservations.one("m1") == found
    await client.reservations.delete("m1")
    with pytest.raises(NotFoundError):
        await client.reservations.delete("m1")


async def test_an_unknown_reservation_is_none(client: Client) -> None:
    assert await client.reservations.find("nope") is None
    assert list(await client.reservations.all()) == []
