"""The runtime, against a real API server: what a toy operator on it costs, and how quick it is.

`make bench BENCH=runtime` brings a control plane of its own up and measures everything, in about
ten minutes; BENCH_QUICK=1 takes small sizes and less than two. BENCH_PARTS=create,cache runs some
parts only, and BENCH_KUBECONFIG names an API server to use instead, whose namespaces `bench-*` are
emptied at the end. Every measured process is one of its own, so its CPU and memory are its own.
"""

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import Row, report
from bench.measured import pods
from bench.measured.bare import CONFIG_MAPS, PODS, Bare, all_of
from bench.measured.child import Told, floor, line, subject
from bench.measured.herd import PARTS as HERD_PARTS
from bench.measured.herd import Herd
from bench.measured.subject import SENT
from shoal.local.bar import progress
from shoal.local.down import down
from shoal.local.settings import Settings
from shoal.local.up import Wanted, up

HISTORY_S = 45.0  # the API server's watch cache holds what happened in 75 s
WRITES = ("create", "apply", "patch", "update", "delete", "evict")


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    repeats: int = 3
    pods: int = 1000
    herd: int = 10_000
    large_herd: int = 50_000
    keys: int = 1000
    edits: int = 1000
    steady_s: float = 60.0
    lease_s: float = 15.0
    fail_overs: int = 2


QUICK = Sizes(1, 200, 1000, 2000, 100, 200, 6.0, 5.0, 1)


@dataclass
class Bench:
    """One run: the way to the API server, and what was found so far."""

    kubeconfig: Path
    sizes: Sizes
    bare: Bare
    spaces: list[str] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    async def space(self, name: str) -> str:
        """Make a namespace that no other run has, and return its name."""
        made = f"bench-{name}-{os.getpid()}"
        await self.bare.namespace(made)
        self.spaces.append(made)
        return made

    async def clean(self) -> None:
        """Delete what is left; a minute is all that the API server gives a request."""
        for space in self.spaces:
            for parts in (f"part={part}" for part in range(HERD_PARTS)):
                await self.bare.send("DELETE", emptied(PODS.format(space), parts))
            await self.bare.send("DELETE", emptied(PODS.format(space)))
            await self.bare.send("DELETE", emptied(CONFIG_MAPS.format(space)))

    def row(self, table: str, label: str, value: str, target: str = "") -> None:
        """Add a line for people."""
        self.tables.setdefault(table, []).append((label, value, target))

    def note(self, **figures: float) -> None:
        """Add figures for programs."""
        self.figures |= {name: round(value, 4) for name, value in figures.items()}


# -- the parts


async def create(bench: Bench) -> None:
    """Create pods: the bare client before and after ours, as a machine is never the same twice."""
    count, kubeconfig = bench.sizes.pods, bench.kubeconfig
    floors, ours, applied = list[Told](), list[Told](), list[Told]()
    for number in range(bench.sizes.repeats):
        floors.append(await floor(kubeconfig, await bench.space(f"floor-{number}-a"), count))
        ours.append(await create_ours(bench, await bench.space(f"ours-{number}")))
        floors.append(await floor(kubeconfig, await bench.space(f"floor-{number}-b"), count))
        applied.append(await create_ours(bench, await bench.space(f"apply-{number}"), "--apply"))
        floors.append(await floor(kubeconfig, await bench.space(f"floor-{number}-c"), count))
    ratio = to_neighbours(ours, floors[0::3], floors[1::3])
    ratio_applied = to_neighbours(applied, floors[1::3], floors[2::3])
    cpu, settled = median(ours, "cpu_s"), median(ours, "settled_cpu_s")
    bench.note(
        create_floor_wall_s=least(floors, "wall_s"),
        create_floor_cpu_s=median(floors, "cpu_s"),
        create_wall_s=least(ours, "wall_s"),
        create_wall_ratio=ratio,
        create_applied_wall_ratio=ratio_applied,
        create_cpu_s=cpu,
        create_settled_cpu_s=settled,
        create_requests=median(ours, "requests"),
        create_peak_bytes=median(ours, "peak_bytes"),
        create_stall_s=least(ours, "own"),
    )
    title = f"{count} pods created, {bench.sizes.repeats} rounds in turns"
    bench.row(title, "bare client, wall", walls(floors))
    bench.row(title, "bare client, CPU", f"{median(floors, 'cpu_s'):.2f} s")
    bench.row(title, "ours, wall", walls(ours))
    bench.row(title, "ours, by server-side apply, wall", walls(applied))
    bench.row(title, "wall, ours to bare (median)", f"{ratio:.2f}", "≤ 1.4")
    bench.row(title, "the same, by server-side apply", f"{ratio_applied:.2f}")
    bench.row(title, "ours, CPU until created", f"{cpu:.2f} s", "≤ 4 s")
    bench.row(title, "ours, CPU until settled", f"{settled:.2f} s")
    bench.row(title, "ours, API calls", f"{median(ours, 'requests'):.0f}")
    bench.row(title, "ours, peak memory", mib(median(ours, "peak_bytes")))
    stall = least(ours, "own")
    bench.row(title, "ours, longest stall, own CPU", f"{1000 * stall:.0f} ms", "≤ 60 ms")


