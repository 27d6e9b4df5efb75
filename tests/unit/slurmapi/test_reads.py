"""One node list for all who ask, none for no news, and always a fresh one after a write of ours."""

import asyncio

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.faults import Cut, Late, Says
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.runtime import clock
from shoal.slurmapi.errors import ControllerDownError, TimedOutError, UnreadableError
from shoal.slurmapi.reads import PERIOD_S, SHARE, WHOLE_S, NodeReads

LOOP = VirtualLoop
SERIES = ("24.11", "26.05")
LIST = "/nodes/"
PROBE = "update_time"


def make(series: str = "26.05") -> tuple[FakeSlurm, NodeReads]:
    # Slurm's clock goes with the loop's, from a day in 2027 on.
    slurm = FakeSlurm(series, now=lambda: 1_800_000_000 + clock.ticks())
    slurm.slurmctld.add("w-[0-9]")
    return slurm, NodeReads(fake_client(slurm))


def lists(slurm: FakeSlurm) -> int:
    """Return how many lists were asked for whole."""
    return sum(name.startswith("GET") and name.endswith(LIST) for name in slurm.requests)


async def test_a_hundred_who_ask_at_once_are_one_request():
    slurm, reads = make()
    slurm.plan(Late(2), LIST)
    shots = await asyncio.gather(*(reads.nodes() for _ in range(100)))
    assert lists(slurm) == 1
    assert all(shot is shots[0] for shot in shots)
    assert len(shots[0].nodes) == 10


async def test_within_a_period_nothing_is_asked():
    slurm, reads = make()
    first = await reads.nodes()
    await clock.sleep(PERIOD_S - 0.1)
    assert await reads.nodes() is first
    assert lists(slurm) == 1
    assert slurm.count(PROBE) == 0


async def test_a_list_that_takes_long_is_read_less_often_unless_somebody_needs_it():
    slurm, reads = make()
    slurm.plan(Late(1.5), LIST, times=-1)
    first = await reads.nodes()
    await clock.sleep(SHARE * 1.5 - 2)
    assert await reads.nodes() is first
    assert (await reads.nodes(newer_than=clock.ticks() - 1)) is not first
    await clock.sleep(SHARE * 1.5)
    assert (await reads.nodes()).taken_at > first.taken_at


async def test_a_period_of_nothing_keeps_nothing():
    slurm, _ = make()
    reads = NodeReads(fake_client(slurm), period_s=0)
    slurm.plan(Late(1), LIST, times=-1)
    first = await reads.nodes()
    assert (await reads.nodes()).taken_at > first.taken_at


@pytest.mark.parametrize("series", SERIES)
async def test_no_news_are_told_without_a_list(series):
    slurm, reads = make(series)
    await clock.sleep(10)
    first = await reads.nodes()
    for _ in range(10):
        await clock.sleep(PERIOD_S)
        shot = await reads.nodes()
        # As good as a new one.
        assert shot.taken_at == pytest.approx(clock.ticks())
        assert shot.nodes is first.nodes
        assert shot.listed_at == first.listed_at
    assert lists(slurm) == 1
    assert slurm.count(PROBE) == 10


@pytest.mark.parametrize("series", SERIES)
async def test_news_are_told_also_where_slurm_stumbles_over_the_question(series):
    slurm, reads = make(series)
    await clock.sleep(10)
    await reads.nodes()
    await clock.sleep(PERIOD_S)
    slurm.slurmctld.start("w-3", cpus=2)
    shot = await reads.nodes()
    assert shot.nodes["w-3"].state == ("ALLOCATED",)
    # 24.11 answers 500 when nodes changed and partitions did not, and is asked for the list.
    assert lists(slurm) == (2 if series == "24.11" else 1)
    assert slurm.count(PROBE) == 1


@pytest.mark.parametrize("series", SERIES)
async def test_a_change_in_the_very_second_of_the_last_list_is_not_missed(series):
    slurm, reads = make(series)
    await clock.sleep(10)
    await reads.nodes()
    slurm.slurmctld.start("w-3", cpus=2)
    await clock.sleep(PERIOD_S)
    assert (await reads.nodes()).nodes["w-3"].state == ("ALLOCATED",)


async def test_after_a_write_of_ours_the_next_read_is_new_and_whole():
    slurm, reads = make()
    await clock.sleep(10)
    before = await reads.nodes()
    await reads._client.nodes.drain(["w-0"], "x")
    drained_at = clock.ticks()
    await clock.sleep(0.01)
    assert not before.newer_than(drained_at)
    after = await reads.nodes()
    assert after.newer_than(drained_at)
    assert "DRAIN" in after.nodes["w-0"].state
    assert lists(slurm) == 2
    assert slurm.count(PROBE) == 0


