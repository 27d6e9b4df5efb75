"""What a process costs: its CPU, its memory, and how long its event loop stands still."""

import asyncio
import resource
import time
from dataclasses import dataclass
from pathlib import Path

BEAT_S = 0.01


def cpu_s() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory_bytes(name: str = "VmRSS") -> int:
    """Return this process' memory now (VmRSS), or the most it ever had (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


@dataclass
class Stalls:
    """The longest that the loop kept others waiting.

    By the wall, that contains what other processes took from us on a busy machine; by our own CPU
    time in the same stretch, it does not.
    """

    wall_s: float = 0.0
    own_s: float = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            wall, own = time.monotonic(), time.thread_time()
            await asyncio.sleep(BEAT_S)
            late = time.monotonic() - wall - BEAT_S
            self.wall_s = max(self.wall_s, late)
            self.own_s = max(self.own_s, min(late, time.thread_time() - own))

    def reset(self) -> None:
        """Begin anew."""
        self.wall_s = self.own_s = 0.0
