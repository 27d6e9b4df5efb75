"""The port: who does not lead does nothing."""

import asyncio

import pytest

from fakes.loop import VirtualLoop
from shoal.runtime import clock
from shoal.runtime.errors import DeposedError
from shoal.runtime.port import Fence, Fenced

LOOP = VirtualLoop


def make_fenced(for_s: float) -> tuple[Fence, Fenced]:
    fence = Fence()
    fence.extend(clock.ticks() + for_s)
    return fence, Fenced(fence)


async def answer() -> str:
    return "done"


async def test_a_fence_is_closed_until_it_is_extended():
    with pytest.raises(DeposedError, match=r"PATCH /x: not carried out"):
        await Fenced(Fence())("PATCH /x", answer)
    assert Fence().left_s < 0


async def test_a_fence_says_whether_something_may_be_sent_now():
    fence, _ = make_fenced(5)
    fence.check()
    await clock.sleep(5)
    with pytest.raises(DeposedError, match="does not lead"):
        fence.check()
    fence.extend(clock.ticks() + 1)
    fence.check()
    fence.close()
    with pytest.raises(DeposedError):
        fence.check()
    assert fence.left_s < 0


async def test_a_leaders_effect_is_carried_out_and_its_answer_returned():
    _, port = make_fenced(5)
    assert await port("PATCH /x", answer) == "done"


async def test_after_the_lease_ended_nothing_is_carried_out():
    _, port = make_fenced(5)
    began = []
    await clock.sleep(5)
    with pytest.raises(DeposedError):
        await port("PATCH /x", lambda: began.append(1))
    assert not began


async def test_a_process_that_was_frozen_past_its_lease_carries_nothing_out():
    _, port = make_fenced(5)
    asyncio.get_running_loop().freeze(60)
    with pytest.raises(DeposedError):
        await port("PATCH /x", answer)
    assert clock.ticks() >= 60


async def test_an_effect_that_would_outlast_the_lease_is_cut_short():
    _, port = make_fenced(5)
    began = clock.ticks()
    with pytest.raises(DeposedError, match="cut short"):
        await port("PATCH /x", lambda: clock.sleep(60))
    assert clock.ticks() - began == pytest.approx(5)


async def test_a_lease_renewed_meanwhile_counts_for_the_next_effect():
    fence, port = make_fenced(5)
    await clock.sleep(4)
    fence.extend(clock.ticks() + 5)
    await clock.sleep(4)
    assert await port("PATCH /x", answer) == "done"


async def test_a_closed_fence_stays_closed():
    fence, port = make_fenced(500)
    fence.close()
    with pytest.raises(DeposedError):
        await port("PATCH /x", answer)
    assert fence.left_s < 0


async def test_an_effects_own_time_out_is_not_taken_for_the_end_of_the_lease():
    _, port = make_fenced(60)

    async def slow() -> None:
        async with asyncio.timeout(1):
            await clock.sleep(30)

    with pytest.raises(TimeoutError) as caught:
        await port("PATCH /x", slow)
    assert not isinstance(caught.value, DeposedError)


async def test_without_a_lease_there_is_no_limit():
    fence = Fence()
    fence.extend(float("inf"))
    assert await Fenced(fence)("PATCH /x", answer) == "done"