async def create_ours(bench: Bench, space: str, *more: str) -> Told:
    """Let the toy operator create pods; the clock starts when the user asks."""
    words = ("--namespaces", space, "--lease-s=15", "--stalls", *more)
    async with subject(bench.kubeconfig, *words) as child:
        before = await child.until("leading")
        began = time.monotonic()
        wish = pods.flock(space, "flock", bench.sizes.pods)
        await bench.bare.post(CONFIG_MAPS.format(space), wish)
        wrote = await child.until("wrote")
        await asyncio.sleep(3)
        after = await child.look()
        return {
            "wall_s": wrote["wall"] - began,
            "cpu_s": wrote["cpu_s"] - before["cpu_s"],
            "settled_cpu_s": after["cpu_s"] - before["cpu_s"],
            "requests": sum(after["requests"].values()),
            "peak_bytes": after["peak_bytes"],
            "own": after["own_stall_s"],
        }


async def steady(bench: Bench) -> None:
    """Own many objects and do nothing: once driven by events alone, once looking every 10 s."""
    space, count = await bench.space("steady"), bench.sizes.pods
    await bench.bare.post(CONFIG_MAPS.format(space), pods.flock(space, "flock", count))
    title = f"steady state, {count} owned pods, a minute"
    words = ("--namespaces", space, "--lease-s=15")
    async with subject(bench.kubeconfig, *words) as child:
        await child.until("wrote")
    for label, more in (("", ()), ("_looking", ("--again-s=10",))):
        async with subject(bench.kubeconfig, *words, *more) as child:
            await child.until("leading")
            await asyncio.sleep(5)
            before = await child.look()
            await asyncio.sleep(bench.sizes.steady_s)
            after = await child.look()
        minute = 60 / (after["wall"] - before["wall"])
        writes = minute * (written(after) - written(before))
        cpu_s = minute * (after["cpu_s"] - before["cpu_s"])
        passes = minute * (after["passes"] - before["passes"])
        bench.note(**{f"steady{label}_writes": writes, f"steady{label}_cpu_s": cpu_s})
        how = "a pass over all every 10 s" if more else "events only"
        bench.row(title, f"{how}: passes", f"{passes:.0f}")
        bench.row(title, f"{how}: writes beside the Lease", f"{writes:.0f}", "" if more else "0")
        bench.row(title, f"{how}: CPU", f"{cpu_s:.2f} s", "" if more else "≤ 0.2 s")


async def idle(bench: Bench) -> None:
    """Run with ten watches and nothing to do."""
    words = ("--namespaces", await bench.space("idle"), "--more", "--lease-s=15")
    async with subject(bench.kubeconfig, *words) as child:
        await child.until("leading")
        await asyncio.sleep(5)
        told = await child.look()
    bench.note(idle_bytes=told["rss_bytes"])
    bench.row("idle operator, ten watches", "memory", mib(told["rss_bytes"]), "≤ 60 MB")


