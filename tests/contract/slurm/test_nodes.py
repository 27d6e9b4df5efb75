"""Nodes: read, probed, drained by hostlist, changed, made and deleted."""

import pytest

from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import BusyError, ExistsError, MissingError, NotFoundError, RefusedError
from shoal.slurmapi.nodes import NodeChange
from shoal.slurmapi.reads import NodeReads
from shoal.slurmapi.versions import Capability

from .places import Slurm


async def test_every_node_is_listed_with_what_is_used_of_it(slurm: Slurm, client: Client) -> None:
    await slurm.idle()
    listing = await client.nodes.all()
    assert sorted(node.name for node in listing.nodes) == ["w-0", "w-1"]
    assert listing.last_update is not None
    for node in listing.nodes:
        assert node.state[0] == "IDLE"
        assert (node.features, node.active_features) == (("all",), ("all",))
        assert node.partitions == ("all", "spare")
        assert node.version.startswith(slurm.series)
        assert (node.hostname, node.reason, node.alloc_cpus) == (node.name, "", 0)
        assert node.cpus > 0
        assert node.slurmd_start_time.time is not None
        assert node.reason_changed_at.time is None


async def test_one_node_is_read_by_its_name_and_an_unknown_one_is_none(client: Client) -> None:
    assert (await client.nodes.one("w-1")).name == "w-1"
    assert await client.nodes.find("nope") is None
    with pytest.raises(NotFoundError):
        await client.nodes.one("nope")
    with pytest.raises(NotFoundError):
        await client.nodes.one("w-[0-1]")


async def test_a_hostlist_is_drained_in_one_call(slurm: Slurm, client: Client) -> None:
    await client.nodes.drain(["w-[0-1]"], "slurm-operator: a test")
    for node in (await client.nodes.all()).nodes:
        assert {"IDLE", "DRAIN"} <= set(node.state)
        assert node.reason == "slurm-operator: a test"
        assert node.reason_set_by_user == "slurm"
        assert node.reason_changed_at.time is not None
    await client.nodes.undrain(["w-0", "w-1"])
    for node in (await client.nodes.all()).nodes:
        assert "DRAIN" not in node.state
        assert (node.reason, node.reason_changed_at.time) == ("", None)


async def test_one_unknown_name_refuses_the_whole_list(slurm: Slurm, client: Client) -> None:
    with pytest.raises(NotFoundError):
        await client.nodes.drain(["w-0", "nope", "w-1"], "x")
    assert not any("DRAIN" in node.state for node in (await client.nodes.all()).nodes)


async def test_undrain_is_harmless_to_a_node_that_serves_and_resume_is_not(
    slurm: Slurm, client: Client
) -> None:
    await client.nodes.undrain(["w-0"])
    await client.nodes.undrain(["w-0"])
    with pytest.raises(RefusedError):
        await client.nodes.update(["w-0"], NodeChange(state=("RESUME",)))


async def test_resume_of_a_list_resumes_the_others_and_says_no(
    slurm: Slurm, client: Client
) -> None:
    await slurm.idle()
    await client.nodes.drain(["w-0"], "x")
    with pytest.raises(RefusedError):
        await client.nodes.update(["w-[0-1]"], NodeChange(state=("RESUME",)))
    assert "DRAIN" not in (await client.nodes.one("w-0")).state


async def test_a_second_drain_replaces_the_reason(slurm: Slurm, client: Client) -> None:
    await client.nodes.drain(["w-0"], "an administrator's")
    await client.nodes.drain(["w-0"], "slurm-operator: mine")
    assert (await client.nodes.one("w-0")).reason == "slurm-operator: mine"


async def test_a_drain_without_a_reason_is_accepted(slurm: Slurm) -> None:
    said = await slurm.ask("POST", "node/w-0", {"state": ["DRAIN"]})
    assert (said.code, said.numbers) == (200, [])
    assert (await slurm.node())["reason"] == ""


async def test_fields_are_set_and_cleared(slurm: Slurm, client: Client) -> None:
    wanted = NodeChange(comment="c", extra="e", features=("all", "x"), features_act=("all", "x"))
    await client.nodes.update(["w-0"], wanted)
    node = await client.nodes.one("w-0")
    assert (node.comment, node.extra) == ("c", "e")
    assert set(node.features) == set(node.active_features) == {"all", "x"}
    back = NodeChange(comment="", extra="", features=("all",), features_act=("all",))
    await client.nodes.update(["w-0"], back)
    node = await client.nodes.one("w-0")
    assert (node.comment, node.extra, node.features) == ("", "", ("all",))


