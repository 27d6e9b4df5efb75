"""The process that is measured: our client of slurmrestd, doing one thing and telling what it cost.

`python -m bench.measured.slurm URL PART [NUMBER...]`, with the key for tokens in BENCH_KEY as hex.
"""

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from bench.measured import usage
from shoal.slurmapi.client import Access, Client
from shoal.slurmapi.jobs import JobDescription
from shoal.slurmapi.nodes import NodeList
from shoal.slurmapi.reads import NodeReads
from shoal.slurmapi.signatures import Concealed, Hs256
from shoal.slurmapi.sources import JobSource, ListedJobs, RecordedJobs, SingleJobs
from shoal.slurmapi.tokens import Claims, Signed
from shoal.slurmapi.transport import LIST, QUICK, Http, Message

Told = dict[str, Any]
CLOUD = "c-"
LINES = 4  # calls under way at a time


SLURM_USER = Claims("slurm", "bench", timedelta(hours=2))


def tokens(claims: Claims = SLURM_USER) -> Signed:
    """Return the source of tokens that our processes use."""
    signer = Hs256(Concealed(bytes.fromhex(os.environ["BENCH_KEY"])), "BENCH_KEY")
    return Signed(signer, claims, lambda: datetime.now(UTC))


async def costed(call: Callable[[], Awaitable[Any]]) -> Told:
    """Do it, and tell what it took; `size` is how many things came of it."""
    gc.collect()
    memory, cpu_s, wall = usage.memory_bytes(), usage.cpu_s(), time.monotonic()
    came = await call()
    return {
        "wall_s": time.monotonic() - wall,
        "cpu_s": usage.cpu_s() - cpu_s,
        "bytes": usage.memory_bytes() - memory,
        "size": came,
    }


async def nodes(client: Client) -> Told:
    """List all nodes."""

    async def listed() -> int:
        return len((await client.nodes.all()).nodes)

    return {**await costed(listed), "peak_bytes": usage.memory_bytes("VmHWM")}


async def decode(client: Client, url: str) -> Told:
    """Decode the list of all nodes, in a process that has done nothing else before."""
    version = (await client.known()).version
    message = Message("GET", f"/slurm/v0.0.{version}/nodes/", {}, await tokens().header())
    async with Http(url) as http:
        body = (await http.exchange("GET", message, LIST)).body
    words = (sys.executable, "-m", "bench.measured.slurm", "-", "decoded")
    child = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    told: Told = json.loads((await child.communicate(body))[0])
    return told


def decoded(body: bytes) -> Told:
    """Decode, once for the memory and then for the time."""
    decoder = msgspec.json.Decoder(NodeList)
    gc.collect()
    before, took = usage.memory_bytes(), []
    kept = decoder.decode(body)
    grown = usage.memory_bytes() - before
    for _ in range(9):
        began = usage.cpu_s()
        kept = decoder.decode(body)
        took.append(usage.cpu_s() - began)
    assert not isinstance(kept.nodes, msgspec.UnsetType)
    return {"cpu_s": statistics.median(took), "bytes": grown, "body_bytes": len(body)}


async def probe(client: Client, times: int) -> Told:
    """Ask whether anything changed, when nothing did."""
    last_update = (await client.nodes.all()).last_update
    assert last_update is not None
    while (found := await client.nodes.since(last_update)) is not None:
        assert found.last_update is not None
        last_update = found.last_update
        await asyncio.sleep(1.1)
    took = []
    cpu_s = usage.cpu_s()
    for _ in range(times):
        began = time.monotonic()
        assert await client.nodes.since(last_update) is None, "a node changed meanwhile"
        took.append(time.monotonic() - began)
    return {"wall_s": statistics.median(took), "cpu_s": (usage.cpu_s() - cpu_s) / times}


async def drain(client: Client, count: int) -> Told:
    """Drain nodes by one hostlist, and let them serve again."""
    wanted = [f"{CLOUD}[0-{count - 1}]"]
    began = time.monotonic()
    await client.nodes.drain(wanted, "slurm-operator: bench")
    drained = time.monotonic()
    await client.nodes.undrain(wanted)
    return {"drain_s": drained - began, "undrain_s": time.monotonic() - drained}


