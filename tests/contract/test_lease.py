"""Two real processes and one Lease on the real API server: never two that write."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref

from . import candidate
from .line import Asked, Line, line_to
from .real import client_in_namespace, eventually

CALM, BUSY = 1, 10
JOBS = 4


@dataclass
class Candidate:
    """A process with a line of its own, so that everything it asks for is known."""

    name: str
    line: Line
    process: asyncio.subprocess.Process

    @property
    def jobs(self) -> list[Asked]:
        """What it wrote, but for the Lease."""
        return [asked for asked in self.line.writes if "/configmaps/" in asked.path]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)


@dataclass
class Arena:
    """A namespace with jobs, and those who fight for them."""

    access: Access
    client: Client
    namespace: str
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def enter(self, name: str, burst: int = CALM) -> Candidate:
        line = await self.stack.enter_async_context(line_to(self.access))
        return await self.stack.enter_async_context(running(name, line, self.namespace, burst))

    async def holder(self) -> str:
        lease: Object = await self.client.get(Ref(kinds.LEASE, self.namespace, "jobs"), dict)
        return lease["spec"]["holderIdentity"]


@asynccontextmanager
async def running(name: str, line: Line, namespace: str, burst: int) -> AsyncIterator[Candidate]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, Path(candidate.__file__), line.access.server, namespace, name, str(burst),
        stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Candidate(name, line, process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
async def arena(real: Access) -> AsyncIterator[Arena]:
    async with client_in_namespace(real) as (client, namespace):
        for number in range(JOBS):
            meta = {"name": f"job-{number}", "namespace": namespace}
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
            await client.create(kinds.CONFIG_MAP, obj, dict)
        made = Arena(real, client, namespace)
        async with made.stack:
            yield made


async def leads(one: Candidate, than: int = 0) -> None:
    async def written() -> int:
        return len(one.jobs)

    await eventually(written, lambda count: count > than + 20)


async def frozen_and_woken(arena: Arena, leader: Candidate, standby: Candidate) -> list[Asked]:
    """Freeze the leader until the other leads, wake it, and return what it wrote after that."""
    await leads(leader)
    assert standby.jobs == []
    leader.signal(signal.SIGSTOP)
    await leads(standby)
    assert await arena.holder() == standby.name
    before = len(leader.line.writes)
    leader.signal(signal.SIGCONT)
    async with asyncio.timeout(30):
        assert await leader.process.wait() == candidate.DEPOSED
    return leader.line.writes[before:]


async def test_a_leader_that_was_frozen_beyond_its_lease_writes_nothing_when_it_wakes(arena):
    one = await arena.enter("one")
    await leads(one)
    two = await arena.enter("two")
    assert await frozen_and_woken(arena, one, two) == []
    first, last = one.jobs[-1].at, two.jobs[0].at
    assert first < last, "the two wrote at the same time"
    # The other goes on, and everything there is from it.
    await leads(two, len(two.jobs))
    for number in range(JOBS):
        job: Object = await arena.client.get(
            Ref(kinds.CONFIG_MAP, arena.namespace, f"job-{number}"), dict
        )
        assert job["data"]["by"] == "two"


@pytest.mark.long
async def test_however_often_a_leader_is_frozen_it_writes_nothing_when_it_wakes(arena):
    leader = await arena.enter("c0", BUSY)
    await leads(leader)
    late = []
    for number in range(1, 20):
        standby = await arena.enter(f"c{number}", BUSY)
        late += await frozen_and_woken(arena, leader, standby)
        leader = standby
    # Between the last look at the clock and the kernel's hands there are some microseconds. To be
    # frozen in there, among a thousand writes a second, is a matter of luck; twice is a mistake.
    assert len(late) <= 1