async def cache(bench: Bench) -> None:
    """Fill a cache, once small and once large, and see events come."""
    sizes, title = bench.sizes, "cache of pods of 9 KB"
    space = await bench.space("herd")
    herd = Herd(bench.bare, space, sizes.keys, sizes.herd // sizes.keys)
    await herd.grow(range(sizes.herd))
    small = [await sync(bench, space) for _ in range(sizes.repeats)]
    stalls = [await sync(bench, space, "--stalls") for _ in range(sizes.repeats)]
    cpu_s, rss, stall = median(small, "cpu_s"), median(small, "rss_bytes"), least(stalls, "own")
    bench.note(sync_cpu_s=cpu_s, sync_rss_bytes=rss, sync_stall_s=stall)
    bench.row(title, f"{sizes.herd} pods: initial sync, CPU", f"{cpu_s:.2f} s", "≤ 1.0 s")
    bench.row(title, "the same, wall", f"{median(small, 'wall_s'):.1f} s")
    bench.row(title, "memory then", mib(rss), "≤ 130 MB")
    bench.row(title, "longest stall, own CPU", f"{1000 * stall:.0f} ms", "≤ 60 ms")
    bench.row(title, "longest stall, wall", f"{1000 * least(stalls, 'stall'):.0f} ms")
    await backlog(bench, herd)
    await trickle(bench, herd)
    if sizes.large_herd > sizes.herd:
        await herd.grow(range(sizes.herd, sizes.large_herd))
        await large_cache(bench, space, cpu_s, rss)


async def large_cache(bench: Bench, space: str, small_cpu_s: float, small_rss: float) -> None:
    """Fill the large cache, and hold it against the small one."""
    sizes, title = bench.sizes, "cache of pods of 9 KB"
    large = [await sync(bench, space) for _ in range(sizes.repeats)]
    stall = (await sync(bench, space, "--stalls"))["own"]
    cpu_s, rss = median(large, "cpu_s"), median(large, "rss_bytes")
    grown = sizes.large_herd / sizes.herd
    cpu, memory = cpu_s / small_cpu_s / grown, rss / small_rss / grown
    bench.note(growth_cpu_ratio=cpu, growth_rss_ratio=memory)
    bench.note(large_sync_cpu_s=cpu_s, large_sync_rss_bytes=rss)
    label = f"{sizes.large_herd} pods"
    bench.row(title, f"{label}: initial sync, CPU", f"{cpu_s:.2f} s")
    bench.row(title, f"{label}: the same, wall", f"{median(large, 'wall_s'):.1f} s")
    bench.row(title, f"{label}: memory", mib(rss))
    bench.row(title, f"{label}: stall, own CPU", f"{1000 * stall:.0f} ms")
    bench.row(title, "CPU, to linear growth", f"{cpu:.2f}", "≤ 1")
    bench.row(title, "memory, to linear growth", f"{memory:.2f}", "≤ 1")


async def sync(bench: Bench, space: str, *more: str) -> Told:
    """Start on a herd, and see what the first list costs.

    Looking for stalls costs 1 % of a CPU, and the API server takes its time over a large herd: only
    a process that does not look is asked for its CPU.
    """
    async with subject(bench.kubeconfig, "--namespaces", space, *more) as child:
        before = await child.until("started")
        after = await child.until("synced")
        # The stall of handing ten thousand objects to the controller belongs to it.
        await asyncio.sleep(2)
        looked = await child.look()
    return {
        "cpu_s": after["cpu_s"] - before["cpu_s"],
        "wall_s": after["wall"] - before["wall"],
        "rss_bytes": looked["rss_bytes"],
        "own": looked["own_stall_s"],
        "stall": looked["stall_s"],
    }


async def backlog(bench: Bench, herd: Herd) -> None:
    """Let events pile up, once for the CPU they cost and once for the stalls."""
    rounds, size = 2, bench.sizes.herd
    plain = await piled_up(bench, herd, rounds)
    own_s = (await piled_up(bench, herd, rounds, "--stalls"))["own"]
    cpu_s = plain["cpu_s"] / plain["events"] * rounds * size
    bench.note(events_cpu_s=cpu_s, events_stall_s=own_s, events=plain["events"])
    title = f"{plain['events']} events that piled up, {herd.keys} keys"
    bench.row(title, f"CPU for {rounds * size}", f"{cpu_s:.2f} s", "≤ 1.2 s")
    bench.row(title, "the same, wall", f"{plain['wall_s']:.1f} s")
    bench.row(title, "passes", f"{plain['passes']}")
    bench.row(title, "longest stall, own CPU", f"{1000 * own_s:.0f} ms", "≤ 60 ms")
    if plain["listed"]:
        bench.row(title, "void", "the API server no longer had them, so they were listed")


async def piled_up(bench: Bench, herd: Herd, rounds: int, *more: str) -> Told:
    """Freeze the process while events pile up; then they come as fast as it takes them."""
    async with subject(bench.kubeconfig, "--namespaces", herd.space, *more) as child:
        await child.until("leading")
        await asyncio.sleep(3)
        before = await child.look()
        child.freeze()
        deadline = time.monotonic() + HISTORY_S
        shares = [await herd.stir(deadline - time.monotonic()) for _ in range(rounds)]
        child.thaw()
        thawed = time.monotonic()
        count = round(bench.sizes.herd * sum(shares))
        after = await child.seen("changes", before["changes"] + count)
        lists = (await child.look())["requests"]["list pods"]
    return {
        "events": count,
        "cpu_s": after["cpu_s"] - before["cpu_s"],
        "wall_s": after["wall"] - thawed,
        "passes": after["passes"] - before["passes"],
        "own": after["own_stall_s"],
        "listed": lists > before["requests"]["list pods"],
    }


async def bulk(bench: Bench) -> None:
    """Take events from a line that never waits, not from the API server."""
    rounds, size, took = 2, bench.sizes.herd, list[Told]()
    for _ in range(bench.sizes.repeats):
        with tempfile.TemporaryDirectory() as folder:
            way = Path(folder, "kubeconfig")
            async with line(way, size), subject(way, "--stalls") as child, Bare(way) as bare:
                await child.until("leading")
                await asyncio.sleep(3)
                before = await child.look()
                await bare.send("GET", "/go")
                after = await child.seen("changes", before["changes"] + rounds * size)
        cpu_s, wall_s = after["cpu_s"] - before["cpu_s"], after["wall"] - before["wall"]
        took.append({"cpu_s": cpu_s, "own": after["own_stall_s"], "wall_s": wall_s})
    bench.note(bulk_events_cpu_s=median(took, "cpu_s"), bulk_events_stall_s=least(took, "own"))
    title = f"{rounds * size} events from a line that never waits"
    bench.row(title, "CPU", f"{median(took, 'cpu_s'):.2f} s", "≤ 1.2 s")
    bench.row(title, "longest stall, own CPU", f"{1000 * least(took, 'own'):.0f} ms", "≤ 60 ms")


async def trickle(bench: Bench, herd: Herd) -> None:
    """Let the events of one key after the other come, each key's as a burst."""
    async with subject(bench.kubeconfig, "--namespaces", herd.space) as child:
        await child.until("leading")
        await asyncio.sleep(3)
        before = await child.look()
        await herd.stir_by_owner()
        after = await child.seen("changes", before["changes"] + bench.sizes.herd)
        await asyncio.sleep(1)
        passes = (await child.glance())["passes"] - before["passes"]
    each_s = (after["cpu_s"] - before["cpu_s"]) / bench.sizes.herd
    pace = bench.sizes.herd / (after["wall"] - before["wall"])
    bench.note(coalesced_passes=passes, event_cpu_s=each_s)
    title = f"{herd.keys} keys, {herd.each} events each in a burst"
    bench.row(title, "passes", str(passes), f"≤ {round(1.5 * herd.keys)}")
    bench.row(title, f"CPU of one event, {pace:.0f} a second", f"{1000 * each_s:.2f} ms")


async def delay(bench: Bench) -> None:
    """Edit objects at a steady pace; a pass reads from them when they were sent."""
    space, count = await bench.space("delay"), bench.sizes.edits
    where = CONFIG_MAPS.format(space)
    names = [f"flock-{i}" for i in range(min(count, 200))]
    await all_of(bench.bare.post(where, pods.flock(space, name)) for name in names)
    async with subject(bench.kubeconfig, "--namespaces", space) as child:
        await child.until("leading")
        await asyncio.sleep(2)
        await child.look()
        edits = []
        for number in range(count):
            path = f"{where}/{names[number % len(names)]}"
            edits.append(asyncio.create_task(edit(bench.bare, path)))
            await asyncio.sleep(0.02)
        await asyncio.gather(*edits)
        await asyncio.sleep(2)
        delays = sorted((await child.look())["delays"])
    p50, p99 = delays[len(delays) // 2], delays[round(0.99 * (len(delays) - 1))]
    bench.note(delay_p50_s=p50, delay_p99_s=p99, delay_samples=len(delays))
    title = f"edit sent → pass begins, {len(delays)} edits, 50 a second"
    bench.row(title, "median", f"{1000 * p50:.0f} ms")
    bench.row(title, "p99", f"{1000 * p99:.0f} ms", "≤ 200 ms")
    bench.row(title, "longest", f"{1000 * delays[-1]:.0f} ms")


async def fail_over(bench: Bench) -> None:
    """Kill the leader, and wait for the standby."""
    lease_s, took = bench.sizes.lease_s, []
    words = ("--namespaces", await bench.space("leader"), f"--lease-s={lease_s:g}")
    for _ in range(bench.sizes.fail_overs):
        async with (
            subject(bench.kubeconfig, *words) as first,
            subject(bench.kubeconfig, *words) as second,
        ):
            await first.until("synced")
            await second.until("synced")
            leader, standby = (first, second)
            done = await first_of(first.until("leading"), second.until("leading"))
            if done == 1:
                leader, standby = second, first
            await asyncio.sleep(lease_s / 3)
            began = time.monotonic()
            leader.kill()
            took.append((await standby.until("leading"))["wall"] - began)
    bench.note(fail_over_s=max(took), fail_over_lease_s=lease_s)
    title = f"fail-over, Lease of {lease_s:g} s"
    bench.row(title, "leader killed → standby leads", f"{max(took):.1f} s", f"≤ {lease_s + 2:g} s")


PARTS: dict[str, Callable[[Bench], Awaitable[None]]] = {
    "idle": idle,
    "create": create,
    "steady": steady,
    "delay": delay,
    "bulk": bulk,
    "cache": cache,
    "fail_over": fail_over,
}


# -- the load


def emptied(path: str, labels: str = "") -> str:
    """Return the path by which a collection is deleted at once."""
    return f"{path}?gracePeriodSeconds=0&labelSelector={labels.replace('=', '%3D')}"


async def edit(bare: Bare, path: str) -> None:
    """Write into an object when it was written."""
    await bare.merge(path, {"metadata": {"annotations": {SENT: str(time.monotonic())}}})


async def first_of(*waits: Awaitable[object]) -> int:
    """Return which of them came first; the others are dropped."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    first = next(i for i, task in enumerate(tasks) if task.done())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return first


# -- figures


def written(told: Told) -> float:
    """Return how many writes a process made, its Lease aside."""
    requests: dict[str, float] = told["requests"]
    return sum(
        count
        for call, count in requests.items()
        if call.split()[0] in WRITES and not call.endswith(" leases")
    )


def median(told: Sequence[Told], figure: str) -> float:
    """Return the middle value of a figure."""
    return float(statistics.median(one[figure] for one in told))


def least(told: Sequence[Told], figure: str) -> float:
    """Return the least disturbed value of a figure."""
    return float(min(one[figure] for one in told))


def to_neighbours(ours: Sequence[Told], before: Sequence[Told], after: Sequence[Told]) -> float:
    """Return how our time relates to that of the bare client around it; the middle round's."""
    rounds = zip(ours, before, after, strict=True)
    ratios = [2 * o["wall_s"] / (b["wall_s"] + a["wall_s"]) for o, b, a in rounds]
    return float(statistics.median(ratios))


def walls(told: Sequence[Told]) -> str:
    """Return the times of all rounds in words."""
    return ", ".join(f"{one['wall_s']:.1f}" for one in told) + " s"


def mib(size: float) -> str:
    """Return bytes in words."""
    return f"{size / 1e6:.0f} MB"


async def measure(kubeconfig: Path, sizes: Sizes, parts: Sequence[str]) -> Bench:
    """Run the parts one after the other."""
    async with Bare(kubeconfig) as bare:
        bench = Bench(kubeconfig, sizes, bare)
        try:
            for name in parts:
                began = time.monotonic()
                await PARTS[name](bench)
                print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        finally:
            if os.environ.get("BENCH_KUBECONFIG"):
                await bench.clean()
        return bench


@contextmanager
def control_plane() -> Iterator[Path]:
    """Give the kubeconfig of an API server: the one that is named, or one that comes and goes."""
    if brought := os.environ.get("BENCH_KUBECONFIG"):
        yield Path(brought)
        return
    scratch = Path(tempfile.mkdtemp(prefix="shoal-bench-"))
    cache_folder = Path(os.environ.get("SHOAL_CACHE") or Path.home() / ".cache/shoal")
    settings = Settings(cache=cache_folder, state=scratch, environment=dict(os.environ))
    api = up(settings, Wanted("bench", control_plane_only=True), progress(sys.stderr))
    try:
        yield api.cluster.kubeconfig
    finally:
        down(settings, api.cluster)
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    """Measure and report."""
    sizes = QUICK if os.environ.get("BENCH_QUICK") else Sizes()
    parts = [p for p in os.environ.get("BENCH_PARTS", "").split(",") if p] or list(PARTS)
    with control_plane() as kubeconfig:
        bench = asyncio.run(measure(kubeconfig, sizes, parts))
    report("runtime", bench.tables, bench.figures)


if __name__ == "__main__":
    main()
