"""A small cluster as Slurm tells of it, and what the exporter's own collectors make of that.

Nothing here knows a metric: GPUs are what Slurm counts as gres, times are those of the looks. Each
look finds the cluster a little later: nodes fail and come back, jobs start and end.
"""

import asyncio
from collections.abc import Iterator

from shoal.exporter import records
from shoal.exporter.accounting import AccountingCollector
from shoal.exporter.catalogue import COLLECTORS, Collector
from shoal.exporter.diag import DiagCollector
from shoal.exporter.health import Health
from shoal.exporter.jobs import JobsCollector
from shoal.exporter.nodes import NodesCollector
from shoal.exporter.pages import Page, prepared
from shoal.exporter.shared import Shared
from shoal.exporter.snapshot import (
    DiagSeen,
    EndedSeen,
    JobsSeen,
    NodesSeen,
    Place,
    TopologySeen,
)
from shoal.exporter.topology import TopologyCollector, Workers
from shoal.runtime import clock
from shoal.slurmapi import accounting, jobs
from shoal.slurmapi.controller import RpcByType, RpcByUser, Statistics
from shoal.slurmapi.errors import UnreachableError
from shoal.slurmapi.nodes import Node
from shoal.slurmapi.numbers import Number

ENDS = ("COMPLETED", "FAILED", "NODE_FAIL", "TIMEOUT", "CANCELLED")
WAITS = ("Priority", "Resources", "JobHeldAdmin")
TRES = "cpu=64,mem=512G,billing=64,gres/gpu=8"
USED = "cpu=16,mem=64G,gres/gpu=4"
# Names of nodes, their states, and their states in every second look; why.
NODES = (
    ("w-0", "MIXED", "MIXED", ""),
    ("w-1", "DOWN NOT_RESPONDING", "IDLE", "gone"),
    ("w-2", "MIXED DRAIN", "MIXED", "Kill task failed"),
    ("w-3", "IDLE DRAIN", "IDLE DRAIN", "[node_problem] boot_disk_full: 97 % [hc_program]"),
    ("w-4", "IDLE DRAIN", "IDLE DRAIN", "[hardware_problem] gpu_health_check"),
    ("w-5", "IDLE DRAIN", "IDLE DRAIN", "[user_problem] pod_ephemeral_storage"),
    ("w-6", "IDLE DRAIN", "IDLE DRAIN", 'an admin\'s "own" reason, with C:\\ in it'),
    ("w-7", "IDLE MAINTENANCE RESERVED", "IDLE MAINTENANCE RESERVED", ""),
    ("w-8", "IDLE CLOUD POWERED_DOWN", "IDLE CLOUD POWERING_UP", ""),
)


def number(value: int) -> Number:
    return Number(set=True, number=value)


def nodes(look: int) -> Iterator[Node]:
    """Yield the nodes of a look."""
    for name, first, second, reason in NODES:
        state = tuple((second if look % 2 else first).split())
        busy = state[0] == "MIXED"
        yield Node(
            name=name,
            state=state,
            reason=reason if "IDLE" not in state or "DRAIN" in state else "",
            address="10.0.0.1",
            instance_id=f"machine-{name}",
            partitions=("main", "gpu"),
            gres="gpu:h100:8",
            gres_used="gpu:h100:4" if busy else "",
            tres=TRES,
            tres_used=USED if busy else "",
            cpus=64,
            effective_cpus=62,
            alloc_cpus=16 if busy else 0,
            real_memory=512 << 10,
            alloc_memory=(64 << 10) if busy else 0,
            free_mem=number(100 << 10),
        )


def job(job_id: int, state: str, at: int, **more: object) -> jobs.Job:
    """Return a job that came ten minutes before `at`."""
    waits = state == "PENDING"
    known = {
        "name": f"train-{job_id}",
        "user_name": "ada",
        "user_id": 1000,
        "account": "physics" if job_id % 2 else "biology",
        "partition": "main",
        "mail_user": "ada@example.com",
        "state_reason": "None",
        "submit_time": number(at - 600),
        "tres_req_str": USED,
        **({} if waits else {"start_time": number(at - 60), "tres_alloc_str": USED}),
        **({} if waits else {"nodes": "w-[0,2]" if state == "RUNNING" else "w-0"}),
    }
    return jobs.Job(job_id=job_id, job_state=(state,), **{**known, **more})


