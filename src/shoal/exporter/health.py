"""How the exporter itself is: what its collectors do, how old what they tell is, what they cost."""

import os
import resource
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..kubeapi.errors import ApiError
from ..slurmapi.errors import (
    BadTokenError,
    ControllerDownError,
    DatabaseDownError,
    NotAllowedError,
    SlurmError,
    TimedOutError,
    UnreachableError,
)
from ..slurmapi.signatures import TokenError
from . import text
from .catalogue import NAMED, Collector
from .pages import Page

# The first that fits.
CAUSES: tuple[tuple[type[BaseException], str], ...] = (
    (TokenError, "token"),
    (BadTokenError, "token"),
    (NotAllowedError, "token"),
    (ControllerDownError, "slurmctld"),
    (DatabaseDownError, "slurmdbd"),
    (TimedOutError, "timeout"),
    (UnreachableError, "slurmrestd"),
    (SlurmError, "answer"),
    (ApiError, "kubernetes"),
    (TimeoutError, "timeout"),
)


def cause_of(error: BaseException) -> str:
    """Return what is at fault, in one word; what nobody foresaw is the program's fault."""
    return next((word for kind, word in CAUSES if isinstance(error, kind)), "program")


@dataclass
class Course:
    """How one collector fares."""

    inflight: int = 0
    errors: int = 0
    skipped: int = 0
    stale: int = 0
    took_s: float = 0.0
    succeeded_at: float = 0.0  # seconds since 1970: when what is served was asked for
    failing: str = ""  # the cause, while it fails
    ended: bool = False  # a run, well or not
    absent: bool = False  # what it reads is no part of this cluster


@dataclass
class Health:
    """The exporter's own numbers."""

    courses: dict[Collector, Course]
    attempts: int = 0
    failures: int = 0
    took_s: float = 0.0
    scrapes: int = 0
    source: str = ""
    unread: int = 0
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)  # family, code
    request_s: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, collectors: Iterable[Collector]) -> "Health":
        """Return the numbers of an exporter that has done nothing yet."""
        return cls({name: Course() for name in collectors})

    def requested(self, _method: str, family: str, code: int, seconds: float) -> None:
        """Take note of one request of slurmrestd; the shape of the client's `Observe`."""
        self.requests[family, str(code)] += 1
        self.request_s[family] += seconds  # type: ignore[assignment]

    def begun(self, name: Collector) -> None:
        """Take note that a run began."""
        self.attempts += 1
        self.courses[name].inflight += 1

    def done(self, name: Collector, took_s: float, error: BaseException | None) -> None:
        """Take note that a run ended."""
        course = self.courses[name]
        course.inflight -= 1
        course.took_s = self.took_s = took_s
        course.ended = True
        course.failing = cause_of(error) if error else ""
        if error:
            course.absent = False  # or nobody knows
            course.errors += 1
            self.failures += 1

    def told(self, page: Page) -> Iterator[str]:
        """Yield everything as text."""
        for name, value in (
            ("slurm_exporter_collection_duration_seconds", self.took_s),
            ("slurm_exporter_collection_attempts_total", self.attempts),
            ("slurm_exporter_collection_failures_total", self.failures),
            ("slurm_exporter_metrics_requests_total", self.scrapes),
            ("slurm_exporter_metrics_exported", page.series),
            ("slurm_exporter_jobs_unread", self.unread),
            *_process(),
        ):
            yield from text.family(NAMED[name], [((), value)])
        yield from self._of_collectors()
        if self.source:
            yield from text.family(NAMED["slurm_exporter_job_source"], [((self.source,), 1)])
        requests = NAMED["slurm_exporter_slurm_requests_total"]
        yield from text.family(requests, sorted(self.requests.items()))
        seconds = NAMED["slurm_exporter_slurm_request_seconds_total"]
        yield from text.family(seconds, (((f,), s) for f, s in sorted(self.request_s.items())))
        sizes = zip(("identity", "gzip"), page.sizes(), strict=True)
        yield from text.family(
            NAMED["slurm_exporter_exposition_bytes"], (((how,), size) for how, size in sizes)
        )

    def _of_collectors(self) -> Iterator[str]:
        for name, values in (
            ("duration_seconds", {n: c.took_s for n, c in self.courses.items() if c.ended}),
            ("errors_total", {n: c.errors for n, c in self.courses.items()}),
            ("inflight", {n: c.inflight for n, c in self.courses.items()}),
            ("skipped_total", {n: c.skipped for n, c in self.courses.items()}),
            ("stale_total", {n: c.stale for n, c in self.courses.items()}),
            (
                "last_success_timestamp_seconds",
                {n: c.succeeded_at for n, c in self.courses.items() if not c.absent},
            ),
            (
                "up",
                {
                    n: int(not c.failing)
                    for n, c in self.courses.items()
                    if c.ended and not c.absent
                },
            ),
            ("absent", {n: 1 for n, c in self.courses.items() if c.absent}),
        ):
            metric = NAMED[f"slurm_exporter_collector_{name}"]
            yield from text.family(metric, (((n.value,), value) for n, value in values.items()))
        yield from text.family(
            NAMED["slurm_exporter_collector_failing"],
            (((n.value, c.failing), 1) for n, c in self.courses.items() if c.failing),
        )


def _process() -> list[tuple[str, float]]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    folder, page_bytes = Path("/proc/self"), resource.getpagesize()
    found = [("process_cpu_seconds_total", used.ru_utime + used.ru_stime)]
    try:
        resident = int((folder / "statm").read_text().split()[1]) * page_bytes
        ticks = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
        booted = next(
            int(line.split()[1])
            for line in Path("/proc/stat").read_text().splitlines()
            if line.startswith("btime ")
        )
        files = len(os.listdir(folder / "fd"))
    except (OSError, StopIteration):
        return found  # a system without /proc
    started = booted + ticks / os.sysconf("SC_CLK_TCK")
    return [
        *found,
        ("process_resident_memory_bytes", resident),
        ("process_start_time_seconds", started),
        ("process_open_fds", files),
    ]
