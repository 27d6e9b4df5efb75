"""The gate sees every write and no read; every request is observed; lies are not believed."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens, fake_client
from fakes.slurmrestd.faults import Cut, Late, Lost, Says
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.runtime import clock
from shoal.slurmapi.accounting import Account, Association, Qos, User, Wanted
from shoal.slurmapi.errors import (
    BadTokenError,
    NoSuchPathError,
    NotAllowedError,
    SlurmError,
    TimedOutError,
    UnreachableError,
    UnreadableError,
)
from shoal.slurmapi.jobs import JobDescription
from shoal.slurmapi.nodes import NodeChange
from shoal.slurmapi.reservations import ReservationWish
from shoal.slurmapi.transport import LIST, QUICK

LOOP = VirtualLoop

JOB = JobDescription("hello", "#!/bin/sh\ntrue")
WISH = ReservationWish("m", 1_800_000_000, 60, ("w-0",), ("root",))

# Every write of the client, and what the gate calls it.
WRITES = {
    "POST /nodes/ w-[0-1,3]": lambda c: c.nodes.update(["w-[0-1]", "w-3"], NodeChange(comment="x")),
    "POST /nodes/ w-0": lambda c: c.nodes.drain(["w-0"], "why"),
    "POST /nodes/ w-1": lambda c: c.nodes.undrain(["w-1"]),
    "POST /new/node/ NodeName=d-0": lambda c: c.nodes.create("NodeName=d-0 State=CLOUD"),
    "DELETE /node/w-9": lambda c: c.nodes.delete(["w-9"]),
    "POST /job/submit hello": lambda c: c.jobs.submit(JOB),
    "DELETE /job/1 USR1": lambda c: c.jobs.signal(1, "USR1"),
    "POST /jobs/requeue 1": lambda c: c.jobs.requeue([1]),
    "DELETE /job/1": lambda c: c.jobs.cancel(1),
    "POST /reservation m": lambda c: c.reservations.write(WISH),
    "DELETE /reservation/m": lambda c: c.reservations.delete("m"),
    "POST /partitions/ p": lambda c: c.partitions.write({"name": "p"}),
    "DELETE /partition/p": lambda c: c.partitions.delete("p"),
    "GET /reconfigure/": lambda c: c.controller.reconfigure(),
    "POST /slurmdb/accounts/ a": lambda c: c.accounting.write_accounts([Account("a", "a", "a")]),
    "POST /slurmdb/users/ u": lambda c: c.accounting.write_users([User("u")]),
    "POST /slurmdb/qos/ q": lambda c: c.accounting.write_qos([Qos("q")]),
    "POST /slurmdb/associations/ a/u": lambda c: c.accounting.write_associations(
        [Association("a", "lab", "u")]
    ),
}
READS = [
    lambda c: c.nodes.all(),
    lambda c: c.nodes.since(1),
    lambda c: c.nodes.one("w-0"),
    lambda c: c.nodes.find("nope"),
    lambda c: c.jobs.all(),
    lambda c: c.jobs.states(),
    lambda c: c.jobs.find(99),
    lambda c: c.jobs.with_parts(1),
    lambda c: c.reservations.all(),
    lambda c: c.reservations.find("nope"),
    lambda c: c.partitions.all(),
    lambda c: c.partitions.find("nope"),
    lambda c: c.controller.ping(),
    lambda c: c.controller.statistics(),
    lambda c: c.controller.configuration(),
    lambda c: c.accounting.ping(),
    lambda c: c.accounting.jobs(Wanted()),
    lambda c: c.accounting.accounts(),
    lambda c: c.accounting.users(),
    lambda c: c.accounting.qos(),
    lambda c: c.accounting.associations(),
    lambda c: c.accounting.clusters(),
    lambda c: c.accounting.content(),
]


def make() -> FakeSlurm:
    slurm = FakeSlurm("26.05")
    slurm.slurmctld.add("w-[0-9]")
    slurm.slurmctld.start("w-5")
    return slurm


async def test_every_write_passes_the_gate_under_its_name_and_no_read_does():
    passed = []

    async def gate(name, call):
        passed.append(name)
        return await call()

    client = fake_client(make(), through=gate)
    for read in READS:
        await read(client)
    assert passed == []
    for write in WRITES.values():
        await write(client)
    assert passed == list(WRITES)


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
async def test_a_gate_that_does_not_let_pass_keeps_the_write_from_slurm(write):
    async def gate(name, call):
        raise PermissionError(name)

    slurm = make()
    client = fake_client(slurm, through=gate)
    with pytest.raises(PermissionError):
        await write(client)
    assert all("ping" in name for name in slurm.requests)


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
async def test_a_write_that_got_lost_is_not_sent_again(write):
    slurm = make()
    client = fake_client(slurm)
    await client.known()
    before = len(slurm.requests)
    slurm.plan(Lost(after=True))
    with pytest.raises(UnreachableError):
        await write(client)
    assert len(slurm.requests) == before + 1


async def test_a_reconfigure_is_not_sent_again_even_with_a_new_token_or_version():
    slurm = make()
    tokens = FakeTokens(slurm, lifetime_s=100)
    client = fake_client(slurm, tokens=tokens)
    await client.nodes.all()
    slurm.ahead_s += 200
    with pytest.raises(BadTokenError):
        await client.controller.reconfigure()
    await client.controller.reconfigure()
    slurm.upgrade("24.11")
    with pytest.raises(NoSuchPathError):
        await client.controller.reconfigure()
    assert slurm.count("reconfigure") == 3
    assert slurm.slurmctld.reconfigured == 1


async def test_every_request_is_observed_with_its_code_and_time():
    seen = []
    slurm = make()
    client = fake_client(slurm, observe=lambda *what: seen.append(what))
    slurm.plan(Late(99), "node/")
    with pytest.raises(TimedOutError):
        await client.nodes.one("w-0")
    with pytest.raises(SlurmError):
        await client.nodes.update(["nope"], NodeChange(comment="x"))
    assert [what[:3] for what in seen] == [
        ("GET", "ping", 200),
        ("GET", "nodes", 0),
        ("GET", "ping", 200),
        ("POST", "nodes", 422),
    ]
    assert seen[1][3] == pytest.approx(QUICK.total_s)


# -- lies


async def test_a_200_that_lists_errors_is_an_error():
    slurm = make()
    problem = {"error_number": 2010, "error": "Invalid user id", "description": "no"}
    slurm.plan(Says(200, {"nodes": [], "errors": [problem]}), "nodes")
    with pytest.raises(NotAllowedError, match="GET /nodes/: Invalid user id: no"):
        await fake_client(slurm).nodes.all()
    assert slurm.count("nodes") == 1


async def test_a_list_that_is_missing_is_not_an_empty_one():
    slurm = make()
    slurm.plan(Says(200, {"errors": []}), "nodes")
    with pytest.raises(UnreadableError, match="does not hold what was asked for"):
        await fake_client(slurm).nodes.all()
    assert slurm.count("nodes") == 1


async def test_an_empty_list_is_returned_with_its_time():
    slurm = make()
    slurm.slurmctld.nodes.clear()
    listing = await fake_client(slurm).nodes.all()
    assert list(listing.nodes) == []
    assert listing.last_update == pytest.approx(slurm.now(), abs=5)


@pytest.mark.parametrize("cut", [Cut(0), Cut(50), Cut(500), Cut(50, line=True)])
async def test_a_list_that_is_cut_short_is_no_list(cut):
    slurm = make()
    slurm.plan(cut, "nodes")
    with pytest.raises(UnreadableError, match="GET /nodes/: "):
        await fake_client(slurm).nodes.all()
    assert slurm.count("nodes") == 1


@pytest.mark.parametrize(
    ("read", "limit_s"),
    [
        (lambda c: c.nodes.all(), LIST.total_s),
        (lambda c: c.jobs.all(), LIST.total_s),
        (lambda c: c.jobs.states(), LIST.total_s),
        (lambda c: c.accounting.jobs(Wanted()), LIST.total_s),
        (lambda c: c.nodes.one("w-0"), QUICK.total_s),
        (lambda c: c.nodes.drain(["w-0"], "x"), QUICK.total_s),
        (lambda c: c.controller.reconfigure(), LIST.total_s),
    ],
)
async def test_no_call_takes_longer_than_its_limit(read, limit_s):
    slurm = make()
    client = fake_client(slurm)
    await client.known()
    slurm.plan(Late(float("inf")))
    began = clock.ticks()
    with pytest.raises(TimedOutError):
        await read(client)
    assert clock.ticks() - began == pytest.approx(limit_s)


async def test_a_node_without_a_name_is_no_node():
    slurm = make()
    slurm.plan(Says(200, {"nodes": [{"state": ["IDLE"]}], "errors": []}), "nodes")
    with pytest.raises(UnreadableError, match="name"):
        await fake_client(slurm).nodes.all()
    assert slurm.count("nodes") == 1
