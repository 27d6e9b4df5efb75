"""One operator with one number of workers: what each phase is, and what it takes."""

import asyncio
import enum
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bench.measured import scale_ground as place
from bench.measured.bare import PODS, Bare, all_of
from bench.measured.scale_audit import Call
from bench.measured.scale_ground import Ground
from bench.measured.scale_objects import NODE_SET, NODESETS, SPACE, WORKER, bared
from bench.measured.scale_operator import Command, Operator, cpu_s, operator
from shoal.kube.objects import Object
from shoal.runtime import clock

LOOK_S = 0.1
LONG_LOOK_S = 0.5  # for what makes the API server look at every pod
FEW = 10  # pods that may be read as a whole
QUIET_S, QUIET_S_EACH = 10.0, 0.002  # without a write, and it counts as settled
REST_S = 5.0  # for the API server and kwok, between a floor and what comes next
RESTLESS_S = 120.0  # as long as that is waited for
# slurmrestd asks for the partitions whenever somebody reads the nodes.
COMPANIONS = frozenset({"REQUEST_PARTITION_INFO"})


class Floor(enum.Enum):
    """What the bare client does."""

    WHOLE = "whole"  # it posts pods, waits until they run, and deletes them
    POSTS = "posts"  # that they run takes kube-scheduler too long
    NONE = "none"


@dataclass(frozen=True)
class Taken:
    """What a phase took."""

    began_at: datetime
    wall_s: float
    cpu_s: float
    peak_bytes: int
    calls: Sequence[Call]
    rpcs: Mapping[str, int]
    slurmrestd_cpu_s: float

    def last_s(self, verb: str, kind: str) -> float:
        """Return after how long the last request of a sort was answered; 0: there was none."""
        found = [call.at for call in self.calls if (call.verb, call.kind) == (verb, kind)]
        return max(((at - self.began_at).total_seconds() for at in found), default=0.0)

    @property
    def writes(self) -> int:
        """How many requests changed something, the Lease aside."""
        return sum(call.work for call in self.calls)

    @property
    def reads(self) -> int:
        """How often slurmrestd was asked, as far as slurmctld noticed."""
        return sum(number for name, number in self.rpcs.items() if name not in COMPANIONS)


