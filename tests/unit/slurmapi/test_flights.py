"""Work that is shared by all who wait for it."""

import asyncio
import gc

import pytest

from fakes.loop import VirtualLoop
from shoal.runtime import clock
from shoal.slurmapi.flights import Flight

LOOP = VirtualLoop


class Work:
    def __init__(self, error: Exception | None = None) -> None:
        self.started = 0
        self.ended = 0
        self.error = error

    async def __call__(self) -> int:
        self.started += 1
        await clock.sleep(10)
        if self.error:
            raise self.error
        self.ended += 1
        return self.started


async def test_all_who_ask_while_it_runs_share_one_result():
    work = Work()
    flight = Flight(work)
    assert await asyncio.gather(*(flight.join() for _ in range(100))) == [1] * 100
    assert await flight.join() == 2


async def test_all_who_ask_while_it_runs_share_one_failure():
    work = Work(OSError("no"))
    flight = Flight(work)
    told = await asyncio.gather(*(flight.join() for _ in range(5)), return_exceptions=True)
    assert [str(error) for error in told] == ["no"] * 5
    assert work.started == 1


async def test_whoever_gives_up_does_not_take_it_from_the_others():
    work = Work()
    flight = Flight(work)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await flight.join()
    assert await flight.join() == 1
    assert (work.started, work.ended) == (1, 1)


async def test_a_failure_that_nobody_waits_for_makes_no_noise(caplog):
    flight = Flight(Work(OSError("no")))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await flight.join()
    await clock.sleep(20)
    del flight
    gc.collect()
    assert caplog.records == []


async def test_it_can_be_stopped():
    work = Work()
    flight = Flight(work)
    waiting = asyncio.create_task(flight.join())
    await clock.sleep(1)
    assert flight.under_way
    await flight.stop()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not flight.under_way
    assert work.ended == 0
