"""Nodes, on both series."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens, fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.errors import (
    BusyError,
    ExistsError,
    NotAllowedError,
    NotFoundError,
    RefusedError,
)
from shoal.slurmapi.nodes import LONGEST_PATH, NodeChange, encoded, pieces

LOOP = VirtualLoop


@pytest.fixture(params=["24.11", "26.05"])
def slurm(request) -> FakeSlurm:
    made = FakeSlurm(request.param)
    made.slurmctld.add("w-[0-9]", cpus=2)
    return made


def flags(slurm: FakeSlurm) -> list[str]:
    return [node.name for node in slurm.slurmctld.nodes.values() if "DRAIN" in node.flags]


async def test_all_nodes_are_read_with_what_is_used_of_them(slurm):
    job = slurm.slurmctld.start("w-[0-1]", cpus=1)
    slurm.slurmctld.start("w-1", cpus=1)
    slurm.slurmctld.nodes["w-2"].flags = {"DRAIN"}
    slurm.slurmctld.nodes["w-2"].reason = "fan"
    nodes = {node.name: node for node in (await fake_client(slurm).nodes.all()).nodes}
    assert len(nodes) == 10
    assert nodes["w-0"].state == ("MIXED",)
    assert nodes["w-1"].state == ("ALLOCATED",)
    assert nodes["w-2"].state == ("IDLE", "DRAIN")
    assert nodes["w-2"].reason == "fan"
    assert nodes["w-0"].alloc_cpus == 1
    assert nodes["w-0"].boot_time.time == job.start
    assert nodes["w-0"].partitions == ("all",)


async def test_one_node_is_read_by_its_name(slurm):
    client = fake_client(slurm)
    assert (await client.nodes.one("w-3")).name == "w-3"
    assert (await client.nodes.find("w-3")).name == "w-3"


async def test_a_node_that_is_not_there_is_an_error_or_none_as_the_caller_wants(slurm):
    client = fake_client(slurm)
    with pytest.raises(NotFoundError, match="GET /node/nope: Failure to query node nope"):
        await client.nodes.one("nope")
    assert await client.nodes.find("nope") is None


@pytest.mark.parametrize("name", ["w-[0-1]", "w-0,w-1"])
async def test_a_hostlist_is_no_name_of_one_node(slurm, name):
    assert await fake_client(slurm).nodes.find(name) is None


async def test_many_nodes_are_drained_by_one_request(slurm):
    client = fake_client(slurm)
    await client.nodes.drain(["w-[0-3]", "w-8"], "slurm-operator: surplus")
    assert flags(slurm) == ["w-0", "w-1", "w-2", "w-3", "w-8"]
    assert (await client.nodes.one("w-8")).reason == "slurm-operator: surplus"
    assert slurm.count("POST") == 1


async def test_one_name_that_is_not_there_refuses_the_whole_change(slurm):
    client = fake_client(slurm)
    with pytest.raises(NotFoundError, match="POST /nodes/ nope,w-0: Invalid node name specified"):
        await client.nodes.drain(["w-0", "nope"], "x")
    assert flags(slurm) == []


async def test_an_undrain_harms_no_node_that_is_not_drained(slurm):
    client = fake_client(slurm)
    await client.nodes.drain(["w-0"], "x")
    await client.nodes.undrain(["w-[0-9]"])
    assert flags(slurm) == []
    assert (await client.nodes.one("w-0")).reason == ""


async def test_a_resume_that_is_refused_says_so_though_others_are_resumed(slurm):
    client = fake_client(slurm)
    await client.nodes.drain(["w-0"], "x")
    with pytest.raises(RefusedError):
        await client.nodes.update(["w-0", "w-1"], NodeChange(state=("RESUME",)))
    assert flags(slurm) == []


async def test_only_what_is_given_is_changed(slurm):
    client = fake_client(slurm)
    await client.nodes.update(["w-0"], NodeChange(comment="c", extra="e", weight=7))
    await client.nodes.update(["w-0"], NodeChange(extra=""))
    node = slurm.slurmctld.nodes["w-0"]
    assert (node.comment, node.extra, node.weight) == ("c", "", 7)


async def test_no_names_are_no_request(slurm):
    client = fake_client(slurm)
    await client.nodes.drain([], "x")
    await client.nodes.delete([])
    assert slurm.requests == []


async def test_who_may_not_change_nodes_is_told_so(slurm):
    client = fake_client(slurm, tokens=FakeTokens(slurm, "alice"))
    with pytest.raises(NotAllowedError, match="AdminLevel=Administrator"):
        await client.nodes.drain(["w-0"], "x")
    assert flags(slurm) == []


async def test_nodes_are_deleted_by_hostlist(slurm):
    client = fake_client(slurm)
    await client.nodes.delete(f"w-{n}" for n in range(2, 10))
    assert sorted(slurm.slurmctld.nodes) == ["w-0", "w-1"]
    assert [name for name in slurm.requests if "DELETE" in name] == [
        f"DELETE /slurm/v0.0.{slurm.series.versions[-1]}/node/w-%5B2-9%5D"
    ]


async def test_a_node_with_a_job_is_not_deleted(slurm):
    slurm.slurmctld.start("w-0")
    with pytest.raises(BusyError, match="DELETE /node/w-0: Requested nodes are busy"):
        await fake_client(slurm).nodes.delete(["w-0"])
    assert "w-0" in slurm.slurmctld.nodes


async def test_a_node_that_is_there_is_not_created_again():
    slurm = FakeSlurm("26.05")
    client = fake_client(slurm)
    await client.nodes.create("NodeName=d-[0-1] CPUs=4 State=CLOUD")
    node = await client.nodes.one("d-1")
    assert set(node.state) == {"IDLE", "CLOUD", "POWERED_DOWN", "DYNAMIC_NORM"}
    with pytest.raises(ExistsError, match="POST /new/node/ NodeName=d-1: Node already exists"):
        await client.nodes.create("NodeName=d-1 CPUs=4 State=CLOUD")


def test_names_for_a_path_are_folded_and_no_piece_is_too_long():
    assert pieces(["w-1", "w-0", "w-2"]) == ["w-[0-2]"]
    names = [f"{n:x}-{'x' * 50}" for n in range(1000)]
    parts = pieces(names)
    assert all(len(encoded(part)) <= LONGEST_PATH for part in parts)
    assert sorted(name for part in parts for name in part.split(",")) == sorted(names)
    assert pieces([]) == []


def test_a_change_is_written_as_slurmrestd_reads_it():
    assert NodeChange(state=("DRAIN",), reason="x").body() == {"state": ("DRAIN",), "reason": "x"}
    assert NodeChange(resume_after=60).body() == {
        "resume_after": {"set": True, "infinite": False, "number": 60}
    }
