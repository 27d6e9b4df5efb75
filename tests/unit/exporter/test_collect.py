"""Collectors run on their own, keep what they had, and never show what is old."""

import asyncio
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from fakes.loop import VirtualLoop
from shoal.exporter.catalogue import Collector
from shoal.exporter.collect import LONGEST_REST_S, Collecting, Pace
from shoal.exporter.health import Health
from shoal.exporter.snapshot import Absent
from shoal.runtime import clock
from shoal.slurmapi.errors import BadTokenError, DatabaseDownError, TimedOutError, UnreachableError

LOOP = VirtualLoop


@dataclass
class Scripted:
    """A collector that does in each run what it is told: wait so long, then succeed or fail."""

    name: Collector = Collector.NODES
    runs: list[tuple[float, Exception | Absent | None]] = field(default_factory=list)
    begun: int = 0
    told: list[int] = field(default_factory=list)
    closed: bool = False

    async def gather(self):
        number = self.begun
        self.begun += 1
        wait_s, error = self.runs[number] if number < len(self.runs) else (0.0, None)
        await clock.sleep(wait_s)
        if isinstance(error, Absent):
            return error
        if error:
            raise error
        return number

    def tell(self, seen, _now, /):
        self.told.append(seen)
        yield f"{self.name.value} {seen}\n"

    async def close(self):
        self.closed = True


def collecting(*collectors, **pace):
    health = Health.of(one.name for one in collectors)
    return Collecting(collectors, health, Pace(**{"interval_s": 30.0, **pace}))


async def running(what, seconds):
    task = asyncio.create_task(what.run())
    await clock.sleep(seconds)
    task.cancel()
    await asyncio.wait([task])


def course(what, name=Collector.NODES):
    return what.health.courses[name]


async def test_each_collector_runs_once_an_interval():
    one = Scripted()
    await running(collecting(one), 95)
    assert one.told == [0, 1, 2, 3]


async def test_a_slow_collector_holds_up_no_other():
    slow = Scripted(Collector.JOBS, [(1000.0, None)])
    quick = Scripted()
    what = collecting(slow, quick)
    await running(what, 95)
    assert (quick.told, slow.told) == ([0, 1, 2, 3], [])
    assert course(what, Collector.JOBS).skipped == 3
    assert what.page.plain() == b"nodes 3\n"


async def test_a_collector_never_overlaps_itself_unless_it_may():
    runs = [(70.0, None)] * 4
    alone, two = Scripted(runs=list(runs)), Scripted(runs=list(runs))
    first, second = collecting(alone), collecting(two, inflight=2)
    await running(first, 61)
    await running(second, 61)
    assert (alone.begun, two.begun) == (1, 2)
    assert (course(first).skipped, course(second).skipped) == (2, 1)


async def test_a_run_that_fails_changes_nothing_that_is_shown_and_says_why():
    bad = Scripted(runs=[(0, None), (0, BadTokenError("GET /nodes/", "no"))])
    what = collecting(bad)
    await running(what, 31)
    assert what.page.plain() == b"nodes 0\n"
    assert (course(what).errors, course(what).failing) == (1, "token")
    assert (what.health.attempts, what.health.failures) == (2, 1)


async def test_a_collector_that_works_again_says_so():
    bad = Scripted(runs=[(0, DatabaseDownError("GET /slurmdb/jobs/", "no")), (0, None)])
    what = collecting(bad)
    await running(what, 31)
    assert (course(what).failing, course(what).errors) == ("", 1)
    assert course(what).succeeded_at > 0


async def test_a_bug_in_one_collector_stops_no_other(capsys):
    broken = Scripted(Collector.JOBS, [(0, KeyError("oops"))] * 9)
    what = collecting(broken, Scripted())
    await running(what, 61)
    assert what.page.plain() == b"nodes 2\n"
    assert course(what, Collector.JOBS).failing == "program"


async def test_a_run_that_hangs_is_given_up():
    hung = Scripted(runs=[(1e6, None)])
    what = collecting(hung, longest_s=100.0)
    await running(what, 100 + LONGEST_REST_S + 30)
    assert (course(what).errors, hung.told) == (1, [1])


async def test_a_run_that_takes_long_is_followed_by_a_rest_twice_as_long():
    # From 0 to 20 and rests until 60; from 60 on each takes no time.
    slow = Scripted(runs=[(20.0, None)])
    what = collecting(slow)
    await running(what, 95)
    assert slow.begun == 3
    assert course(what).skipped == 1


async def test_a_slurmrestd_that_does_not_answer_in_time_is_asked_less_often():
    late = TimedOutError("GET /jobs/state/", "no")
    hung = Scripted(runs=[(15.0, late)] * 99)
    await running(collecting(hung, interval_s=20.0), 3600)
    assert hung.begun == 3600 / 60


async def test_what_comes_after_something_newer_is_dropped():
    late = Scripted(runs=[(45.0, None), (0.0, None)])
    what = collecting(late, inflight=2)
    await running(what, 46)
    assert late.told == [1]
    assert (course(what).stale, what.page.plain()) == (1, b"nodes 1\n")


async def test_freshness_is_when_it_was_asked_for_not_when_it_came():
    slow = Scripted(runs=[(20.0, None)])
    what = collecting(slow)
    began = clock.now().timestamp()
    await running(what, 25)
    assert course(what).succeeded_at == pytest.approx(began, abs=5)


NOTHING = Absent("there is none")


async def test_what_a_cluster_does_not_have_is_neither_shown_nor_failing():
    gone = Scripted(Collector.ACCOUNTING, [(0, None), (0, NOTHING)])
    what = collecting(gone, Scripted())
    await running(what, 31)
    assert what.page.plain() == b"nodes 1\n"
    found = course(what, Collector.ACCOUNTING)
    assert (found.absent, found.failing, found.errors) == (True, "", 0)


async def test_what_a_cluster_does_not_have_is_said_once():
    with capture_logs() as logs:
        await running(collecting(Scripted(runs=[(0, NOTHING)] * 9)), 95)
    assert [line["event"] for line in logs] == ["nothing to collect"]


async def test_what_was_absent_is_shown_once_it_is_there():
    what = collecting(Scripted(runs=[(0, NOTHING), (0, None)]))
    await running(what, 31)
    assert what.page.plain() == b"nodes 1\n"
    assert not course(what).absent
    assert course(what).succeeded_at > 0


async def test_what_was_absent_and_then_fails_is_failing():
    gone = UnreachableError("GET /slurmdb/jobs/", "no")
    what = collecting(Scripted(runs=[(0, NOTHING), (0, gone)]))
    await running(what, 31)
    assert (course(what).absent, course(what).failing) == (False, "slurmrestd")


async def test_all_that_is_open_is_closed():
    one = Scripted()
    await collecting(one).close()
    assert one.closed
