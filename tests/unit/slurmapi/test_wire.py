"""Requests: how they are named, and what they carry."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.transport import Answer
from shoal.slurmapi.wire import LONGEST_ABOUT, Request, Tree, Wire

LOOP = VirtualLoop


class Recorded:
    """A transport that answers nothing and remembers what it was given."""

    def __init__(self) -> None:
        self.sent = []

    async def exchange(self, *given):
        self.sent.append(given[1])
        return Answer(200, b"{}")


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (Request("GET", "nodes/", "nodes"), "GET /nodes/"),
        (Request("GET", "nodes/", "nodes", {"update_time": "1"}), "GET /nodes/"),
        (Request("POST", "nodes/", "nodes", about="w-[0-3]"), "POST /nodes/ w-[0-3]"),
        (Request("GET", "jobs/", "accounting", tree=Tree.SLURMDB), "GET /slurmdb/jobs/"),
    ],
)
def test_a_request_is_named_after_what_it_is_about(request_, name):
    assert str(request_) == name


def test_a_name_is_not_longer_than_a_line():
    named = str(Request("POST", "nodes/", "nodes", about="w-0," * 1000))
    assert len(named) < LONGEST_ABOUT + 20
    assert named.endswith("…")


async def test_a_request_carries_the_version_the_token_and_what_it_sends():
    slurm, carried = FakeSlurm(), Recorded()
    wire = Wire(carried, FakeTokens(slurm))
    await wire.once(Request("GET", "jobs/", "jobs"), 44)
    await wire.once(Request("POST", "nodes/", "nodes", body={"name": ["w-0"]}, user="alice"), 42)
    read, wrote = carried.sent
    assert (read.path, wrote.path) == ("/slurm/v0.0.44/jobs/", "/slurm/v0.0.42/nodes/")
    assert read.headers["x-slurm-user-token"] == wrote.headers["x-slurm-user-token"]
    assert "Content-Type" not in read.headers
    assert wrote.headers["Content-Type"] == "application/json"
    assert (wrote.headers["X-SLURM-USER-NAME"], wrote.body) == ("alice", b'{"name":["w-0"]}')
