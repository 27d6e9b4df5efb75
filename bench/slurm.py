"""Real Slurm at scale: what 10,000 nodes and 50,000 jobs cost our client, and slurmrestd.

`make bench BENCH=slurm` starts labs of its own (tests/slurm_lab; needs root) and takes about eight
minutes; BENCH_QUICK=1 takes small sizes and about two. BENCH_PARTS=nodes,jobs runs some parts only.
The nodes are CLOUD nodes that nobody powers up. Running jobs are allocations without a process, on
slurmds that claim many processors. Every measured client is a process of its own.
"""

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import Row, report
from shoal.host.processes import Process
from shoal.host.run import run
from shoal.local.settings import Settings
from shoal.slurmapi import squeue
from tests.slurm_lab import Lab, provide
from tests.slurm_lab.conf import Conf
from tests.slurm_lab.lab import Options

Told = dict[str, Any]
NEW, OLD = "26.05", "24.11"
GIB = 1 << 30
ACCOUNTING_S = 300.0
DYNAMIC = 10
# Without a time, which with a state means now.
SACCT = ("sacct", "--allusers", "--allocations", "--noheader", "--parsable2", "--state=RUNNING",
         "--format=JobIDRaw,State,NodeList")  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    repeats: int = 3
    nodes: int = 10_000
    drained: int = 1000
    steady_s: int = 60
    workers: int = 50
    per_worker: int = 200
    jobs: int = 50_000

    @property
    def running(self) -> int:
        """How many jobs run: as many as the workers have room for."""
        return self.workers * self.per_worker


QUICK = Sizes(1, 500, 50, 10, 4, 50, 1000)