@dataclass
class Race:
    """One operator with one number of workers."""

    ground: Ground
    bare: Bare
    command: Command
    workers: int
    steady_s: float
    records: str = "CLOUD"  # the state of the workers' records in Slurm
    pod: Object = field(default_factory=dict)
    others: int = 0  # pods that are no workers

    @property
    def patience_s(self) -> float:
        """How long a phase may take."""
        return 600.0 + 0.6 * self.workers

    @property
    def quiet_s(self) -> float:
        """How long nothing is written once all is done: longer than between two passes over all."""
        return max(QUIET_S, QUIET_S_EACH * self.workers)

    @property
    def look_s(self) -> float:
        """How long to wait between two looks: for each the API server counts the pods."""
        return max(LOOK_S, self.workers / 10_000)

    # -- phases

    async def prelude(self) -> None:
        """Let one worker come and go: what its pod is like, and what it is called in Slurm."""
        async with operator(self.command) as running:
            await self.until(self.control_plane_runs, running)
            await self.bare.post(NODESETS, NODE_SET)
            await self.scale(1)
            await self.until(self.has_pod, running)
            hostname = self.pod["spec"].get("hostname") or self.pod["metadata"]["name"]
            prefix = hostname.removesuffix("0")
            self.ground.register(prefix, 1, self.records)
            await self.until(self.is_told_of_one, running)
            await self.scale(0)
            await self.until(self.is_empty, running)
            await self.quiet(clock.now())
            # A change of its workers may give slurmctld a pod more, or a Job.
            self.others = await place.count(self.bare, SPACE)
        # Anew, as it was drained.
        self.ground.forget(hostname)
        self.ground.register(prefix, self.workers, self.records)

    async def floor(self, space: str, how: Floor) -> Mapping[str, float]:
        """Let a bare client post the same pods, and delete them one by one."""
        await self.bare.namespace(space)
        began = time.monotonic()
        words = ("--kubeconfig", str(self.ground.api.cluster.kubeconfig), "--namespace", space)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.measured.scale_floor", *words,
            "--pods", str(self.workers),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate(json.dumps(bared(self.pod)).encode())
        told: dict[str, float] = json.loads(out)
        names = [f"{PODS.format(space)}/w-{i}" for i in range(self.workers)]
        if how is Floor.POSTS:
            await all_of(self.bare.send("DELETE", f"{name}?gracePeriodSeconds=0") for name in names)
            await self.until_none(space)
            await asyncio.sleep(REST_S)
            return told
        while await place.waiting(self.bare, space):  # noqa: ASYNC110 - it is the API server's to say
            await asyncio.sleep(LONG_LOOK_S)
        told["running_s"] = time.monotonic() - began
        await asyncio.sleep(REST_S)
        began = time.monotonic()
        await all_of(self.bare.send("DELETE", name) for name in names)
        await self.until_none(space)
        told["gone_s"] = time.monotonic() - began
        await asyncio.sleep(REST_S)
        return told

    async def grow(self, running: Operator) -> tuple[Taken, Taken]:
        """Ask for all workers; return what it took to make the pods, and to settle."""
        meter = Meter(self.ground, running)
        await self.scale(self.workers)
        await self.until(self.is_full, running)
        made = meter.read(final=False)
        await self.until(self.is_told, running)
        await self.quiet(meter.began_at)
        return made, meter.read(until_last_write=True)

    async def rest(self, running: Operator) -> Taken:
        """Do nothing."""
        meter = Meter(self.ground, running)
        await asyncio.sleep(self.steady_s)
        return meter.read()

    async def shrink(self, running: Operator) -> tuple[Taken, Taken]:
        """Ask for none; return what it took until the pods were gone, and to settle."""
        meter = Meter(self.ground, running)
        await self.scale(0)
        await self.until(self.is_empty, running)
        gone = meter.read(final=False)
        await self.quiet(meter.began_at)
        return gone, meter.read(until_last_write=True)

    # -- what is waited for

    async def until_none(self, space: str) -> None:
        """Wait until a namespace has no pod."""
        while await place.count(self.bare, space):  # noqa: ASYNC110 - it is the API server's to say
            await asyncio.sleep(self.look_s)

    async def until(self, look: Callable[[], Awaitable[bool]], running: Operator) -> None:
        """Look until it is so."""
        deadline = time.monotonic() + self.patience_s
        while not await look():
            running.check()
            if time.monotonic() > deadline:
                pods = await place.count(self.bare, SPACE) - self.others
                raise TimeoutError(f"{look.__name__}: not after {self.patience_s:g} s; {pods} pods")
            await asyncio.sleep(self.look_s)

    async def quiet(self, since: datetime) -> None:
        """Wait until the operator writes nothing more, but not for ever."""
        mark = self.ground.audit.mark()
        last, deadline = clock.now(), time.monotonic() + RESTLESS_S
        while (clock.now() - last).total_seconds() < self.quiet_s and time.monotonic() < deadline:
            await asyncio.sleep(1)
            calls = [call.at for call in self.ground.audit.since(mark) if call.work]
            last = max([last, *calls, since])

    async def control_plane_runs(self) -> bool:
        """Say whether slurmctld's and slurmrestd's pods run."""
        there = await place.count(self.bare, SPACE)
        return there >= 2 and not await place.waiting(self.bare, SPACE)

    async def has_pod(self) -> bool:
        """Say whether the first worker is there."""
        self.pod = await place.one_worker(self.bare) or {}
        return bool(self.pod)

    async def is_full(self) -> bool:
        """Say whether all pods are there."""
        return await place.count(self.bare, SPACE) - self.others >= self.workers

    async def is_empty(self) -> bool:
        """Say whether no worker's pod is there."""
        if await place.count(self.bare, SPACE) > self.others + FEW:
            return False
        return await place.one_worker(self.bare) is None

    async def is_told(self) -> bool:
        """Say whether the NodeSet's status knows that all are ready."""
        return await self.ready() == self.workers

    async def is_told_of_one(self) -> bool:
        """Say whether the NodeSet's status knows that one is ready."""
        return await self.ready() == 1

    async def ready(self) -> int:
        """Return how many workers are ready, as the operator says."""
        found = json.loads(await self.bare.send("GET", f"{NODESETS}/{WORKER}"))
        return int(found.get("status", {}).get("readyReplicas") or 0)

    async def scale(self, replicas: int) -> None:
        """Ask for so many workers."""
        await self.bare.merge(f"{NODESETS}/{WORKER}", {"spec": {"replicas": replicas}})


class Meter:
    """Reads what has been used since it was made."""

    def __init__(self, ground: Ground, running: Operator) -> None:
        self._ground, self._running = ground, running
        self._slurmrestd = ground.lab.containers["slurmrestd"].daemon().pid
        self._rpcs = ground.rpcs()
        self._mark = ground.audit.mark()
        running.peak_bytes()
        self._peak = 0
        self._slurmrestd_cpu_s = cpu_s(self._slurmrestd)
        self._cpu_s, self._began = running.cpu_s(), time.monotonic()
        self.began_at = clock.now()

    def read(self, *, final: bool = True, until_last_write: bool = False) -> Taken:
        """Return it; the time may end with the operator's last write."""
        wall, used = time.monotonic() - self._began, self._running.cpu_s() - self._cpu_s
        self._peak = max(self._peak, self._running.peak_bytes())
        calls = self._ground.audit.since(self._mark)
        if until_last_write:
            last = max((call.at for call in calls if call.work), default=self.began_at)
            wall = (last - self.began_at).total_seconds()
        # A look at slurmctld's counters costs seconds while it is busy: only at the end.
        rpcs = place.growth(self._rpcs, self._ground.rpcs()) if final else {}
        theirs = cpu_s(self._slurmrestd) - self._slurmrestd_cpu_s
        return Taken(self.began_at, wall, used, self._peak, calls, rpcs, theirs)
