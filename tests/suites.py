"""Runs every test: suites side by side, as most of them wait for pods while others compute.

Each suite is a pytest of its own, with a log of its own. What fails is shown at the end, whole.
"""

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console

from shoal.cli.environment import settings

ROOT = Path(__file__).parents[1]
BUILT = "tests/local/test_built.py"
# More would be quicker on two quiet cores, and too slow for some waits on two noisy ones; and there
# are not enough inotify instances for the nodes of three.
AT_ONCE = 2
NEWS_EVERY_S = 30.0
# What `pytest -v` says of a test.
ENDED = re.compile(r" (?P<how>[A-Z]+) +\[ *(?P<percent>\d+)%\]$", re.MULTILINE)
FAILURES = re.compile(r"^=+ (?:ERRORS|FAILURES) =+$", re.MULTILINE)
WITHOUT_REPORT = 6000  # characters of a log that says nowhere what failed


@dataclass(frozen=True)
class Suite:
    """Tests that run one after the other, and may run beside all others."""

    name: str
    paths: tuple[str, ...]
    without: tuple[str, ...] = ()
    state: str = ""  # what its state folder has behind the usual name
    at_once: bool = False  # it needs nothing of what is built
    builds: bool = False  # the others wait for it


# The longest first, so that none is left to run alone at the end.
CLUSTERS = (
    Suite(
        "local",
        ("tests/local",),
        (
            *("tests/local/jail", "tests/local/nebius", "tests/local/slinky"),
            *("tests/local/workers", BUILT),
        ),
    ),
    Suite("slinky", ("tests/local/slinky",), state="-slinky"),
    Suite("workers", ("tests/local/workers",), state="-workers"),
    Suite("nebius", ("tests/local/nebius",), state="-nebius"),
    Suite("jail", ("tests/local/jail",), state="-jail"),
    Suite("contract", ("tests/contract", "tests/charts"), ("tests/contract/slurm",)),
    Suite("slurm", ("tests/contract/slurm",)),
)
BUILD = Suite("built", (BUILT,), at_once=True, builds=True)
# All that is in no other suite: a new folder of tests is in here by itself.
QUICK = Suite(
    "quick",
    ("tests",),
    tuple(path for suite in (BUILD, *CLUSTERS) for path in suite.paths),
    at_once=True,
)
SUITES = (BUILD, *CLUSTERS[:2], QUICK, *CLUSTERS[2:])


