"""Turns: a bound that holds, is fair, and loses nobody who waits."""

import asyncio
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from fakes.loop import VirtualLoop, run
from shoal.runtime import clock
from shoal.runtime.turns import Turns

LOOP = VirtualLoop


async def test_no_more_than_the_limit_run_side_by_side():
    turns, now, most = Turns(3), 0, 0

    async def work():
        nonlocal now, most
        async with turns.turn("a"):
            now += 1
            most = max(most, now)
            await clock.sleep(1)
            now -= 1

    await asyncio.gather(*(work() for _ in range(20)))
    assert most == 3


async def test_all_of_the_limit_is_used():
    turns, began = Turns(4), clock.ticks()

    async def work(who):
        async with turns.turn(who):
            await clock.sleep(1)

    await asyncio.gather(*(work(n % 3) for n in range(20)))
    assert clock.ticks() - began == 5


async def test_who_wants_a_thousand_turns_does_not_keep_another_from_its_one():
    turns, order = Turns(2), []

    async def work(who):
        async with turns.turn(who):
            order.append(who)
            await clock.sleep(1)

    greedy = [asyncio.create_task(work("greedy")) for _ in range(1000)]
    await clock.sleep(0.5)
    await work("modest")
    assert order.index("modest") <= 4
    for task in greedy:
        task.cancel()


async def test_those_who_wait_are_served_in_rotation():
    turns, order = Turns(1), []

    async def work(who):
        async with turns.turn(who):
            order.append(who)
            await clock.sleep(1)

    await asyncio.gather(*(work(who) for who in ["a"] * 4 + ["b"] * 4 + ["c"] * 4))
    assert "".join(order[1:10]) in ("abcabcabc", "bcabcabca")


async def test_a_failure_gives_its_turn_back():
    turns = Turns(1)
    for _ in range(3):
        with suppress(ZeroDivisionError):
            async with turns.turn("a"):
                assert 1 / 0
    async with asyncio.timeout(1), turns.turn("a"):
        assert turns._free == 0


async def test_a_turn_that_came_in_the_moment_of_the_cancellation_is_passed_on():
    turns = Turns(1)
    async with turns.turn("a"):
        first = asyncio.create_task(turns._take("b"))
        second = asyncio.create_task(turns._take("c"))
        await clock.sleep(0)
    first.cancel()  # its turn has been given, it has not run yet
    async with asyncio.timeout(1):
        await second
    assert first.cancelled() or first.cancelling()


jobs = st.tuples(
    st.sampled_from("abc"), st.integers(0, 6), st.integers(0, 4), st.none() | st.integers(0, 9)
)


@given(st.integers(1, 3), st.lists(jobs, max_size=25))
def test_whoever_is_not_cancelled_gets_a_turn_and_none_is_lost(limit, wanted):
    async def scenario():
        turns, now, served = Turns(limit), 0, set()

        async def work(number, who, begin_s, lasts_s):
            nonlocal now
            await clock.sleep(begin_s)
            async with turns.turn(who):
                now += 1
                assert now <= limit
                try:
                    await clock.sleep(lasts_s)
                finally:
                    now -= 1
                served.add(number)

        tasks = [asyncio.create_task(work(number, *job[:3])) for number, job in enumerate(wanted)]
        for task, (_, _, _, cancel_s) in zip(tasks, wanted, strict=True):
            if cancel_s is not None:
                asyncio.get_running_loop().call_later(cancel_s, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert served >= {n for n, job in enumerate(wanted) if job[3] is None}
        assert [t.exception() for t in tasks if not t.cancelled()] == [None] * len(
            [t for t in tasks if not t.cancelled()]
        )
        assert (turns._free, turns._waiting) == (limit, {})

    run(scenario())
