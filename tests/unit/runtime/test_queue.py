"""The queue against its promises, in virtual time."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.loop import VirtualLoop, run
from shoal.runtime import clock
from shoal.runtime.queue import FIRST_RETRY_S, LONGEST_RETRY_S, WINDOW_S, Queue, Urgency

LOOP = VirtualLoop
SOON = 1e-6  # virtual time is exact but for rounding


async def taken(queue: Queue, for_s: float = 10.0) -> list[tuple[float, str]]:
    """Take everything that becomes ready within `for_s`; each pass takes no time."""
    seen, began = [], clock.ticks()
    try:
        async with asyncio.timeout(for_s):
            while True:
                key, _ = await queue.get()
                seen.append((round(clock.ticks() - began, 3), key))
                queue.done(key)
    except TimeoutError:
        return seen


async def test_a_burst_of_wake_ups_is_one_pass():
    queue = Queue()
    for _ in range(100):
        queue.add("a")
    assert await taken(queue) == [(WINDOW_S, "a")]


async def test_wake_ups_during_the_window_do_not_push_the_pass_further_away():
    queue = Queue()

    async def nag():
        for _ in range(20):
            queue.add("a")
            await clock.sleep(0.03)

    nagging = asyncio.create_task(nag())
    assert (await taken(queue))[0] == (WINDOW_S, "a")
    await nagging


async def test_of_several_wishes_the_earliest_counts():
    queue = Queue()
    queue.add("a", after_s=50)
    queue.add("a", after_s=5)
    queue.add("a", after_s=500)
    assert await taken(queue, for_s=1000) == [(5, "a")]


async def test_what_a_user_did_goes_first_and_the_clock_last():
    queue = Queue()
    queue.add("resync", urgency=Urgency.RESYNC)
    queue.add("event")
    queue.add("user", urgency=Urgency.USER)
    assert [key for _, key in await taken(queue)] == ["user", "event", "resync"]


async def test_a_key_that_is_ready_already_can_still_become_urgent():
    queue = Queue()
    queue.add("a")
    queue.add("b")
    await clock.sleep(1)
    queue.add("b", urgency=Urgency.USER)
    assert [key for _, key in await taken(queue)] == ["b", "a"]


async def test_urgency_of_the_past_does_not_count_again():
    queue = Queue()
    queue.add("a")
    await clock.sleep(1)
    queue.add("a", urgency=Urgency.USER)
    queue.done((await queue.get())[0])
    queue.add("a", urgency=Urgency.RESYNC)
    queue.add("b")
    await clock.sleep(1)
    assert [key for _, key in await taken(queue)] == ["b", "a"]


async def test_of_equally_urgent_keys_the_first_come_is_the_first_served():
    queue = Queue()
    for key in "dacb":
        queue.add(key)
        await clock.sleep(0.001)
    assert "".join(key for _, key in await taken(queue)) == "dacb"


async def test_a_key_added_during_its_pass_gets_another_one_after_it():
    queue = Queue()
    queue.add("a")
    key, _ = await queue.get()
    queue.add("a")
    await clock.sleep(5)
    assert (queue.depth, queue.working, len(queue)) == (0, 1, 1)
    queue.done(key)
    assert await taken(queue) == [(0, "a")]


async def test_a_key_not_added_during_its_pass_is_gone_after_it():
    queue = Queue()
    queue.add("a")
    queue.done((await queue.get())[0])
    assert (len(queue), queue.depth, queue.working) == (0, 0, 0)
    assert await taken(queue) == []


async def test_get_says_how_long_a_key_was_due():
    queue = Queue()
    queue.add("a", after_s=3)
    await clock.sleep(8)
    _, waited_s = await queue.get()
    assert waited_s == pytest.approx(5)


async def test_failures_of_a_key_are_retried_later_each_time_up_to_a_limit():
    queue = Queue()
    waits = [queue.retry("a") for _ in range(40)]
    assert waits[:4] == [FIRST_RETRY_S * 2**n for n in range(4)]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_RETRY_S


async def test_one_keys_failures_do_not_slow_another_down():
    queue = Queue()
    for _ in range(10):
        queue.retry("a")
    assert queue.retry("b") == FIRST_RETRY_S


async def test_after_a_good_pass_the_next_failure_is_the_first():
    queue = Queue()
    queue.retry("a")
    queue.retry("a")
    queue.forget("a")
    assert queue.retry("a") == FIRST_RETRY_S


async def test_an_event_goes_before_the_retry_that_waits():
    queue = Queue()
    for _ in range(10):
        queue.retry("a")
    queue.add("a")
    assert (await taken(queue))[0] == (WINDOW_S, "a")


async def test_a_worker_cancelled_at_the_moment_it_was_chosen_passes_the_key_on():
    queue = Queue(window_s=0)
    first = asyncio.create_task(queue.get())
    second = asyncio.create_task(queue.get())
    await clock.sleep(1)
    queue.add("a")
    queue._promote()  # the timer's work, so that the cancellation comes between choice and wake-up
    first.cancel()
    async with asyncio.timeout(1):
        assert (await second)[0] == "a"


async def test_a_ready_key_is_not_lost_with_the_worker_that_never_took_it():
    queue = Queue(window_s=0)
    only = asyncio.create_task(queue.get())
    await clock.sleep(1)
    queue.add("a")
    queue._promote()
    only.cancel()
    await asyncio.gather(only, return_exceptions=True)
    async with asyncio.timeout(1):
        assert (await queue.get())[0] == "a"


# -- rest


async def test_what_comes_for_a_key_that_rests_is_one_pass_when_its_rest_is_over():
    queue = Queue()
    queue.rest("a", 5)

    async def nag():
        for _ in range(40):
            queue.add("a")
            await clock.sleep(0.1)

    nagging = asyncio.create_task(nag())
    assert await taken(queue) == [(5, "a")]
    await nagging


async def test_its_user_wakes_a_key_that_rests():
    queue = Queue()
    queue.rest("a", 5)
    queue.add("a")
    queue.add("a", urgency=Urgency.USER)
    assert await taken(queue) == [(WINDOW_S, "a")]


async def test_what_came_during_a_pass_waits_for_the_rest_after_it():
    queue = Queue()
    queue.add("a")
    key, _ = await queue.get()
    queue.add("a")
    queue.rest(key, 5)
    queue.done(key)
    assert await taken(queue) == [(5, "a")]


async def test_a_rest_brings_nothing_forward_and_wakes_nobody():
    queue = Queue()
    queue.rest("a", 5)
    queue.add("a", after_s=8)
    queue.rest("b", 5)
    assert await taken(queue) == [(8, "a")]


async def test_one_key_rests_and_the_others_do_not():
    queue = Queue()
    queue.rest("a", 5)
    queue.add("a")
    queue.add("b")
    assert await taken(queue) == [(WINDOW_S, "b"), (5, "a")]


async def test_a_rest_ends_with_the_next_pass_that_asks_for_none():
    queue = Queue()
    queue.rest("a", 5)
    queue.rest("a", 0)
    queue.add("a")
    assert await taken(queue) == [(WINDOW_S, "a")]


# -- properties


@dataclass(frozen=True)
class Add:
    after_gap_s: float
    key: str
    after_s: float
    urgency: Urgency


@dataclass
class Log:
    """What happened: every wish with its due time, every pass with its begin and end."""

    added: list[tuple[float, str, float, Urgency]] = field(default_factory=list)
    passes: list[tuple[float, float, str]] = field(default_factory=list)
    # In true order: "add", when it is due, the key, its urgency; or "start", when, the key, -.
    order: list[tuple[str, float, str, Urgency]] = field(default_factory=list)


tenths = st.integers(0, 30).map(lambda n: n / 10)
adds = st.builds(Add, tenths, st.sampled_from("abcde"), tenths, st.sampled_from(Urgency))


async def play(script: list[Add], workers: int, lasts_s: list[float]) -> Log:
    """Add as the script says while `workers` work; passes last as long as `lasts_s` says."""
    queue: Queue[str] = Queue()
    log, count = Log(), 0

    async def work() -> None:
        nonlocal count
        while True:
            key, _ = await queue.get()
            began, count = clock.ticks(), count + 1
            log.order.append(("start", began, key, Urgency.USER))
            await clock.sleep(lasts_s[count % len(lasts_s)])
            log.passes.append((began, clock.ticks(), key))
            queue.done(key)

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    for add in script:
        await clock.sleep(add.after_gap_s)
        queue.add(add.key, after_s=add.after_s, urgency=add.urgency)
        due = clock.ticks() + max(add.after_s, WINDOW_S)
        log.added.append((clock.ticks(), add.key, due, add.urgency))
        log.order.append(("add", due, add.key, add.urgency))
    await clock.sleep(1000)
    for task in tasks:
        task.cancel()
    assert (len(queue), queue.depth, queue.working) == (0, 0, 0)
    return log


scripts = given(st.lists(adds, max_size=25), st.integers(1, 6), st.lists(tenths, min_size=1))


@scripts
def test_no_key_is_with_two_workers_at_once(script, workers, lasts_s):
    log = run(play(script, workers, lasts_s))
    for key in "abcde":
        times = sorted((began, end) for began, end, k in log.passes if k == key)
        assert all(end <= begin + SOON for (_, end), (begin, _) in pairwise(times))


@scripts
def test_every_wish_is_followed_by_a_pass_and_no_pass_comes_before_a_wish_is_due(
    script, workers, lasts_s
):
    open_wishes: dict[str, list[float]] = {}
    for what, when, key, _ in run(play(script, workers, lasts_s)).order:
        if what == "add":
            open_wishes.setdefault(key, []).append(when)
        else:
            wishes = open_wishes.pop(key)  # none open: a pass that nobody asked for
            assert min(wishes) <= when + SOON
    assert not open_wishes


@scripts
def test_with_a_free_worker_for_every_key_no_pass_is_late(script, workers, lasts_s):
    log = run(play(script, 5, lasts_s))
    for added, key, due, _ in log.added:
        mine = [(began, end) for began, end, k in log.passes if k == key]
        under_way_until = max((end for began, end in mine if began < added), default=due)
        first = min(began for began, _ in mine if began >= added - SOON)
        assert first <= max(due, under_way_until) + SOON


@scripts
def test_of_two_keys_that_wait_the_more_urgent_is_taken(script, workers, lasts_s):
    wishes: dict[str, list[tuple[float, Urgency]]] = {}
    for what, when, key, urgency in run(play(script, 1, lasts_s)).order:
        if what == "add":
            wishes.setdefault(key, []).append((when, urgency))
            continue
        # Those that were due in this very moment may or may not have been seen.
        waiting = {k: found for k, found in wishes.items() if min(found)[0] < when - SOON}
        if key in waiting:
            best = min(u for found in waiting.values() for _, u in found)
            assert min(u for _, u in waiting[key]) == best
        del wishes[key]
