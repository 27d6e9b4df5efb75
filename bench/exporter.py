"""The exporter on real Slurm at scale: what a collection and a scrape cost it, and slurmrestd.

`make bench BENCH=exporter` starts labs of its own (tests/slurm_lab; needs root) and takes about
twenty minutes; BENCH_QUICK=1 takes the smaller size alone and about eight. BENCH_PARTS=large,squeue
takes one size and one source of jobs only. The nodes are CLOUD nodes that nobody powers up. Running
jobs are allocations without a process. Before each collection a node changes, so that all are read,
and some jobs end. `shoal exporter` runs as users run it, as a process of its own.

By changes, not all jobs are read first, which takes minutes: it is measured while they are, at so
many in each collection, which is when it costs most. Of wall times, quartiles are told beside
medians: where other programs run, they suffer less from those.
"""

import http.client
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import Row, report
from bench.slurm import NEW, Bench, Sizes, cpu_s, mb, measured, status
from shoal.host import processes
from shoal.local.settings import Settings
from tests.slurm_lab import Lab

INTERVAL_S = 20.0
ROUNDS = 3
SCRAPES = 20
CHURN = 50  # jobs that end in each round
PATIENCE_S = 1800.0
PORT, OWN_PORT = 18080, 18081
UNDER_WAY = 'slurm_exporter_collector_inflight{collector="jobs"}'
FRESH = "slurm_exporter_collector_last_success_timestamp_seconds"
LINES: dict[int, http.client.HTTPConnection] = {}
MAIN = "from shoal.cli.main import main; main()"


@dataclass(frozen=True)
class Targets:
    """What it may cost."""

    cpu_s: float
    rss_bytes: float
    slurmrestd_cpu_s: float
    slurmrestd_bytes: float
    scrape_s: float


SIZES = {
    "small": (Sizes(nodes=5_000, workers=25, jobs=10_000), Targets(1.0, 150e6, 4.0, 400e6, 0.1)),
    "large": (Sizes(nodes=10_000, workers=50, jobs=50_000), Targets(3.0, 300e6, 12.0, 1e9, 0.3)),
}
SOURCES = ("squeue", "changes")


@dataclass
class Subject:
    """The exporter that is measured."""

    child: subprocess.Popen[bytes]
    reads_all: bool = True  # before anything is measured

    @property
    def pid(self) -> int:
        """Return its number."""
        assert self.child.poll() is None, "the exporter has ended"
        return self.child.pid

    def cpu_s(self) -> float:
        """Return its CPU seconds, those of the programs that it ran included."""
        words = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")

    def bytes(self, line: str = "VmHWM") -> int:
        """Return its memory, by default the most that it ever had."""
        found = processes.find(self.pid)
        assert found is not None
        return status(found, line)

    def own(self) -> dict[str, float]:
        """Return its own metrics."""
        lines = fetched(OWN_PORT)[0].decode().splitlines()
        told = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in told}

    def quiet(self) -> bool:
        """Say whether nothing is under way, and everything has succeeded."""
        assert self.pid
        told = self.own()
        busy = any(v for n, v in told.items() if n.startswith("slurm_exporter_collector_inflight"))
        up = [v for n, v in told.items() if n.startswith("slurm_exporter_collector_up")]
        unread = told["slurm_exporter_jobs_unread"] if self.reads_all else 0
        return not busy and len(up) == 4 and all(up) and not unread

    def fresh_since(self, time_s: float) -> bool:
        """Say whether all that it tells was asked for since then."""
        told = [value for name, value in self.own().items() if name.startswith(FRESH)]
        return len(told) == 4 and min(told) >= time_s


def fetched(port: int, **headers: str) -> tuple[bytes, float]:
    """Return what a scrape brings, and how long that took on a line that is open, as theirs are."""
    line = LINES.setdefault(port, http.client.HTTPConnection("127.0.0.1", port, timeout=60))
    if line.sock is None:
        line.connect()
    began = time.monotonic()
    try:
        line.request("GET", "/metrics", headers=headers)
        body = line.getresponse().read()
    except (OSError, http.client.HTTPException):
        line.close()
        raise
    return body, time.monotonic() - began