@dataclass
class Bench:
    """One run, and what was found so far."""

    sizes: Sizes
    settings: Settings
    tables: dict[str, list[Row]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    def lab(self, series: str, workers: int = 2, static: str | None = "CPUs=2") -> Lab:
        """Return a lab, to be entered, with many nodes and room for many jobs.

        Without `static` its workers are dynamic nodes.
        """
        keys = {
            "MaxJobCount": str(2 * self.sizes.jobs),
            "MaxNodeCount": str(self.sizes.nodes + 1000),
            # Jobs that ask for nothing would otherwise take a node's whole memory.
            "SelectTypeParameters": "CR_Core",
            "SlurmdParameters": "config_overrides",
        }
        cloud = f"c-[0-{self.sizes.nodes - 1}]"
        lines = (
            f"NodeName={cloud} CPUs=64 RealMemory=256000 State=CLOUD",
            "NodeSet=workers Feature=all",
            "PartitionName=all Nodes=workers Default=YES MaxTime=UNLIMITED State=UP",
            f"PartitionName=cloud Nodes={cloud} MaxTime=UNLIMITED State=UP",
        )
        options = Options(workers, Conf(keys, lines), static, slurmrestd_bytes=3 * GIB)
        return Lab(provide(series, self.settings), options)

    def row(self, table: str, label: str, value: str, target: str = "") -> None:
        """Add a line for people."""
        self.tables.setdefault(table, []).append((label, value, target))

    def note(self, **figures: float) -> None:
        """Add figures for programs."""
        self.figures |= {name: round(value, 4) for name, value in figures.items()}


# -- the parts


def nodes(bench: Bench, series: str) -> None:
    """Read, probe and drain many nodes."""
    sizes, short = bench.sizes, series.replace(".", "")
    title = f"{sizes.nodes} nodes, Slurm {series}"
    with bench.lab(series) as lab:
        told = [measured(lab, "nodes") for _ in range(sizes.repeats)]
        decodes = [measured(lab, "decode") for _ in range(sizes.repeats)]
        peak = peak_bytes(lab)
        probes = [measured(lab, "probe", 20) for _ in range(sizes.repeats)]
        drains = [measured(lab, "drain", sizes.drained) for _ in range(sizes.repeats)]
    figures = {
        "decode_cpu_s": median(decodes, "cpu_s"),
        "decode_bytes": median(decodes, "bytes"),
        "list_wall_s": median(told, "wall_s"),
        "list_cpu_s": median(told, "cpu_s"),
        "list_body_bytes": median(decodes, "body_bytes"),
        "list_peak_bytes": median(told, "peak_bytes"),
        "slurmrestd_peak_bytes": peak,
        "probe_s": median(probes, "wall_s"),
        "probe_cpu_s": median(probes, "cpu_s"),
        "drain_s": median(drains, "drain_s"),
        "undrain_s": median(drains, "undrain_s"),
    }
    bench.note(**{f"nodes_{short}_{name}": value for name, value in figures.items()})
    bench.row(title, "the answer", mb(figures["list_body_bytes"]))
    bench.row(title, "decoded, CPU", f"{figures['decode_cpu_s']:.3f} s", "≤ 0.08 s")
    bench.row(title, "decoded, memory on top", mb(figures["decode_bytes"]), "≤ 40 MB")
    bench.row(title, "whole call, wall", f"{figures['list_wall_s']:.2f} s")
    bench.row(title, "whole call, CPU", f"{figures['list_cpu_s']:.2f} s")
    bench.row(title, "our process at its peak", mb(figures["list_peak_bytes"]))
    bench.row(title, "slurmrestd at its peak", mb(peak))
    bench.row(title, "probe, nothing changed", f"{1000 * figures['probe_s']:.1f} ms", "≤ 20 ms")
    label = f"{sizes.drained} drained by hostlist"
    bench.row(title, label, f"{figures['drain_s']:.3f} s", "≤ 0.1 s")
    bench.row(title, "and undrained", f"{figures['undrain_s']:.3f} s")


def steady(bench: Bench) -> None:
    """Keep the list of many nodes for a minute, looking every 5 s."""
    sizes = bench.sizes
    title = f"{sizes.nodes} nodes, Slurm {NEW}, a minute of a look every 5 s"
    for label, workers in (("nothing happens", 0), ("50 workers report their load", 50)):
        with bench.lab(NEW, min(workers, sizes.workers)) as lab:
            before = {name: cpu_s(lab, name) for name in ("slurmrestd", "slurmctld")}
            began = time.monotonic()
            told = measured(lab, "steady", sizes.steady_s)
            minute = 60 / (time.monotonic() - began)
            theirs = {name: (cpu_s(lab, name) - was) * minute for name, was in before.items()}
        name = "steady_busy" if workers else "steady"
        bench.note(**{f"{name}_cpu_s": told["cpu_s"], f"{name}_lists": told["lists"]})
        bench.note(**{f"{name}_{daemon}_cpu_s": used for daemon, used in theirs.items()})
        bench.row(title, f"{label}: CPU", f"{told['cpu_s']:.2f} s", "" if workers else "≤ 0.1 s")
        bench.row(title, f"{label}: whole lists read", f"{told['lists']}")
        others = ", ".join(f"{daemon} {used:.1f} s" for daemon, used in theirs.items())
        bench.row(title, f"{label}: CPU of the others, the first list too", others)


def register(bench: Bench) -> None:
    """Let dynamic workers come to many nodes: slurmctld then lays its tables out anew."""
    title = f"{DYNAMIC} dynamic workers come to {bench.sizes.nodes} nodes"
    for series in (NEW, OLD):
        with bench.lab(series, DYNAMIC, static=None) as lab:
            for name in lab.workers:
                lab.stop(name)
            lab.run("scontrol", "delete", f"NodeName={','.join(lab.workers)}")
            began = time.monotonic()
            for name in lab.workers:
                lab.start(name)
            lab.wait_until_idle()
            took = time.monotonic() - began
        bench.note(**{f"register_{series.replace('.', '')}_s": took})
        bench.row(title, f"Slurm {series}, until all are idle", f"{took:.1f} s")


def jobs(bench: Bench) -> None:
    """Find out which jobs run where, in every way there is."""
    sizes = bench.sizes
    title = f"{sizes.jobs} jobs, {sizes.running} of them running, Slurm {NEW}"
    with bench.lab(NEW, sizes.workers, f"CPUs={sizes.per_worker}") as lab:
        began = time.monotonic()
        told = measured(lab, "allocate", sizes.running)
        told["wall_s"] += measured(lab, "fill", sizes.jobs - sizes.running)["wall_s"]
        print(f"jobs submitted: {time.monotonic() - began:.0f} s", file=sys.stderr)
        wait_for_accounting(lab, sizes.running)
        bench.note(jobs_submit_s=told["wall_s"])
        for name, (label, ask) in WAYS.items():
            lab.restart("slurmrestd")
            told = ask(lab)
            told["slurmrestd_bytes"] = peak_bytes(lab)
            tell(bench, title, name, label, told)


def tell(bench: Bench, title: str, name: str, label: str, told: Told) -> None:
    """Write down what one way to the running jobs costs."""
    if "error" in told:
        bench.row(title, label, told["error"][:60], mb(told["slurmrestd_bytes"]))
        return
    kept = {key: told[key] for key in ("wall_s", "cpu_s", "slurmrestd_bytes", "size")}
    bench.note(**{f"jobs_{name}_{key}": value for key, value in kept.items()})
    took = f"{told['wall_s']:.2f} s wall, {told['cpu_s']:.2f} s CPU, {told['size']} found"
    bench.row(title, label, took, f"slurmrestd {mb(told['slurmrestd_bytes'])}")


def by_tool(command: Sequence[str], count: Callable[[str], int]) -> Callable[[Lab], Told]:
    """Return a way that runs a client tool where slurmctld runs."""

    def ask(lab: Lab) -> Told:
        before, began = children_s(), time.monotonic()
        said = lab.run(*command).stdout
        read = time.monotonic()
        size = count(said)
        return {
            "wall_s": time.monotonic() - began,
            "cpu_s": children_s() - before + time.monotonic() - read,
            "size": size,
        }

    return ask


# The list of all jobs last: it is the one that may end slurmrestd.
WAYS: Mapping[str, tuple[str, Callable[[Lab], Told]]] = {
    "squeue": (
        "squeue, states that hold nodes",
        by_tool(squeue.COMMAND, lambda said: sum(1 for _ in squeue.read(said))),
    ),
    "sacct": ("sacct, running", by_tool(SACCT, lambda said: len(said.splitlines()))),
    "states": ("REST, job states (no nodes)", lambda lab: measured(lab, "states")),
    "busy": ("REST, nodes in use (no jobs)", lambda lab: measured(lab, "busy")),
    "recorded": ("REST, slurmdbd's running jobs", lambda lab: measured(lab, "recorded")),
    "singles": ("REST, states and each running job", lambda lab: measured(lab, "singles")),
    "list": ("REST, the list of all jobs", lambda lab: measured(lab, "list")),
}

PARTS: dict[str, Callable[[Bench], None]] = {
    "nodes": lambda bench: nodes(bench, NEW),
    "nodes_old": lambda bench: nodes(bench, OLD),
    "steady": steady,
    "register": register,
    "jobs": jobs,
}


# -- what is measured


def measured(lab: Lab, part: str, *numbers: int) -> Told:
    """Let a client of its own do one thing."""
    words = ("-m", "bench.measured.slurm", lab.url, part, *map(str, numbers))
    environment = {**os.environ, "BENCH_KEY": lab.jwt_key.hex()}
    told: Told = json.loads(run(sys.executable, *words, env=environment, timeout_s=900).stdout)
    if "error" in told:
        print(f"{part}: {told['error']}", file=sys.stderr)
    return told


def wait_for_accounting(lab: Lab, running: int) -> None:
    """Wait until slurmdbd has heard of every job that runs."""
    deadline = time.monotonic() + ACCOUNTING_S
    while (heard := len(lab.run(*SACCT).stdout.splitlines())) < running:
        if time.monotonic() > deadline:
            raise TimeoutError(f"slurmdbd has heard of {heard} running jobs, not {running}")
        time.sleep(1)


def status(process: Process, name: str) -> int:
    """Return a line of a process' status, in bytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def peak_bytes(lab: Lab) -> float:
    """Return the most memory that slurmrestd had since it started; its limit when it has ended."""
    container = lab.containers["slurmrestd"]
    if container.first() is None:
        return float(lab.options.slurmrestd_bytes)
    return float(status(container.daemon(), "VmHWM"))


def cpu_s(lab: Lab, name: str) -> float:
    """Return the CPU seconds of a daemon so far."""
    stat = Path(f"/proc/{lab.containers[name].daemon().pid}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def children_s() -> float:
    """Return the CPU seconds of all programs that were run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median(told: Sequence[Told], figure: str) -> float:
    """Return the middle value of a figure."""
    return float(statistics.median(one[figure] for one in told))


def mb(size: float) -> str:
    """Return bytes in words."""
    return f"{size / 1e6:.0f} MB"


def main() -> None:
    """Measure and report."""
    sizes = QUICK if os.environ.get("BENCH_QUICK") else Sizes()
    parts = [p for p in os.environ.get("BENCH_PARTS", "").split(",") if p] or list(PARTS)
    cache = Path(os.environ.get("SHOAL_CACHE") or Path.home() / ".cache/shoal")
    state = Path("/nonexistent")  # a lab keeps nothing
    bench = Bench(sizes, Settings(cache, state, environment=dict(os.environ)))
    for name in parts:
        began = time.monotonic()
        PARTS[name](bench)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    report("slurm", bench.tables, bench.figures)


if __name__ == "__main__":
    main()
