"""Partitions: read everywhere, written where slurmrestd can."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.errors import BusyError, NotFoundError

LOOP = VirtualLoop


def make(series: str = "26.05") -> FakeSlurm:
    slurm = FakeSlurm(series)
    slurm.slurmctld.add("w-[0-1]")
    return slurm


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_a_partition_is_read_with_its_nodes_and_state(series):
    client = fake_client(make(series))
    (seen,) = await client.partitions.all()
    assert (seen.name, seen.nodes.configured, seen.nodes.total) == ("all", "w-0,w-1", 2)
    assert seen.partition.state == ("UP",)
    assert await client.partitions.one("all") == seen


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_a_partition_that_is_not_there_is_an_error_or_none(series):
    client = fake_client(make(series))
    with pytest.raises(NotFoundError, match="GET /partition/nope: "):
        await client.partitions.one("nope")
    assert await client.partitions.find("nope") is None


async def test_a_partition_with_jobs_is_not_deleted():
    slurm = make()
    client = fake_client(slurm)
    await client.partitions.write({"name": "p2", "nodes": {"configured": "w-0"}})
    assert (await client.partitions.one("p2")).nodes.configured == "w-0"
    job = slurm.slurmctld.start(partition="p2")
    with pytest.raises(BusyError, match="DELETE /partition/p2: Partition is in use"):
        await client.partitions.delete("p2")
    slurm.slurmctld.end(job.job_id, "CANCELLED")
    await client.partitions.delete("p2")
    assert await client.partitions.find("p2") is None