@dataclass(frozen=True)
class Counts:
    """How the tests of a suite ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        named = (("failed", self.failed), ("passed", self.passed), ("skipped", self.skipped))
        return ", ".join(f"{number} {word}" for word, number in named if number) or "no test"


@dataclass
class Running:
    """A suite under way, or at its end."""

    suite: Suite
    folder: Path
    process: subprocess.Popen[bytes] = field(init=False)
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        where = settings()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "pytest", "-m", "not long", *self.suite.paths),
                    *(f"--ignore={path}" for path in self.suite.without),
                    *("-v", "--durations=15", "--color=no", f"--junitxml={self.results}"),
                ],
                env={**where.environment, "SHOAL_STATE": f"{where.state}{self.suite.state}"},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # the terminal's Ctrl-C is for us alone
            )

    @property
    def log(self) -> Path:
        return self.folder / f"{self.suite.name}.log"

    @property
    def results(self) -> Path:
        return self.folder / f"{self.suite.name}.xml"

    def age(self) -> str:
        """Return how long it runs, in minutes."""
        return minutes(time.monotonic() - self.started)

    def far(self) -> str:
        """Return how far it is."""
        ended = list(ENDED.finditer(self.log.read_text(errors="replace")))
        failed = sum(one["how"] in ("FAILED", "ERROR") for one in ended)
        percent = ended[-1]["percent"] if ended else "0"
        return f"{self.suite.name} {percent}%" + (f" ({failed} failed)" if failed else "")

    def counts(self) -> Counts:
        """Return how its tests ended; one that ended without a result counts as a failed test."""
        try:
            found = ElementTree.parse(self.results).getroot().find("testsuite")
        except (OSError, ElementTree.ParseError):
            found = None
        if found is None:
            return Counts(failed=1)
        total, failures, errors, skipped = (
            int(found.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")
        )
        failed = failures + errors
        # pytest may also fail as a whole: a file that cannot be read, a fixture's end.
        return Counts(
            max(total - failed - skipped, 0),
            max(failed, int(self.process.returncode != 0)),
            skipped,
        )

    def trouble(self) -> str:
        """Return what its log says of failures."""
        text = self.log.read_text(errors="replace")
        if found := FAILURES.search(text):
            return text[found.start() :]
        return text[-WITHOUT_REPORT:]


def minutes(seconds: float) -> str:
    """Return a time as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Turns:
    """Which suites may run next, are under way, and wait."""

    def __init__(self, chosen: Sequence[Suite], begin: Callable[[Suite], Running]) -> None:
        self.waiting = list(chosen)
        self.running: list[Running] = []
        self._begin = begin
        self._built = not any(suite.builds for suite in chosen)

    def start(self) -> None:
        """Start what may run now, at most AT_ONCE at a time."""
        for suite in [s for s in self.waiting if self._built or s.at_once]:
            if len(self.running) < AT_ONCE:
                self.waiting.remove(suite)
                self.running.append(self._begin(suite))

    def ended(self) -> list[Running]:
        """Return those that have ended since; nothing starts that needs what could not be built."""
        found = [one for one in self.running if one.process.poll() is not None]
        for one in found:
            self.running.remove(one)
            if one.suite.builds and one.counts().failed:
                self.waiting = [suite for suite in self.waiting if suite.at_once]
            self._built = self._built or one.suite.builds
        return found

    def stop(self) -> None:
        """End all; not by SIGTERM, at which pytest leaves its clusters behind."""
        for one in self.running:
            one.process.send_signal(signal.SIGINT)
        for one in self.running:
            one.process.wait()


def run(turns: Turns, say: Callable[[str], None]) -> Iterator[Running]:
    """Run suites and tell now and then how far they are; give each at its end."""
    news = began = time.monotonic()
    try:
        while turns.waiting or turns.running:
            turns.start()
            time.sleep(0.5)
            yield from turns.ended()
            if time.monotonic() - news >= NEWS_EVERY_S and turns.running:
                news = time.monotonic()
                far = "   ".join(one.far() for one in turns.running)
                say(f"{minutes(news - began):>6}  {far}")
    finally:
        turns.stop()


def main() -> int:
    """Run the suites that are named, or all."""
    parser = argparse.ArgumentParser(description="Run every test, suites side by side.")
    parser.add_argument("suites", nargs="*", help=", ".join(suite.name for suite in SUITES))
    parser.add_argument("--logs", type=Path, help="a folder for the logs; else they go")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # A shell's background job ignores it, and so would every suite.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if unknown := set(options.suites) - {suite.name for suite in SUITES}:
        parser.error(f"there is no suite {', '.join(sorted(unknown))}")
    chosen = [suite for suite in SUITES if not options.suites or suite.name in options.suites]
    console = Console(markup=False, highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="shoal-suites-") as scratch:
        folder = options.logs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return report(chosen, lambda suite: Running(suite, folder), console.print)


def report(
    chosen: Sequence[Suite], begin: Callable[[Suite], Running], say: Callable[[str], None]
) -> int:
    """Run suites and say how they end; return the exit code."""
    began = time.monotonic()
    say(f"{len(chosen)} suites, {AT_ONCE} at a time: {', '.join(s.name for s in chosen)}")
    ended: list[Running] = []
    for one in run(Turns(chosen, begin), say):
        ended.append(one)
        since = minutes(time.monotonic() - began)
        say(f"{since:>6}  {one.suite.name} ends after {one.age()}: {one.counts()}")
    bad = [one for one in ended if one.counts().failed]
    for one in bad:
        say(f"\n{'#' * 10} {one.suite.name}\n{one.trouble()}")
    if missed := {s.name for s in chosen} - {one.suite.name for one in ended}:
        say(f"not run, as nothing could be built: {', '.join(sorted(missed))}")
    say(f"{sum((one.counts() for one in ended), Counts())} in {minutes(time.monotonic() - began)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
