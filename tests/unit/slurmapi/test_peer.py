"""Ping first: nobody waits for a slurmctld that is away, and a bad token is told from that."""

import asyncio

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import FakeTokens, fake_client
from fakes.slurmrestd.faults import Late, Says
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.runtime import clock
from shoal.slurmapi.errors import (
    BadTokenError,
    ControllerDownError,
    DatabaseDownError,
    TimedOutError,
    UnreachableError,
    UnreadableError,
)
from shoal.slurmapi.peer import CUT_OFF, DOUBT_S, FRESH_S
from shoal.slurmapi.tokens import Nobody, TokenError
from shoal.slurmapi.transport import PING

LOOP = VirtualLoop
SERIES = ("24.11", "26.05")


def make(series: str = "26.05") -> FakeSlurm:
    slurm = FakeSlurm(series)
    slurm.slurmctld.add("w-[0-3]")
    return slurm


async def took_s(call, error: type[Exception]) -> float:
    began = clock.ticks()
    with pytest.raises(error):
        await call
    return clock.ticks() - began


# -- slurmctld


@pytest.mark.parametrize("series", SERIES)
async def test_a_slurmctld_that_is_down_is_told_at_once(series):
    slurm = make(series)
    client = fake_client(slurm)
    slurm.controller = Daemon.DOWN
    # Only the first call spends a moment on whether the token is at fault.
    assert await took_s(client.nodes.all(), ControllerDownError) == pytest.approx(CUT_OFF.total_s)
    assert await took_s(client.nodes.drain(["w-0"], "x"), ControllerDownError) == 0
    assert slurm.count("nodes") == 0


async def test_a_slurmctld_that_stays_down_costs_slurmrestd_few_threads():
    slurm = make()
    client = fake_client(slurm)
    slurm.controller = Daemon.DOWN
    for _ in range(60):
        with pytest.raises(ControllerDownError):
            await client.nodes.all()
        await clock.sleep(FRESH_S)
    assert slurm.count("diag") <= 60 / DOUBT_S + 1


async def test_a_slurmctld_that_is_back_is_asked_within_a_second():
    slurm = make()
    client = fake_client(slurm)
    slurm.controller = Daemon.DOWN
    with pytest.raises(ControllerDownError):
        await client.nodes.all()
    slurm.controller = Daemon.UP
    await clock.sleep(FRESH_S)
    assert len((await client.nodes.all()).nodes) == 4


async def test_a_slurmctld_that_dies_under_a_call_is_pinged_before_the_next():
    slurm = make()
    client = fake_client(slurm)
    await client.nodes.all()
    slurm.controller = Daemon.DOWN
    # Within the second for which the last ping counts.
    assert await took_s(client.nodes.one("w-0"), TimedOutError) == pytest.approx(5)
    assert await took_s(client.nodes.one("w-0"), ControllerDownError) < 1


async def test_a_call_that_finds_slurmctld_gone_is_the_only_one_that_looks_for_it():
    slurm = make()
    client = fake_client(slurm)
    await client.nodes.all()
    slurm.controller = Daemon.DOWN
    slurm.waits_s = 0.1
    for _ in range(3):
        with pytest.raises(ControllerDownError):
            await client.nodes.one("w-0")
    assert slurm.count("node/") == 1


async def test_a_slurmctld_that_hangs_holds_no_call_for_long():
    slurm = make()
    client = fake_client(slurm)
    await client.nodes.all()
    await clock.sleep(FRESH_S)
    slurm.plan(Late(10), "ping", times=99)
    assert await took_s(client.nodes.all(), ControllerDownError) == pytest.approx(PING.total_s)


async def test_a_hundred_callers_share_one_ping_and_its_failure():
    slurm = make()
    client = fake_client(slurm)
    slurm.plan(Late(10), "ping", times=-1)
    began = clock.ticks()
    calls = (client.nodes.one("w-0") for _ in range(100))
    told = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(error) for error in told} == {ControllerDownError}
    assert clock.ticks() - began == pytest.approx(PING.total_s)


async def test_one_ping_a_second_is_enough():
    slurm = make()
    client = fake_client(slurm)
    for _ in range(20):
        await client.nodes.one("w-0")
    assert slurm.count("ping") == 1
    await clock.sleep(FRESH_S)
    await client.nodes.one("w-0")
    assert slurm.count("ping") == 2


async def test_every_host_that_may_be_the_controller_is_asked():
    slurm = make()
    client = fake_client(slurm)
    hosts = [{"hostname": "a", "pinged": "DOWN"}, {"hostname": "b", "pinged": "UP"}]
    slurm.plan(Says(200, {"pings": hosts}), "ping", times=-1)
    pings = await client.controller.ping()
    assert [ping.up for ping in pings] == [False, True]
    assert len((await client.nodes.all()).nodes) == 4


async def test_slurmdbd_is_asked_also_while_slurmctld_is_down():
    slurm = make()
    client = fake_client(slurm)
    slurm.controller = Daemon.DOWN
    assert [account.name for account in await client.accounting.accounts()] == ["root"]


# -- slurmrestd


async def test_a_slurmrestd_that_is_not_there_is_told_from_a_slurmctld_that_is_down():
    client = fake_client(make())
    client._transport.down = True
    with pytest.raises(
        UnreachableError, match=r"GET /nodes/: Connection refused \(check that slurm"
    ):
        await client.nodes.all()
    assert not issubclass(ControllerDownError, UnreachableError)