def ended(look: int) -> Iterator[int]:
    """Yield the numbers of the jobs that ended right before a look, one for each way to end."""
    return iter(range(1000 * look, 1000 * look + len(ENDS)))


def queue(look: int, now: int) -> Iterator[jobs.Job]:
    """Yield what slurmctld knows of jobs."""
    yield from (job(one, "RUNNING", now) for one in (1, 2))
    for place, reason in enumerate(WAITS):
        yield job(10 + place, "PENDING", now, state_reason=reason)
    for one, state in zip(ended(look), ENDS, strict=True):
        yield job(one, state, now, end_time=number(now - 1))


def past(look: int, now: int) -> Iterator[accounting.PastJob]:
    """Yield what slurmdbd knows of jobs that ended."""
    had = (accounting.Tres("cpu", count=16), accounting.Tres("gres", "gpu", 4))
    for one, state in zip(ended(look), ENDS, strict=True):
        yield accounting.PastJob(
            job_id=one,
            account="physics" if one % 2 else "biology",
            partition="main",
            nodes="w-0",
            state=accounting.JobCondition((state,)),
            time=accounting.JobTime(
                now - 600, now - 60, now, 60, total=accounting.CpuTime(seconds=500)
            ),
            tres=accounting.JobTres(had, had),
        )


def statistics(look: int) -> Statistics:
    """Return slurmctld's counters."""
    return Statistics(
        server_thread_count=3,
        agent_queue_size=2,
        dbd_agent_queue_size=1,
        schedule_cycle_last=1500,
        bf_cycle_last=25_000,
        jobs_pending=3,
        jobs_running=2,
        jobs_submitted=10 * look,
        jobs_completed=4 * look,
        jobs_canceled=2 * look,
        jobs_failed=look,
        rpcs_by_message_type=(
            RpcByType("REQUEST_PING", 5 * look, 900 * look),
            RpcByType("REQUEST_JOB_INFO", 7 * look, 80_000 * look),
        ),
        rpcs_by_user=(
            RpcByUser("root", 0, 8 * look, 9000 * look),
            RpcByUser("ada", 1000, 4 * look, 70_000 * look),
        ),
    )


class Told:
    """An exporter whose collectors are told what they would have read."""

    def __init__(self) -> None:
        self.health, self.page, self.look = Health.of(COLLECTORS), Page(), 0
        shared = Shared()
        # None of them asks anybody here.
        self._nodes = NodesCollector(None, shared)  # type: ignore[arg-type]
        self._jobs = JobsCollector(None, shared, health=self.health)  # type: ignore[arg-type]
        self._diag = DiagCollector(None)  # type: ignore[arg-type]
        self._topology = TopologyCollector(None, Workers("", ""), shared)  # type: ignore[arg-type]
        self._accounting = AccountingCollector(None, lambda: 0.0)  # type: ignore[arg-type]

    def text(self, port: int) -> str:
        """Return what a port serves; each time that the first is asked for there is a new look."""
        if port == 8081:
            return "".join(self.health.told(self.page))
        asyncio.run(self._collected())
        self.health.scrapes += 1
        return self.page.plain().decode()

    async def _collected(self) -> None:
        self.look += 1
        now = clock.now().timestamp()
        at = int(now)
        found = (
            (self._nodes, NodesSeen(list(nodes(self.look)))),
            (self._topology, TopologySeen({name: Place("rack-1", "gpu") for name, *_ in NODES})),
            (
                self._jobs,
                JobsSeen([records.of_slurmctld(one) for one in queue(self.look, at)], "list"),
            ),
            (self._diag, DiagSeen(statistics(self.look))),
            (self._accounting, EndedSeen(list(past(self.look, at)), at)),
        )
        for collector, seen in found:
            self.health.begun(collector.name)
            self.page.put(collector.name, await prepared(collector.tell(seen, now)))
            self.health.courses[collector.name].succeeded_at = now
            self.health.requested("GET", collector.name.value, 200, 0.2)
            # One that fails after it had success: what it told is still there.
            gone = UnreachableError("GET /pods", "no") if collector is self._topology else None
            self.health.done(collector.name, 0.1, gone)
        self.health.courses[Collector.JOBS].skipped += 1
