"""What changes in Slurm is noticed by few questions, and wakes only those whom it concerns."""

import asyncio
from dataclasses import dataclass, field

import pytest

from fakes.loop import VirtualLoop
from shoal.controllers.pulse import LARGE_S, SMALL, SMALL_S, Pulse, period
from shoal.runtime import clock

LOOP = VirtualLoop


@dataclass
class Slurm:
    """A Slurm that answers as told."""

    seen: dict | None = field(default_factory=dict)
    takes_s: float = 0.0
    asked: int = 0

    async def nodes(self, newer_than: float) -> dict | None:
        assert newer_than <= clock.ticks()
        self.asked += 1
        await clock.sleep(self.takes_s)
        return self.seen


class Woken:
    """A queue that counts."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def add(self, key: str) -> None:
        self.keys.append(key)


async def beating(slurms: dict, *then, for_s: float = 60.0) -> list[str]:
    """Let it beat, doing `then` after each span of time; return who was woken."""
    queue = Woken()
    pulse = Pulse(list(slurms.items()), lambda where: [f"nodesets of {where}"])  # type: ignore[arg-type]
    task = asyncio.create_task(pulse.run(queue))  # type: ignore[arg-type]
    await clock.sleep(for_s)
    for step in then:
        step()
        await clock.sleep(for_s)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return queue.keys


async def test_nobody_is_woken_while_nothing_changes():
    slurm = Slurm()
    assert await beating({"a": slurm}) == ["nodesets of a"]
    assert slurm.asked == pytest.approx(60 / SMALL_S, abs=2)


async def test_a_change_wakes_the_nodesets_of_that_cluster_alone():
    one, other = Slurm(), Slurm()
    woken = await beating({"a": one, "b": other}, lambda: setattr(one, "seen", {"w": 1}))
    assert sorted(woken) == ["nodesets of a", "nodesets of a", "nodesets of b"]


async def test_silence_and_its_end_are_changes():
    slurm = Slurm()
    woken = await beating(
        {"a": slurm}, lambda: setattr(slurm, "seen", None), lambda: setattr(slurm, "seen", {})
    )
    assert woken == ["nodesets of a"] * 3


async def test_a_slow_cluster_delays_no_other_and_is_not_asked_twice_at_once():
    slow, quick = Slurm(takes_s=50), Slurm()
    await beating({"slow": slow, "quick": quick})
    assert slow.asked == 2
    assert quick.asked > 10


async def test_a_long_list_is_asked_for_less_often():
    assert period(Slurm({str(n): n for n in range(SMALL)})) == SMALL_S  # type: ignore[arg-type]
    assert period(Slurm({str(n): n for n in range(SMALL + 1)})) == LARGE_S  # type: ignore[arg-type]
    assert period(Slurm(None)) == SMALL_S  # type: ignore[arg-type]


async def test_questions_under_way_end_with_it():
    hung = Slurm(takes_s=float(10**6))
    await beating({"a": hung}, for_s=5)
    # Its last question is cancelled in the next moment.
    await clock.sleep(0)
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []
