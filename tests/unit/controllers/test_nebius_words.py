"""What is told of clusters of slurm.nebius.ai."""

import asyncio

import msgspec

from shoal.controllers.nebius_words import Board
from shoal.controllers.passes import Asked
from shoal.dialects.nebius.types import SlurmCluster
from shoal.kube.conditions import Condition
from shoal.runtime.apply import Rules

ONE = msgspec.convert({"metadata": {"name": "one", "namespace": "ns"}}, SlurmCluster)
ASKED = Asked((), Rules())
GOOD = Condition("Ready", "True", "AsAsked")
BAD = Condition("Ready", "False", "Starting", "0 of 2 pods are ready")


class Queue:
    """Takes note of what is woken."""

    def __init__(self) -> None:
        self.woken = []

    def add(self, key) -> None:
        self.woken.append(key)


async def woken(board):
    queue = Queue()
    task = asyncio.create_task(board.run(queue))
    for _ in range(10):
        await asyncio.wait([task], timeout=0)
    task.cancel()
    return queue.woken


async def test_a_cluster_is_woken_for_what_is_new_of_its_workers_and_for_nothing_else():
    board = Board()
    for said in (GOOD, BAD, BAD, GOOD, GOOD):
        assert board.take(ONE, said, ASKED) is None  # nothing of it is told as a status
    assert board.said == {}
    assert await woken(board) == [("ns", "one")] * 2


async def test_why_workers_are_not_ready_is_kept_for_the_pass_that_tells_it():
    board = Board()
    board.take(ONE, BAD, ASKED)
    assert board.said == {("ns", "one"): BAD}