async def test_a_read_that_set_out_before_our_write_ended_is_not_believed_after_it():
    slurm, reads = make()
    slurm.plan(Late(3), LIST)
    early = asyncio.create_task(reads.nodes())
    await clock.sleep(1)
    # The list under way was asked for before this drain; whether it shows it is chance.
    await reads._client.nodes.drain(["w-0"], "x")
    drained_at = clock.ticks()
    await clock.sleep(0.01)
    late = await reads.nodes()
    assert late.newer_than(drained_at)
    assert not (await early).newer_than(drained_at)
    assert lists(slurm) == 2


async def test_all_who_ask_after_our_write_share_one_new_read():
    slurm, reads = make()
    slurm.plan(Late(3), LIST)
    early = asyncio.create_task(reads.nodes())
    await clock.sleep(1)
    await reads._client.nodes.drain(["w-0"], "x")
    await clock.sleep(0.01)
    await asyncio.gather(*(reads.nodes() for _ in range(50)))
    await early
    assert lists(slurm) == 2


async def test_a_write_whose_end_is_not_known_makes_the_next_read_new():
    slurm, reads = make()
    await clock.sleep(10)
    await reads.nodes()
    slurm.plan(Late(99), "POST")
    with pytest.raises(TimedOutError):
        await reads._client.nodes.drain(["w-0"], "x")
    await reads.nodes()
    assert lists(slurm) == 2


async def test_a_read_can_be_asked_to_be_newer_than_a_moment():
    slurm, reads = make()
    await reads.nodes()
    await clock.sleep(1)
    moment = clock.ticks()
    await clock.sleep(0.01)
    assert (await reads.nodes(newer_than=moment)).newer_than(moment)
    assert len(slurm.requests) > 2


async def test_a_snapshot_is_dated_by_when_it_was_asked_for():
    slurm, reads = make()
    slurm.plan(Late(4), LIST)
    began = clock.ticks()
    shot = await reads.nodes()
    assert shot.taken_at == began
    assert not shot.newer_than(began)
    assert shot.last_update == int(slurm.now())


async def test_now_and_then_the_list_is_read_whole_whatever_slurm_says():
    slurm, reads = make()
    await clock.sleep(10)
    await reads.nodes()
    # Slurm's clock is set back: changes from now on look old to it.
    slurm.ahead_s -= 3600
    slurm.slurmctld.start("w-3", cpus=2)
    await clock.sleep(PERIOD_S)
    assert (await reads.nodes()).nodes["w-3"].state == ("IDLE",)
    await clock.sleep(WHOLE_S)
    assert (await reads.nodes()).nodes["w-3"].state == ("ALLOCATED",)


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Cut(100), UnreadableError), (Late(99), TimedOutError), (Says(200, {}), UnreadableError)],
)
async def test_a_failure_is_told_to_all_who_wait_and_forgotten(fault, error):
    slurm, reads = make()
    slurm.plan(fault, LIST)
    told = await asyncio.gather(*(reads.nodes() for _ in range(5)), return_exceptions=True)
    assert {type(one) for one in told} == {error}
    assert len((await reads.nodes()).nodes) == 10
    assert lists(slurm) == 2 - isinstance(fault, Late)


async def test_what_was_read_before_is_not_passed_off_as_new_when_slurmctld_is_down():
    slurm, reads = make()
    await reads.nodes()
    slurm.controller = Daemon.DOWN
    await clock.sleep(PERIOD_S)
    with pytest.raises(ControllerDownError):
        await reads.nodes()
    slurm.controller = Daemon.UP
    await clock.sleep(PERIOD_S)
    assert len((await reads.nodes()).nodes) == 10


async def test_a_list_that_lost_all_its_nodes_is_told_as_it_is():
    slurm, reads = make()
    await reads.nodes()
    slurm.slurmctld.nodes.clear()
    slurm.slurmctld.reconfigure("root")
    await clock.sleep(PERIOD_S)
    assert dict((await reads.nodes()).nodes) == {}


async def test_a_reader_that_is_closed_leaves_nothing_behind():
    slurm, reads = make()
    slurm.plan(Late(3), LIST)
    waiting = asyncio.create_task(reads.nodes())
    await clock.sleep(1)
    await reads.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await clock.sleep(10)
    assert lists(slurm) == 0
