"""A container of a lab: an image's root with files of our own, and its daemon when it runs."""

import os
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shoal.host import processes
from shoal.host.processes import Process
from shoal.host.run import Finished, run

from .image import Image
from .space import Space, wait_for

# What slurmd needs without cgroups, and nothing else; of a user that is not root all go anyway.
CAPABILITIES = "-all,+setuid,+setgid,+chown,+kill"
DEVICES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}
STOP_S = 15.0
USERS = {"alice": 1001, "bob": 1002, "carol": 1003}


@dataclass(frozen=True)
class File:
    """A file that the container is given."""

    content: str | bytes
    owner: int = 0
    mode: int = 0o600


@dataclass(frozen=True)
class Wanted:
    """What is run: an image, its arguments, what it is given."""

    image: Image
    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, File] = field(default_factory=dict)
    memory_bytes: int = 0  # the most address space of each of its processes; 0: any


class Container:
    """One container; its root stays when its processes end."""

    def __init__(self, name: str, wanted: Wanted, space: Space) -> None:
        self.name, self.wanted, self.space = name, wanted, space
        self.process: subprocess.Popen[bytes] | None = None
        self.inside = Path("/run/containers", name)  # as the space names it
        self.folder = space.files / "containers" / name
        self.log = self.folder / "log"
        self._mount()

    @property
    def root(self) -> Path:
        """The container's root as this machine names it."""
        return self.folder / "root"

    def write(self, path: str, file: File) -> None:
        """Give it a file, or another content of one that it has."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        # A new file each time: slurmctld must never read half of one.
        scratch = target.with_name(f".{target.name}.new")
        content = file.content
        scratch.write_bytes(content.encode() if isinstance(content, str) else content)
        scratch.chmod(file.mode)
        os.chown(scratch, file.owner, file.owner)
        scratch.replace(target)

    # -- its daemon

    def start(self) -> None:
        """Start the image's entrypoint."""
        assert self.first() is None, f"{self.name} runs already"
        hostname = 'echo "$0" >/proc/sys/kernel/hostname && exec "$@"'
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *self.space.words(),
                    *("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child"),
                    *(f"--root={self.inside}/root", "--mount-proc"),
                    *("sh", "-c", hostname, self.name),
                    *self._as(self.wanted.image.user),
                    *self._environment(self.wanted.environment),
                    *self.wanted.image.entrypoint,
                    *self.wanted.arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_for(f"{self.name} to begin", self.first)

    def first(self) -> Process | None:
        """Return its first process while it runs, as this machine numbers it."""
        if self.process is None or self.process.poll() is not None:
            return None
        # nsenter, then unshare in the lab's PID namespace, then the container's own first one.
        for unshare in processes.children(self.process.pid):
            for pid in processes.children(unshare):
                return processes.find(pid)
        return None

    def stop(self) -> None:
        """End it as a kubelet would: ask, and wait."""
        self._signal_first(signal.SIGTERM)
        self.wait()

    def kill(self) -> None:
        """End all of it at once."""
        self._signal_first(signal.SIGKILL)
        self.wait()

    def freeze(self) -> None:
        """Stop all of its processes without their knowing."""
        for process in self._all():
            process.kill(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        for process in self._all():
            process.kill(signal.SIGCONT)

    def daemon(self) -> Process:
        """Return the newest process of the image's daemon; the first one may be a supervisor."""
        found = [p for p in self._all() if _program(p) == self.wanted.program]
        assert found, f"{self.name} does not run:\n{self.said()}"
        return found[-1]

    def said(self, lines: int = 20) -> str:
        """Return the end of its log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    # -- other programs

    def run(self, *words: str, user: str = "0:0", check: bool = True) -> Finished:
        """Run a program in the container's root, whether its daemon runs or not."""
        return run(
            *self.space.words(),
            *("chroot", f"--userspec={user}", f"{self.inside}/root"),
            *self._environment({}),
            *words,
            check=check,
        )

    def _as(self, user: str) -> Iterator[str]:
        uid, _, gid = user.partition(":")
        if self.wanted.memory_bytes:
            yield from ("prlimit", f"--as={self.wanted.memory_bytes}")
        yield from ("setpriv", f"--reuid={uid}", f"--regid={gid or uid}", "--clear-groups")
        yield f"--bounding-set={CAPABILITIES}"

    def _environment(self, more: Mapping[str, str]) -> Iterator[str]:
        yield from ("env", "-i", *self.wanted.image.environment)
        yield from (f"{name}={value}" for name, value in more.items())

    def _signal_first(self, signum: int) -> None:
        if first := self.first():
            first.kill(signum)

    def wait(self) -> None:
        """Wait until it has ended; what was told to and does not, is made to."""
        if self.process is None:
            return
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._signal_first(signal.SIGKILL)
            self.process.wait(STOP_S)

    def _all(self) -> list[Process]:
        found = [first] if (first := self.first()) else []
        for process in found:  # grows as children are found
            found += filter(None, map(processes.find, processes.children(process.pid)))
        return found

    # -- its root

    def _mount(self) -> None:
        for part in ("upper", "work", "root"):
            (self.folder / part).mkdir(parents=True)
        image = self.wanted.image
        options = (
            f"lowerdir={':'.join(reversed(image.layers))}",
            f"upperdir={self.inside}/upper",
            f"workdir={self.inside}/work",
        )
        # Relative paths, as mount(8) may pass each option in 256 characters.
        mount = ("mount", "-t", "overlay", "overlay", "-o", ",".join(options))
        self.space.run("env", f"--chdir={image.folder}", *mount, f"{self.inside}/root")
        for kind, part in (("proc", "proc"), ("sysfs", "sys")):
            self.space.run("mount", "-t", kind, "-o", "ro", kind, f"{self.inside}/root/{part}")
        folders = {path: path.stat() for path in (self.root / "run").iterdir() if path.is_dir()}
        for part, mode in (("run", "755"), ("tmp", "1777"), ("dev", "755")):
            memory = ("mount", "-t", "tmpfs", "-o", f"mode={mode}", "tmpfs")
            self.space.run(*memory, f"{self.inside}/root/{part}")
        # The image's own empty folders there, which its daemon counts on.
        for path, about in folders.items():
            path.mkdir()
            os.chown(path, about.st_uid, about.st_gid)
        self._fill()

    def _fill(self) -> None:
        for name, minor in DEVICES.items():
            os.mknod(self.root / "dev" / name, stat.S_IFCHR, os.makedev(1, minor))
            (self.root / "dev" / name).chmod(0o666)
        (self.root / "dev/shm").mkdir(mode=0o1777)
        (self.root / "dev/fd").symlink_to("/proc/self/fd")
        with (
            (self.root / "etc/passwd").open("a") as passwd,
            (self.root / "etc/group").open("a") as group,
        ):
            for name, uid in USERS.items():
                passwd.write(f"{name}:x:{uid}:{uid}::/tmp:/bin/sh\n")
                group.write(f"{name}:x:{uid}:\n")
        for path, file in self.wanted.files.items():
            self.write(path, file)


def _program(process: Process) -> str:
    try:
        return processes.name_of(process)
    except (FileNotFoundError, ProcessLookupError):
        return ""
