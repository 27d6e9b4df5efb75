"""Processes by identity: a pid alone may be somebody else's by now."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process of this boot; `started` is its start time in clock ticks, so reuse is seen."""

    pid: int
    started: int

    def alive(self) -> bool:
        """Say whether this very process still runs (a zombie does not)."""
        return find(self.pid) == self

    def kill(self, signum: int = signal.SIGKILL) -> None:
        """Send `signum`, to this very process or to none."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # The pidfd is held before we compare, so the pid cannot change hands in between.
            if self.alive():
                signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            return
        finally:
            os.close(handle)


def find(pid: int) -> Process | None:
    """Return the running process with `pid`."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may hold anything, so count from its end.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Process(pid, int(fields[19]))


def children(pid: int) -> list[int]:
    """Return the direct children of `pid`."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(word) for word in text.split()]


def name_of(process: Process) -> str:
    """Return the name of the file that `process` runs."""
    words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
    return Path(words[0].decode(errors="replace")).name


def memory_bytes(process: Process) -> int:
    """Return the memory that `process` alone keeps from others (its resident set)."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
