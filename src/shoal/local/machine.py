"""A machine: a set of namespaces whose first process is ours and keeps its programs running.

Killing that first process is a power cut: the kernel ends every process of its PID namespace, and
with the last of them go the mounts.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..host import files, processes
from ..host.processes import Process
from ..host.run import run
from .errors import LocalError

# The CNI plugins and containerd look for iptables, runc and their like.
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Mount:
    """A mount in a private root; `kind` is a file system's name, `bind` or `rbind`."""

    kind: str
    source: str
    target: str
    options: str = ""
    readOnly: bool = False  # noqa: N815 - the Go program's field name


@dataclass(frozen=True)
class Program:
    """A program that is kept running, from the moment that the files `after` exist."""

    name: str
    argv: tuple[str, ...]
    log: str
    after: tuple[str, ...] = ()
    environment: tuple[str, ...] = (PATH,)


@dataclass(frozen=True)
class Config:
    """What the machine's first process is told."""

    hostname: str
    programs: tuple[Program, ...]
    log: str
    netns: str = ""  # empty: no namespace at all
    root: str = ""
    mounts: tuple[Mount, ...] = ()
    links: tuple[Mapping[str, str], ...] = field(default=())
    devices: tuple[str, ...] = ()  # patterns below the host's /dev
    cgroups: tuple[str, ...] = ()
    disk: str = ""  # a digest of the files on its disk: it starts anew when they change


@dataclass(frozen=True)
class Machine:
    """A machine that may or may not be running; `folder` is its disk."""

    folder: Path

    @property
    def logs(self) -> Path:
        """Where its programs log."""
        return self.folder / "log"

    def process(self) -> Process | None:
        """Return its first process while it runs."""
        try:
            saved = json.loads((self.folder / "process.json").read_text())
        except FileNotFoundError:
            return None
        found = Process(saved["pid"], saved["started"])
        # Start times count from boot, so they may repeat after the host's own reboot.
        return found if saved["boot"] == _boot_id() and found.alive() else None

    def ensure(self, program: Path, config: Config, prepare: Callable[[], None]) -> bool:
        """Start it as `config` says, after `prepare`; return whether it had to be (re)started."""
        path = self.folder / "machine.json"
        wanted = json.dumps(asdict(config), indent=1) + "\n"
        if self.process() and path.exists() and path.read_text() == wanted:
            return False
        self.cut_power()
        self.logs.mkdir(parents=True, exist_ok=True)
        prepare()
        files.write(path, wanted)
        pid = int(run(program, "boot", path).stdout)
        started = processes.find(pid)
        saved = {"pid": pid, "started": started.started if started else 0, "boot": _boot_id()}
        files.write(self.folder / "process.json", json.dumps(saved))
        return True

    def cut_power(self) -> None:
        """End everything in it, at once."""
        first = _started_with(self.folder / "machine.json")
        pids = [pid for process in first for pid in processes.children(process.pid)]
        programs = [program for pid in pids if (program := processes.find(pid))]
        for process in first:
            process.kill()
        # Without a PID namespace its programs end a moment later.
        wait_until_gone([*first, *programs])

    def inside(self) -> list[str]:
        """Return the words that, put before a command, run it in this machine."""
        process = self.process()
        if process is None:
            raise LookupError(f"{self.folder.name} is not running")
        namespaces = ("--mount", "--uts", "--ipc", "--net", "--pid")
        return ["nsenter", "--target", str(process.pid), *namespaces]

    def path(self, inside: str) -> Path:
        """Return how the host names the running machine's file `inside`."""
        process = self.process()
        if process is None:
            raise LookupError(f"{self.folder.name} is not running")
        return Path(f"/proc/{process.pid}/root") / inside.lstrip("/")

    def kept(self) -> tuple[str, ...]:
        """Name the programs that it was told to keep running."""
        try:
            told = json.loads((self.folder / "machine.json").read_text())
        except FileNotFoundError:
            return ()
        return tuple(program["name"] for program in told["programs"])

    def programs(self) -> dict[str, Process]:
        """Return those of its programs that run now, by name."""
        process, kept = self.process(), self.kept()
        if process is None:
            return {}
        found = {}
        for pid in processes.children(process.pid):
            # Its first process also adopts what others left behind, such as containers' shims,
            # and these may end while we look.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if (child := processes.find(pid)) and (name := processes.name_of(child)) in kept:
                    found[name] = child
        return found


def first_processes() -> dict[Process, Path]:
    """Find the first process of every machine here, whoever started it, and what it was told.

    They are known by their command line: whoever started one may have been killed before it was
    written down, and state folders do not know of each other.
    """
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            config = _config_of(path.read_bytes())
            if config and (process := processes.find(int(path.parent.name))):
                found[process] = config
    return found


def _config_of(line: bytes) -> Path | None:
    """Read the command line of a machine's first process, as `machine boot` gives it."""
    match line.split(b"\0"):
        case [b"/proc/self/exe", b"init", config, b""]:
            return Path(os.fsdecode(config))
        case _:
            return None


def _started_with(config: Path) -> list[Process]:
    return [process for process, told in first_processes().items() if told == config]


def wait_until_gone(ended: Sequence[Process], timeout_s: float = 20) -> None:
    """Wait until none of `ended` runs any more."""
    deadline = time.monotonic() + timeout_s
    while any(process.alive() for process in ended):
        if time.monotonic() > deadline:
            pids = [str(process.pid) for process in ended if process.alive()]
            raise LocalError(
                f"processes killed {timeout_s:g} s ago, and still there: {', '.join(pids)}",
                "they wait for a disk or a device: see /proc/PID/stack; try again after that",
            )
        time.sleep(0.02)


def _boot_id() -> str:
    return BOOT_ID.read_text().strip()
