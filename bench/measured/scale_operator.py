"""An operator under measurement: any program that takes KUBECONFIG from its environment."""

import asyncio
import os
import shlex
import subprocess
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.host import processes

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 60.0
STOP_S = 30.0
QUIET_S = 3.0
# What an operator may spend in QUIET_S and still count as doing nothing.
QUIET_CPU_S = 0.15
# In a mount namespace of its own, the operator finds names in another file than everybody else.
# Every word is an exec, so the process that was started is the operator.
PRIVATE = (
    "setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
    "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"',
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """How an operator is started, and what it is given."""

    words: str
    kubeconfig: Path
    hosts: Path  # instead of /etc/hosts
    log: Path
    environment: Mapping[str, str]


class Operator:
    """One that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self._log = process, log

    def check(self) -> None:
        """Complain when it has ended."""
        if (code := self._process.poll()) is not None:
            said = self._log.read_text(errors="replace").splitlines()[-20:]
            raise RuntimeError("\n".join([f"the operator ended with code {code}", *said]))

    def cpu_s(self) -> float:
        """Return the CPU seconds of it and all that it started."""
        return cpu_s(self._process.pid)

    def memory_bytes(self) -> int:
        """Return its memory now, and that of what it started."""
        return sum(memory_bytes(pid, "VmRSS") for pid in family(self._process.pid))

    def peak_bytes(self) -> int:
        """Return the most memory that it had since the last look."""
        pid = self._process.pid
        peak = memory_bytes(pid, "VmHWM")
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # begin the peak anew
        return peak

    async def quiet(self) -> None:
        """Wait until it has next to nothing to do."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.check()
            before = self.cpu_s()
            await asyncio.sleep(QUIET_S)
            if self.cpu_s() - before <= QUIET_CPU_S:
                return

    def end(self) -> None:
        """End it as a kubelet would."""
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def started(command: Command) -> Operator:
    """Start an operator."""
    environment = {**command.environment, "KUBECONFIG": str(command.kubeconfig)}
    words = [*PRIVATE, str(command.hosts), *shlex.split(command.words)]
    with command.log.open("ab") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
    return Operator(process, command.log)


@asynccontextmanager
async def operator(command: Command) -> AsyncIterator[Operator]:
    """Run an operator for a block, from the moment that it has nothing more to do."""
    running = started(command)
    try:
        await asyncio.sleep(QUIET_S)
        await running.quiet()
        yield running
    finally:
        running.end()


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for one in found:
        found += processes.children(one)
    return found


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and all that it ever started."""
    used = 0
    for one in family(pid):
        try:
            stat = Path(f"/proc/{one}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # Its own, in the kernel, and the same of children that have ended.
        used += sum(int(word) for word in stat.rpartition(")")[2].split()[11:15])
    return used / TICKS


def memory_bytes(pid: int, name: str) -> int:
    """Return a line of a process' status, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:")), 0)
