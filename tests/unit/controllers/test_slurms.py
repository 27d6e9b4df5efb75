"""A client for the slurmrestd of each cluster."""

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.faults import Lost
from fakes.slurmrestd.slurm import KEY, FakeSlurm
from fakes.slurmrestd.transport import FakeTransport
from shoal.controllers.slurms import NEVER, Slurms
from shoal.dialects.slinky import read, types
from shoal.model.observed import Found
from shoal.runtime import clock
from shoal.slurm.nodes import Drain
from shoal.slurmapi.client import Client

LOOP = VirtualLoop
JWT = {"name": "keys", "key": "jwt"}


def make_cluster(name="slurm"):
    found = Found({}, {"keys": {"jwt": KEY}})
    obj = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"jwtKeyRef": JWT}}
    return read.cluster(msgspec.convert(obj, types.Controller), [], None, read.Around(found))


def make_rest(name="slurm", port=None):
    obj = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"service": {"port": port}}}
    return read.rest(msgspec.convert(obj, types.RestApi), read.Around(Found({}, {})))


class Lines:
    """Opens clients on fakes, and remembers which."""

    def __init__(self):
        began = clock.now().timestamp() - clock.ticks()
        self.slurm = FakeSlurm(now=lambda: began + clock.ticks())
        self.urls = []
        self.closed = 0
        self.slurms = Slurms(connect=self.connect)

    def connect(self, access, through):
        self.urls.append(access.url)
        lines = self

        class Transport(FakeTransport):
            async def close(self):
                lines.closed += 1

        return Client(access, through, transport=Transport(self.slurm))


@pytest.fixture
async def lines():
    return Lines()


async def test_a_cluster_is_asked_at_its_service_by_one_client(lines):
    first = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    second = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert first is second
    assert lines.urls == ["http://slurm-restapi.ns.svc:6820"]


async def test_a_port_of_the_users_is_used_and_the_old_line_closed(lines):
    await lines.slurms.of(make_cluster(), make_rest(), KEY)
    await lines.slurms.of(make_cluster(), make_rest(port=7000), KEY)
    assert lines.urls[-1].endswith(":7000")
    assert lines.closed == 1


async def test_two_clusters_have_two_clients(lines):
    one = await lines.slurms.of(make_cluster("a"), make_rest("a"), KEY)
    two = await lines.slurms.of(make_cluster("b"), make_rest("b"), KEY)
    assert one is not two
    await lines.slurms.close()
    assert lines.closed == 2


async def test_without_slurmrestd_nobody_is_asked_and_the_line_is_closed(lines):
    await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert await lines.slurms.of(make_cluster(), None, KEY) is None
    assert lines.closed == 1


async def test_a_key_that_is_deleted_is_used_for_as_long_as_slurm_knows_it(lines):
    assert await lines.slurms.of(make_cluster(), make_rest(), None) is None
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert await lines.slurms.of(make_cluster(), make_rest(), None) is slurm
    assert await slurm.nodes() == {}


async def test_a_new_key_is_used_by_the_same_client_as_soon_as_it_asks_again(lines):
    slurm = await lines.slurms.of(make_cluster(), make_rest(), b"wrong")
    assert await slurm.nodes() is None
    again = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert again is slurm
    await clock.sleep(1)
    assert await again.nodes() == {}


async def test_what_slurm_says_of_its_nodes_is_told_by_name(lines):
    slurmctld = lines.slurm.slurmctld
    slurmctld.add("w-[0-2]")
    slurmctld.update_nodes("root", ["w-[1-2]"], {"state": ["DRAIN"], "reason": "x"})
    slurmctld.start("w-2")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    seen = await slurm.nodes()
    assert {name: node.state.drain for name, node in seen.items()} == {
        "w-0": Drain.SERVING,
        "w-1": Drain.DRAINED,
        "w-2": Drain.DRAINING,
    }


async def test_a_slurm_that_does_not_answer_says_nothing(lines):
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    lines.slurm.plan(Lost(), times=-1)
    assert await slurm.nodes() is None


async def test_the_same_nodes_are_the_same_answer_until_something_changes(lines):
    lines.slurm.slurmctld.add("w-[0-2]")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    await slurm.nodes()
    await clock.sleep(10)  # a change in the very second of a list may not be in it
    first = await slurm.nodes()
    await clock.sleep(10)
    assert await slurm.nodes() is first
    lines.slurm.slurmctld.start("w-1")
    await clock.sleep(10)
    assert await slurm.nodes() is not first


async def test_of_many_nodes_only_those_are_made_anew_that_have_changed(lines):
    slurmctld = lines.slurm.slurmctld
    slurmctld.add("w-[0-2]")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    first = await slurm.nodes()
    slurmctld.start("w-1")
    del slurmctld.nodes["w-2"]
    slurmctld.add("w-3")
    await clock.sleep(10)
    now = await slurm.nodes()
    assert now.keys() == {"w-0", "w-1", "w-3"}
    assert now["w-0"] is first["w-0"]
    assert now["w-1"].state.busy


async def test_what_nobody_here_goes_by_is_no_change(lines):
    """slurmctld's list is a new one whenever a slurmd tells of its load: that wakes nobody."""
    slurmctld = lines.slurm.slurmctld
    slurmctld.add("w-[0-2]")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    first = await slurm.nodes()
    slurmctld.update_nodes("root", ["w-1"], {"extra": "x"})
    await clock.sleep(10)
    assert await slurm.nodes() is first
    assert (await slurm.reads.nodes()).nodes["w-1"].extra == "x"
    slurmctld.update_nodes("root", ["w-1"], {"comment": "x"})
    await clock.sleep(10)
    assert (await slurm.nodes())["w-1"].comment == "x"


async def test_a_nodes_end_is_that_of_its_longest_job(lines):
    slurmctld = lines.slurm.slurmctld
    slurmctld.add("w-[0-3]")
    slurmctld.start("w-[0-1]", limit=10)
    slurmctld.start("w-1", limit=60)
    slurmctld.start("w-2")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    ends = await slurm.ends()
    assert ends["w-1"] - ends["w-0"] == timedelta(minutes=50)
    assert ends["w-2"] == NEVER
    assert "w-3" not in ends
    lines.slurm.plan(Lost(), times=-1)
    await clock.sleep(20)
    assert await slurm.ends() is None


async def test_a_job_whose_nodes_nobody_can_read_makes_ends_unknown_and_no_pass_fail(lines):
    lines.slurm.slurmctld.add("w-[0-1]")
    lines.slurm.slurmctld.start("w-0", limit=10)
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    found = await slurm.jobs.holders()
    broken = replace(found, jobs=[replace(found.jobs[0], nodes="w-[0-")])

    class Told:
        async def holders(self):
            return broken

    assert await replace(slurm, jobs=Told()).ends() is None
