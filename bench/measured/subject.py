"""The process that is measured: a toy operator on the runtime, which tells what it costs.

A ConfigMap asks for pods, and gets them. Each line on stdin is answered by a line of JSON; the end
of stdin ends the process well.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from bench.measured import pods, usage
from shoal.kube import kinds
from shoal.kube.kinds import CONFIG_MAP, POD, Kind
from shoal.kube.objects import Key, Resource
from shoal.kubeapi.access import from_kubeconfig
from shoal.kubeapi.client import Client
from shoal.runtime import events, logs
from shoal.runtime.apply import Applier, Rules
from shoal.runtime.controller import Controller, Done
from shoal.runtime.lease import Terms
from shoal.runtime.process import Process, Setup
from shoal.runtime.store import Store
from shoal.runtime.watches import main as of_itself
from shoal.runtime.watches import owned

SENT = "bench/sent"  # when the load was sent, on the clock that all processes share
CREATED = events.Happening("Created", "Create", "created a pod", many="created {} pods")
# What an operator watches beside its pods.
MORE = (
    kinds.SERVICE, kinds.SECRET, kinds.STATEFUL_SET, kinds.DEPLOYMENT, kinds.JOB, kinds.NODE,
    kinds.PERSISTENT_VOLUME_CLAIM, kinds.POD_DISRUPTION_BUDGET,
)  # fmt: skip


@dataclass
class Subject:
    """The toy operator and its tally."""

    options: argparse.Namespace
    flocks: Store[pods.Flock] = field(default_factory=lambda: Store(CONFIG_MAP, pods.Flock))
    birds: Store[pods.Pod] = field(default_factory=lambda: Store(POD, pods.Pod))
    recorder: events.Recorder = field(default_factory=events.Recorder)
    stalls: usage.Stalls = field(default_factory=usage.Stalls)
    passes: int = 0
    changes: int = 0
    delays: list[float] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def controllers(
        self, client: Client, stores: Mapping[Kind, Store[Any]]
    ) -> Sequence[Controller]:
        """Return the one controller."""
        applier = Applier(client, stores)
        rules = Rules(post=() if self.options.apply else [POD])
        watches = (of_itself(CONFIG_MAP), owned(POD, by=CONFIG_MAP))
        self.birds.listen(self.changed)

        async def reconcile(key: Key) -> Done:
            self.started(key)
            flock = self.flocks.get(key)
            wanted = int(flock.data.get("pods", "0")) if flock else 0
            if not flock or not wanted:
                return Done()
            owner = CONFIG_MAP.identity(flock)
            desired = (pods.pod(key[0], f"{key[1]}-{i}") for i in range(wanted))
            outcome = await applier.apply(owner, desired, rules)
            if outcome.written:
                self.recorder.record(events.about(CONFIG_MAP, flock), CREATED, outcome.written)
                self.say("wrote", written=outcome.written)
            return Done(self.options.again_s)

        return [Controller("flock", watches, reconcile, workers=self.options.workers)]

    def started(self, key: Key) -> None:
        """Take note of a pass, and of how long its cause is ago."""
        self.passes += 1
        flock = self.flocks.get(key)
        sent = flock.metadata.annotations.get(SENT) if flock else None
        if sent and sent not in self.seen:
            self.seen.add(sent)
            self.delays.append(time.monotonic() - float(sent))

    def changed(self, _before: Resource | None, _after: Resource | None) -> None:
        """Count what the watch of pods brings."""
        self.changes += 1

    def say(self, what: str, **more: object) -> None:
        """Print how things are, as one line of JSON."""
        told = {
            "what": what,
            "wall": time.monotonic(),
            "cpu_s": usage.cpu_s(),
            "rss_bytes": usage.memory_bytes(),
            "peak_bytes": usage.memory_bytes("VmHWM"),
            "pods": len(self.birds),
            "passes": self.passes,
            "changes": self.changes,
            "stall_s": self.stalls.wall_s,
            "own_stall_s": self.stalls.own_s,
            **more,
        }
        print(json.dumps(told), flush=True)

    def look(self, process: Process) -> None:
        """Tell everything, and begin the delays and stalls anew."""
        found = text_string_to_metric_families(process.metrics.text().decode())
        requests = {
            f"{s.labels['verb']} {s.labels['plural']}": s.value
            for family in found
            for s in family.samples
            if s.name == "shoal_api_requests_total"
        }
        self.say("look", requests=requests, delays=self.delays, leading=process.leading.is_set())
        self.delays = []
        self.stalls.reset()


async def answer(subject: Subject, process: Process) -> None:
    """Answer each line on stdin, and end with it."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        # Reading our own metrics costs more than what is measured: only when asked for all.
        if line == b"all\n":
            subject.look(process)
        else:
            subject.say("glance")
    process.stop()


async def tell_the_course(subject: Subject, process: Process) -> None:
    """Say when the caches are filled and when we lead."""
    while not process.ready:  # noqa: ASYNC110 - it has no event of its own
        # Rarely: a beat of 10 ms costs 15 ms of CPU a second, which would be counted as the sync's.
        await asyncio.sleep(0.25)
    subject.say("synced")
    await process.leading.wait()
    subject.say("leading")


async def run(options: argparse.Namespace) -> None:
    """Run until stdin ends."""
    subject = Subject(options)
    stores: list[Store[Any]] = [subject.flocks, subject.birds]
    if options.more:
        stores += [Store(kind, Resource) for kind in MORE]
    terms = None
    if options.lease_s:
        duration = options.lease_s
        terms = Terms(
            "default", "bench", str(os.getpid()), duration, duration / 1.5, duration / 7.5
        )
    spaces = options.namespaces.split(",") if options.namespaces else ()
    process = Process(
        from_kubeconfig(options.kubeconfig, {}),
        Setup(stores, spaces, terms=terms),
        subject.controllers,
        recorder=subject.recorder,
    )
    beside = [asyncio.create_task(answer(subject, process))]
    beside.append(asyncio.create_task(tell_the_course(subject, process)))
    if options.stalls:
        beside.append(asyncio.create_task(subject.stalls.watch()))
    subject.say("started")
    await process.run()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--namespaces", default="")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--lease-s", type=float, default=0)
    parser.add_argument("--again-s", type=float, default=None)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--apply", action="store_true")
    parser.add_argument("--stalls", action="store_true")
    options = parser.parse_args()
    logs.set_up(logs.style("warn", "plain"))
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