def quarter(figures: list[float]) -> float:
    """Return the first quartile."""
    return sorted(figures)[len(figures) // 4]


def until(what: str, look: Callable[[], object]) -> float:
    """Look until it is true; return how long that took."""
    began = time.monotonic()
    while True:
        try:
            if look():
                return time.monotonic() - began
        except (OSError, http.client.HTTPException):
            pass
        if time.monotonic() - began > PATIENCE_S:
            raise TimeoutError(f"waited {PATIENCE_S:g} s for {what}")
        time.sleep(0.5)


@contextmanager
def exporter(lab: Lab, *flags: str, reads_all: bool) -> Iterator[Subject]:
    """Run `shoal exporter` on a lab."""
    words = (
        "--cluster-name=lab", f"--slurm-api-server={lab.url}", "--log-level=warn",
        "--collectors=nodes,jobs,diag,accounting", f"--collection-interval={INTERVAL_S:g}s",
        f"--metrics-bind-address=127.0.0.1:{PORT}",
        f"--monitoring-bind-address=127.0.0.1:{OWN_PORT}",
    )  # fmt: skip
    environment = {**os.environ, "SLURM_EXPORTER_TOKEN": lab.token()}
    child = subprocess.Popen(
        [sys.executable, "-c", MAIN, "exporter", *words, *flags], env=environment
    )
    try:
        yield Subject(child, reads_all)
    finally:
        child.terminate()
        child.wait()
        for line in LINES.values():
            line.close()


def squeue(lab: Lab) -> str:
    """Return the words that run squeue where slurmctld runs."""
    inside = lab.containers["slurmctld"]
    return " ".join((*inside.space.words(), "chroot", f"{inside.inside}/root", "squeue"))


@dataclass
class Run:
    """One source of jobs, on one size."""

    bench: Bench
    lab: Lab
    source: str
    targets: Targets
    ended: int = 0

    @property
    def title(self) -> str:
        """What the table is called."""
        sizes = self.bench.sizes
        return f"{sizes.nodes} nodes, {sizes.jobs} jobs, Slurm {NEW}, jobs by {self.source}"

    def measure(self) -> None:
        """Measure collections, then scrapes."""
        lab, flags = (
            self.lab,
            () if self.source == "changes" else (f"--squeue-path={squeue(self.lab)}",),
        )
        lab.restart("slurmrestd")
        reads_all = self.source == "squeue"
        with exporter(lab, *flags, reads_all=reads_all) as subject:
            took_s = until("the first collection", subject.quiet)
            first = "until all is read for the first time" if reads_all else "the first collection"
            self.row(first, took_s, "s")
            self.row("of that, CPU", subject.cpu_s(), "s")
            self.collections(subject)
            self.scrapes(subject)
            self.row("memory at its peak", subject.bytes(), "MB", self.targets.rss_bytes)
            self.row("memory at the end", subject.bytes("VmRSS"), "MB")
            if not reads_all:
                unread = subject.own()["slurm_exporter_jobs_unread"]
                self.row("jobs that were not read yet by then", unread, "")

    def collections(self, subject: Subject) -> None:
        """Measure some rounds of collections in which something happened."""
        daemons = ("slurmrestd", "slurmctld")
        before, theirs = subject.cpu_s(), {name: cpu_s(self.lab, name) for name in daemons}
        for _ in range(ROUNDS):
            self.happen()
            until("a collection", partial(subject.fresh_since, time.time()))
            until("its end", subject.quiet)
        self.row("a collection, CPU", (subject.cpu_s() - before) / ROUNDS, "s", self.targets.cpu_s)
        for name in daemons:
            used = (cpu_s(self.lab, name) - theirs[name]) / ROUNDS
            target = self.targets.slurmrestd_cpu_s if name == "slurmrestd" else None
            self.row(f"a collection, CPU of {name}", used, "s", target)
        peak = status(self.lab.containers["slurmrestd"].daemon(), "VmHWM")
        self.row("slurmrestd at its peak", peak, "MB", self.targets.slurmrestd_bytes)

    def happen(self) -> None:
        """Change a node, and end some jobs."""
        self.lab.run("scontrol", "update", "NodeName=c-0", f"Comment={time.monotonic():.0f}")
        self.lab.run("scancel", "--state=PENDING", *map(str, self.victims()))

    def victims(self) -> list[int]:
        """Return jobs that have not been ended yet: the last ones were submitted last."""
        last = self.bench.sizes.jobs - self.ended
        self.ended += CHURN
        return list(range(last - CHURN + 1, last + 1))

    def scrapes(self, subject: Subject) -> None:
        """Measure scrapes while nothing happens, and while a collection is under way."""
        series = subject.own()["slurm_exporter_metrics_exported"]
        self.row("series", series, "")
        for how, headers in (("plain", {}), ("gzip", {"Accept-Encoding": "gzip"})):
            until("quiet", subject.quiet)
            before = subject.cpu_s()
            fetches = [fetched(PORT, **headers) for _ in range(SCRAPES)]
            used = (subject.cpu_s() - before) / SCRAPES
            idle = statistics.median(took for _, took in fetches)
            self.row(f"a scrape, {how}, size", len(fetches[0][0]), "MB")
            self.row(f"a scrape, {how}, CPU", used, "s", self.targets.scrape_s)
            self.row(f"a scrape, {how}, wall", idle, "s")
            quickly = quarter([took for _, took in fetches])
            self.row(f"a scrape, {how}, wall, the first quartile", quickly, "s")
            busy = self.busy(subject, headers)
            during = f"a scrape, {how}, wall, during a collection"
            self.row(during, statistics.median(busy), "s", 2 * idle)
            self.row(f"{during}, the first quartile", quarter(busy), "s", 2 * quickly)
            self.row(f"{during}, the slowest", max(busy), "s")

    def busy(self, subject: Subject, headers: dict[str, str]) -> list[float]:
        """Return how long scrapes take while a collection is under way."""
        self.happen()
        until("a collection", lambda: subject.own()[UNDER_WAY])
        found: list[float] = []
        while not found or not subject.quiet():
            found.append(fetched(PORT, **headers)[1])
        return found

    def row(self, label: str, value: float, unit: str, target: float | None = None) -> None:
        """Write a figure down."""

        def shown(number: float) -> str:
            return (
                mb(number) if unit == "MB" else f"{number:.3f} {unit}" if unit else f"{number:.0f}"
            )

        self.bench.row(self.title, label, shown(value), f"≤ {shown(target)}" if target else "")
        # At once, too: the table comes at the end of some twenty minutes.
        print(f"{self.title}: {label}: {shown(value)}", file=sys.stderr, flush=True)
        name = "_".join(re.findall(r"[a-z]+", label.lower()))
        ending = {"MB": "bytes", "s": "s", "": "count"}[unit]
        size = f"{self.bench.sizes.nodes}_{self.bench.sizes.jobs}"
        self.bench.note(**{f"{self.source}_{size}_{name}_{ending}": value})


def measure(bench: Bench, targets: Targets, sources: list[str]) -> None:
    """Measure one size with each source."""
    sizes = bench.sizes
    with bench.lab(NEW, sizes.workers, f"CPUs={sizes.per_worker}") as lab:
        measured(lab, "allocate", sizes.running)
        measured(lab, "fill", sizes.jobs - sizes.running)
        ended = 0
        for source in sources:
            run = Run(bench, lab, source, targets, ended)
            run.measure()
            ended = run.ended


def main() -> None:
    """Measure and report."""
    cache = Path(os.environ.get("SHOAL_CACHE") or Path.home() / ".cache/shoal")
    settings = Settings(cache, Path("/nonexistent"), environment=dict(os.environ))
    parts = [p for p in os.environ.get("BENCH_PARTS", "").split(",") if p]
    sources = [one for one in parts if one in SOURCES] or list(SOURCES)
    names = [one for one in SIZES if one in parts] or list(SIZES)
    if os.environ.get("BENCH_QUICK"):
        names = ["small"]
    tables: dict[str, list[Row]] = {}
    figures: dict[str, float] = {}
    for sizes, targets in (SIZES[name] for name in names):
        bench = Bench(sizes, settings)
        began = time.monotonic()
        measure(bench, targets, sources)
        print(f"{sizes.nodes} nodes: {time.monotonic() - began:.0f} s", file=sys.stderr)
        tables |= bench.tables
        figures |= bench.figures
    report("exporter", tables, figures)


if __name__ == "__main__":
    main()