async def test_a_probe_says_nothing_changed_until_something_does(
    slurm: Slurm, client: Client
) -> None:
    await slurm.idle()
    last_update = await settled(slurm, client)
    assert await client.nodes.since(last_update) is None
    await client.nodes.drain(["w-0"], "x")
    said = await slurm.ask("GET", f"nodes/?update_time={last_update}")
    # 24.11 stumbles over partitions that did not change.
    assert (said.code, said.numbers) == ((500, [-1]) if slurm.old else (200, []))


async def test_no_change_hides_in_the_second_of_the_list(slurm: Slurm, client: Client) -> None:
    for _ in range(10):
        last_update = (await client.nodes.all()).last_update
        await client.nodes.drain(["w-0"], "x")
        said = await slurm.ask("GET", f"nodes/?update_time={last_update}")
        assert said.code != 304
        await client.nodes.undrain(["w-0"])


async def test_shared_reads_see_every_change_of_others_and_none_that_is_not(
    slurm: Slurm, client: Client
) -> None:
    reads = NodeReads(client, period_s=0)
    first = await reads.nodes()
    await settled(slurm, client)
    for reason in ("one", "two"):
        await slurm.ask("POST", "node/w-0", {"state": ["DRAIN"], "reason": reason})
        assert (await reads.nodes()).nodes["w-0"].reason == reason
    await reads.nodes()
    last_update = await settled(slurm, client)
    kept = await reads.nodes()
    again = await reads.nodes()
    assert again.nodes == kept.nodes
    assert again.taken_at > kept.taken_at > first.taken_at
    assert last_update >= (first.last_update or 0)
    await reads.close()


@pytest.mark.parametrize("path", ["partitions/", "reservations/"])
async def test_partitions_and_reservations_are_probed_alike(slurm: Slurm, path: str) -> None:
    await slurm.eventually(lambda: unchanged(slurm, path))


async def test_a_node_with_a_job_is_not_deleted(slurm: Slurm, client: Client) -> None:
    await slurm.running(required_nodes=["w-0"])
    said = await slurm.ask("DELETE", "node/w-0")
    assert (said.code, said.numbers) == (500 if slurm.old else 422, [2016])
    with pytest.raises(BusyError):
        await client.nodes.delete(["w-0"])
    assert "ALLOCATED" in (await slurm.node())["state"] or "MIXED" in (await slurm.node())["state"]


async def test_nodes_are_created_where_slurm_can_and_deleted_everywhere(
    slurm: Slurm, client: Client
) -> None:
    line = "NodeName=dyn-[0-2] CPUs=2 State=CLOUD"
    if not await client.can(Capability.NODE_CREATION):
        assert slurm.old
        with pytest.raises(MissingError, match=r"25\.11"):
            await client.nodes.create(line)
    else:
        await client.nodes.create(line)
        state = (await client.nodes.one("dyn-1")).state
        assert set(state) == {"IDLE", "CLOUD", "POWERED_DOWN", "DYNAMIC_NORM"}
        with pytest.raises(ExistsError):
            await client.nodes.create(line)
        await client.nodes.delete(["dyn-[0-2]"])
    with pytest.raises(NotFoundError):
        await client.nodes.delete(["dyn-[0-2]"])


async def settled(slurm: Slurm, client: Client) -> int:
    """Return the time of a list that is older than a second, so that nothing is new to it."""

    async def look() -> int | None:
        last_update = (await client.nodes.all()).last_update
        said = await slurm.ask("GET", f"nodes/?update_time={last_update}")
        return last_update if said.code == 304 else None

    found = await slurm.eventually(look)
    assert found is not None
    return found


async def unchanged(slurm: Slurm, path: str) -> bool:
    listed = (await slurm.ask("GET", path)).body["last_update"]["number"]
    said = await slurm.ask("GET", f"{path}?update_time={listed}")
    assert said.code in (200, 304)
    return said.code == 304 and said.text == ""