async def steady(client: Client, seconds: int) -> Told:
    """Keep the node list for a while as a controller does, looking every 5 s."""
    reads = NodeReads(client)
    lists, listed_at = 0, (await reads.nodes()).listed_at
    await asyncio.sleep(2)
    cpu_s, end = usage.cpu_s(), time.monotonic() + seconds
    while time.monotonic() < end:
        seen = await reads.nodes()
        lists, listed_at = lists + (seen.listed_at != listed_at), seen.listed_at
        await asyncio.sleep(1)
    used = usage.cpu_s() - cpu_s
    await reads.close()
    return {"cpu_s": used * 60 / seconds, "lists": lists, "bytes": usage.memory_bytes()}


async def allocate(url: str, count: int) -> Told:
    """Let jobs run: allocations without a process, one processor each."""
    alice = Claims("alice", "bench", timedelta(hours=2))
    headers = {**await tokens(alice).header(), "Content-Type": "application/json"}
    job = {"name": "bench", "tasks": 1, "current_working_directory": "/", "environment": ["A=B"]}
    body = msgspec.json.encode({"job": job})

    async def one(_: int) -> None:
        message = Message("POST", "/slurm/v0.0.42/job/allocate", {}, headers, body)
        answer = await http.exchange("allocate", message, QUICK)
        assert answer.code == 200, answer

    async with Http(url) as http:
        return await in_turns(one, count)


async def fill(client: Client, count: int) -> Told:
    """Submit jobs that wait."""
    job = JobDescription("bench", "#!/bin/sh\n", more={"hold": True})

    async def one(_: int) -> None:
        await client.jobs.submit(job, user="alice")

    return await in_turns(one, count)


async def in_turns(one: Callable[[int], Awaitable[None]], count: int) -> Told:
    """Do it so often, a few at once."""
    todo = iter(range(count))

    async def work() -> None:
        for number in todo:
            await one(number)

    began = time.monotonic()
    await asyncio.gather(*(work() for _ in range(LINES)))
    return {"wall_s": time.monotonic() - began, "size": count}


async def states(client: Client) -> Told:
    """Read all job states."""

    async def read() -> int:
        return sum("RUNNING" in job.state for job in await client.jobs.states())

    return await costed(read)


async def busy(client: Client) -> Told:
    """Read the nodes, and which of them are in use."""

    async def read() -> int:
        return sum(node.alloc_cpus > 0 for node in (await client.nodes.all()).nodes)

    return await costed(read)


async def held(source: JobSource) -> Told:
    """Ask a source of jobs."""

    async def read() -> int:
        return len((await source.holders()).jobs)

    return await costed(read)


async def measured(url: str, part: str, numbers: list[int]) -> Told:
    """Run one part."""
    async with Client(Access(url, tokens())) as client:
        await client.known()
        parts: dict[str, Callable[[], Awaitable[Told]]] = {
            "nodes": lambda: nodes(client),
            "decode": lambda: decode(client, url),
            "probe": lambda: probe(client, *numbers),
            "drain": lambda: drain(client, *numbers),
            "steady": lambda: steady(client, *numbers),
            "allocate": lambda: allocate(url, *numbers),
            "fill": lambda: fill(client, *numbers),
            "states": lambda: states(client),
            "busy": lambda: busy(client),
            "list": lambda: held(ListedJobs(client)),
            "singles": lambda: held(SingleJobs(client)),
            "recorded": lambda: held(RecordedJobs(client, "lab")),
        }
        return await parts[part]()


def main() -> None:
    """Run one part and tell, or tell why not."""
    url, part, *numbers = sys.argv[1:]
    if part == "decoded":
        print(json.dumps(decoded(sys.stdin.buffer.read())))
        return
    try:
        told = asyncio.run(measured(url, part, [int(word) for word in numbers]))
    except Exception as error:  # noqa: BLE001 - whatever it was, it is the answer
        told = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