async def test_something_else_at_the_address_is_told_so():
    slurm = make()
    slurm.plan(Says(200, "<html>welcome</html>", "text/html"), times=-1)
    with pytest.raises(UnreadableError, match="check that the address is slurmrestd's") as caught:
        await fake_client(slurm).nodes.all()
    assert "GET /nodes/" in str(caught.value)


@pytest.mark.parametrize(("before", "after"), [("24.11", "26.05"), ("26.05", "24.11")])
async def test_another_slurm_at_the_same_address_is_spoken_to_in_its_own_version(before, after):
    slurm = make(before)
    client = fake_client(slurm)
    await client.nodes.all()
    slurm.upgrade(after)
    await clock.sleep(FRESH_S)
    assert len((await client.nodes.all()).nodes) == 4
    known = await client.known()
    assert known.version == slurm.series.versions[-1]
    assert known.slurm.release == slurm.series.release


async def test_a_path_that_is_gone_is_looked_for_in_another_version_and_the_call_is_done():
    slurm = make("26.05")
    client = fake_client(slurm)
    await client.nodes.all()
    slurm.upgrade("24.11")
    # Before the next ping; a 404 was never carried out, so a write goes again too.
    await client.nodes.drain(["w-0"], "x")
    assert slurm.slurmctld.nodes["w-0"].flags == {"DRAIN"}
    assert slurm.count("POST") == 2


# -- tokens


@pytest.mark.parametrize("series", SERIES)
async def test_a_token_that_expired_is_renewed_and_the_call_is_done(series):
    slurm = make(series)
    tokens = FakeTokens(slurm, lifetime_s=100)
    client = fake_client(slurm, tokens=tokens)
    await client.nodes.all()
    slurm.ahead_s += 200
    # slurmctld answers no ping with such a token.
    await clock.sleep(FRESH_S)
    await client.nodes.drain(["w-0"], "x")
    assert slurm.slurmctld.nodes["w-0"].flags == {"DRAIN"}
    assert tokens.forgotten == 1


async def test_a_token_that_expires_between_ping_and_call_is_renewed():
    slurm = make()
    tokens = FakeTokens(slurm, lifetime_s=100)
    client = fake_client(slurm, tokens=tokens)
    await client.nodes.all()
    slurm.ahead_s += 200
    assert len((await client.nodes.all()).nodes) == 4
    assert tokens.forgotten == 1


class WrongKey(FakeTokens):
    async def header(self):
        return {"x-slurm-user-token": "a.b.c"}


@pytest.mark.parametrize("series", SERIES)
async def test_a_token_that_is_not_accepted_is_not_called_a_slurmctld_that_is_down(series):
    slurm = make(series)
    client = fake_client(slurm, tokens=WrongKey(slurm))
    for _ in range(3):
        with pytest.raises(BadTokenError, match="GET /nodes/: Protocol authentication error"):
            await client.nodes.all()
        await clock.sleep(FRESH_S)


@pytest.mark.parametrize("series", SERIES)
async def test_a_token_that_slurmdbd_does_not_take_is_not_called_a_database_that_is_down(series):
    slurm = make(series)
    client = fake_client(slurm, tokens=WrongKey(slurm))
    with pytest.raises(BadTokenError, match="GET /slurmdb/accounts/"):
        await client.accounting.accounts()
    assert slurm.count("accounts") >= 1


@pytest.mark.parametrize("series", SERIES)
async def test_a_token_that_expired_is_renewed_for_slurmdbd_too(series):
    slurm = make(series)
    tokens = FakeTokens(slurm, lifetime_s=100)
    client = fake_client(slurm, tokens=tokens)
    await client.accounting.accounts()
    slurm.ahead_s += 200
    assert [account.name for account in await client.accounting.accounts()] == ["root"]
    assert tokens.forgotten == 1


async def test_a_database_that_is_down_is_told_so():
    slurm = make()
    client = fake_client(slurm)
    slurm.database = Daemon.DOWN
    with pytest.raises(DatabaseDownError, match="check that slurmdbd and its database run"):
        await client.accounting.accounts()
    assert len((await client.nodes.all()).nodes) == 4


async def test_a_slurmdbd_with_the_old_key_is_not_blamed_on_the_token_slurmctld_takes():
    slurm = make()
    slurm.key = b"another key that slurmdbd has not read yet"
    with pytest.raises(DatabaseDownError, match="another JWT key"):
        await fake_client(slurm).accounting.accounts()
    assert slurm.count("ping") >= 1


async def test_no_token_is_told_so():
    with pytest.raises(BadTokenError, match="HTTP 401, Authentication failure"):
        await fake_client(make(), tokens=Nobody()).nodes.all()
    assert not issubclass(BadTokenError, ControllerDownError)


class NoKey(FakeTokens):
    async def header(self):
        raise TokenError("Secret ns/jwt key jwt.key", "it is empty")


async def test_a_key_that_is_missing_is_named():
    slurm = make()
    with pytest.raises(TokenError, match=r"Secret ns/jwt key jwt\.key: it is empty"):
        await fake_client(slurm, tokens=NoKey(slurm)).nodes.all()
    assert slurm.requests == []
