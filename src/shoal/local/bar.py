"""Progress as a bar on a terminal, as a plain log elsewhere; both remember how long parts took."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from .progress import Part

LOG_EVERY_S = 15.0
REFRESH_PER_S = 4
# A part that takes longer than it ever did is nearly done at best.
NEARLY = 0.99

DONE, STOPPED = "done in", "stopped after"


@dataclass
class Running:
    """One part under way, as last heard."""

    name: str
    expect_s: float
    started: float
    what: str = ""
    done: int = 0
    total: int = 0
    shown: float = 0.0

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        """Take note of what is being done."""
        self.what, self.done, self.total = what, done, total

    def fraction(self, now: float) -> float:
        """Return how far it is, by its own count or else by the time that it should take."""
        if self.total:
            return min(self.done / self.total, 1.0)
        return min((now - self.started) / self.expect_s, NEARLY) if self.expect_s else 0.0

    def left_s(self, now: float) -> float | None:
        """Return the seconds that are probably left, None when there is no telling."""
        elapsed = now - self.started
        if self.total and self.done:
            return elapsed * max(self.total - self.done, 0) / self.done
        # Later than expected says nothing about when it ends.
        return left if (left := self.expect_s - elapsed) > 0 else None

    def remaining(self, now: float) -> str:
        """Return `left_s` in words."""
        left = self.left_s(now)
        return "later than expected" if left is None else f"{clock(left)} left"


def clock(seconds: float) -> str:
    """Return `seconds` as minutes and seconds, 4:05."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


class Shown:
    """Parts that are shown somehow. Safe to use from several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.began = now()
        self.running: list[Running] = []
        self.lock = threading.RLock()
        self._parts: dict[str, float] = {}

    @property
    def parts(self) -> Mapping[str, float]:
        """The seconds that each part took that ended well, the last time it ran."""
        with self.lock:
            return dict(self._parts)

    @contextmanager
    def part(self, name: str, expect_s: float) -> Iterator[Part]:
        """Show `name` until the block ends."""
        now = self.now()
        running = Running(name, expect_s, started=now, shown=now)
        with self.lock:
            self.running.append(running)
            self.opened()
        ending = STOPPED
        try:
            yield self.voice(running)
            ending = DONE
        finally:
            with self.lock:
                took_s = self.now() - running.started
                self.running.remove(running)
                if ending is DONE:
                    self._parts[name] = took_s
                self.closed(running, f"{ending} {took_s:.1f} s")

    def voice(self, running: Running) -> Part:
        """Return what the part's own code speaks to."""
        return running

    def opened(self) -> None:
        """Show that a part began, the last of `running`."""
        raise NotImplementedError

    def closed(self, running: Running, how: str) -> None:
        """Show that a part ended, and how: well or not, and after how long."""
        raise NotImplementedError


class Log(Shown):
    """Lines for a file or a CI log: a part's start and end, and a sign of life in between."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(now)
        self.stream = stream
        self.idle = threading.Event()

    def opened(self) -> None:
        """Say that a part began, and about how long it takes."""
        running = self.running[-1]
        self.say(f"{running.name}: started, about {clock(running.expect_s)}")
        if len(self.running) == 1:
            # Work that says nothing for minutes still shows that it is alive.
            self.idle = threading.Event()
            threading.Thread(target=self.watch, args=(self.idle,), daemon=True).start()

    def closed(self, running: Running, how: str) -> None:
        """Say how long it took."""
        self.say(f"{running.name}: {how}")
        if not self.running:
            self.idle.set()

    def voice(self, running: Running) -> Part:
        """Return a part that looks at the clock each time it hears something."""
        return _Heard(self, running)

    def watch(self, idle: threading.Event) -> None:
        """Look at the clock until no part is left."""
        while not idle.wait(LOG_EVERY_S):
            self.tick()

    def tick(self) -> None:
        """Give each part a line that had none for a while."""
        now = self.now()
        with self.lock:
            for running in self.running:
                if now - running.shown >= LOG_EVERY_S:
                    running.shown = now
                    self.say(self.line(running, now))

    def line(self, running: Running, now: float) -> str:
        """Return what a part does, how far it is and how long it still takes."""
        what = running.what or "at work"
        return f"{running.name}: {what}, {running.fraction(now):.0%}, {running.remaining(now)}"

    def say(self, text: str) -> None:
        """Write one line, with the time since the beginning."""
        self.stream.write(f"[{clock(self.now() - self.began):>5}] {text}\n")
        self.stream.flush()


@dataclass(frozen=True)
class _Heard:
    log: Log
    running: Running

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        self.running.at(what, done, total)
        self.log.tick()


class Bars(Shown):
    """A live line for each part on a terminal; what is done stays as a line above them."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(now)
        self.console = console
        self.live: Live | None = None
        self.spinner = Spinner("dots")

    def opened(self) -> None:
        """Begin to draw with the first part."""
        if self.live is None:
            self.live = Live(
                get_renderable=self.table,
                console=self.console,
                refresh_per_second=REFRESH_PER_S,
                transient=True,
            )
            self.live.start()

    def closed(self, running: Running, how: str) -> None:
        """Leave a line, and stop drawing with the last part."""
        mark = ("✓", "green") if how.startswith(DONE) else ("✗", "red")
        self.console.print(Text.assemble(mark, f" {running.name}: {how}"))
        if not self.running and self.live is not None:
            self.live.stop()
            self.live = None

    def table(self) -> Table:
        """Return what is drawn: a row for each part under way."""
        now = self.now()
        table = Table.grid(padding=(0, 1), expand=True)
        for ratio in (0, 0, 0, 0, 0, 1):
            table.add_column(no_wrap=True, overflow="ellipsis", ratio=ratio or None)
        # No lock: the drawing thread holds rich's, and whoever ends a part asks for it inside ours.
        for running in tuple(self.running):
            fraction = running.fraction(now)
            table.add_row(
                self.spinner,
                Text(running.name, style="bold"),
                ProgressBar(total=1.0, completed=fraction, width=24),
                Text(f"{fraction:4.0%}"),
                Text(f"{clock(now - running.started)}, {running.remaining(now)}"),
                Text(running.what, style="dim"),
            )
        return table


def progress(stream: TextIO) -> Shown:
    """Return bars when `stream` is a terminal that can draw, else a plain log."""
    if stream.isatty():
        console = Console(file=stream)
        if not console.is_dumb_terminal:
            return Bars(console)
    return Log(stream)
