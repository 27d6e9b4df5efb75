"""What runs beside a controller's passes, and what a pass asks for at its end."""

import asyncio
from itertools import pairwise

import pytest

from fakes.loop import VirtualLoop
from shoal.kubeapi.errors import UnreachableError, UnreadableError
from shoal.runtime import clock
from shoal.runtime.controller import AWAY_S, Controller, Done
from shoal.runtime.queue import LONGEST_RETRY_S

LOOP = VirtualLoop
KEY = ("ns", "a")


class Passes:
    """A reconciler that remembers when its passes began."""

    def __init__(self, *ends: Done) -> None:
        self.ends = list(ends)
        self.began: list[float] = []

    async def reconcile(self, _key) -> Done:
        self.began.append(round(clock.ticks(), 1))
        return self.ends.pop(0) if self.ends else Done()


async def running(controller: Controller, for_s: float) -> None:
    task = asyncio.create_task(controller.run())
    await asyncio.wait([task], timeout=for_s)
    if task.done():
        await task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_source_wakes_keys_that_no_store_tells_of():
    passes = Passes()

    async def every_minute(queue):
        while True:
            queue.add(KEY)
            await clock.sleep(60)

    start = clock.ticks()
    await running(Controller("c", (), passes.reconcile, sources=(every_minute,)), 150)
    assert [began - start for began in passes.began] == pytest.approx([0.1, 60.1, 120.1])


async def test_a_source_ends_with_its_controller():
    ended = asyncio.Event()

    async def source(_queue):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await running(Controller("c", (), Passes().reconcile, sources=(source,)), 5)
    assert ended.is_set()


async def test_a_source_that_breaks_ends_the_controller_and_is_not_missed_in_silence():
    async def broken(_queue):
        raise RuntimeError("no more news")

    with pytest.raises(ExceptionGroup) as caught:
        await running(Controller("c", (), Passes().reconcile, sources=(broken,)), 5)
    assert "no more news" in str(caught.value.exceptions)


async def test_after_a_pass_that_asks_for_rest_events_wait_and_become_one_pass():
    passes = Passes(Done(rest_s=5.0))

    async def often(queue):
        for _ in range(20):
            queue.add(KEY)
            await clock.sleep(0.2)

    start = clock.ticks()
    await running(Controller("c", (), passes.reconcile, sources=(often,)), 30)
    assert [began - start for began in passes.began] == pytest.approx([0.1, 5.1])


@pytest.mark.parametrize(
    ("error", "longest_s"), [(UnreachableError, AWAY_S), (UnreadableError, LONGEST_RETRY_S)]
)
async def test_what_failed_as_the_api_server_was_away_is_tried_soon_after_it_is_back(
    error, longest_s
):
    began: list[float] = []

    async def reconcile(_key) -> Done:
        began.append(clock.ticks())
        raise error("no luck")

    controller = Controller("c", (), reconcile)
    controller.queue.add(KEY)
    await running(controller, 1000)
    waits = [later - sooner for sooner, later in pairwise(began)]
    assert max(waits) == pytest.approx(longest_s)
