"""A client for the slurmrestd of each cluster."""

import msgspec
import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.faults import Lost
from fakes.slurmrestd.slurm import KEY, FakeSlurm
from fakes.slurmrestd.transport import FakeTransport
from shoal.controllers.slurms import Slurms
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
        self.slurm = FakeSlurm()
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
def lines():
    return Lines()


async def test_a_cluster_is_asked_at_its_service_by_one_client(lines):
    first = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    second = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert first is second
    assert lines.urls == ["http://slurm-restapi.ns.svc.cluster.local:6820"]


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


@pytest.mark.parametrize(("rest", "key"), [(None, KEY), (make_rest(), None)])
async def test_without_slurmrestd_or_key_nobody_is_asked_and_the_line_is_closed(lines, rest, key):
    await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert await lines.slurms.of(make_cluster(), rest, key) is None
    assert lines.closed == 1


async def test_a_new_key_is_used_by_the_same_client_as_soon_as_it_asks_again(lines):
    slurm = await lines.slurms.of(make_cluster(), make_rest(), b"wrong")
    assert await slurm.drains() is None
    again = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert again is slurm
    await clock.sleep(1)
    assert await again.drains() == {}


async def test_what_slurm_says_of_its_nodes_is_told_by_name(lines):
    slurmctld = lines.slurm.slurmctld
    slurmctld.add("w-[0-2]")
    slurmctld.update_nodes("root", ["w-[1-2]"], {"state": ["DRAIN"], "reason": "x"})
    slurmctld.start("w-2")
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    assert await slurm.drains() == {
        "w-0": Drain.SERVING,
        "w-1": Drain.DRAINED,
        "w-2": Drain.DRAINING,
    }


async def test_a_slurm_that_does_not_answer_says_nothing(lines):
    slurm = await lines.slurms.of(make_cluster(), make_rest(), KEY)
    lines.slurm.plan(Lost(), times=-1)
    assert await slurm.drains() is None
