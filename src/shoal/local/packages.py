"""What a local cluster needs of the distribution, installed where it is missing.

A command that is there already is left alone, whoever installed it.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..host import files
from ..host.lock import locked
from ..host.run import CommandError, run
from ..host.stream import stream
from .brought import executable
from .errors import LocalError
from .progress import Part, Progress
from .settings import Settings

# A user's PATH often lacks them, and root's after a plain `su`.
SBIN = (Path("/usr/local/sbin"), Path("/usr/sbin"), Path("/sbin"))

# Debian's place, then that of upstream's archive and of Docker, then Fedora's.
CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni"))
CNI_PLUGINS = ("ptp", "host-local", "portmap", "loopback")

POLICY = Path("/usr/sbin/policy-rc.d")
INSTALL_S = 40.0


@dataclass(frozen=True)
class Need:
    """Commands or files, and the Debian package that brings them."""

    package: str
    commands: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    plugins: tuple[str, ...] = ()


CLUSTER = (
    Need("containerd", ("containerd", "ctr", "containerd-shim-runc-v2")),
    Need("runc", ("runc",)),
    Need("containernetworking-plugins", plugins=CNI_PLUGINS),
    Need("iptables", ("iptables", "iptables-save", "iptables-restore")),
    Need("iproute2", ("ip",)),
    Need("util-linux", ("nsenter", "unshare")),
    Need("mount", ("mount", "umount")),
)
IMAGES = (
    Need("buildah", ("buildah",)),
    Need("mmdebstrap", ("mmdebstrap",)),
    # The images are Debian's; other distributions do not trust its keys unasked.
    Need("debian-archive-keyring", files=(Path("/usr/share/keyrings/debian-archive-keyring.gpg"),)),
)


def ensure(settings: Settings, progress: Progress, group: Sequence[Need]) -> None:
    """Have everything of `group`; install what is missing and start no service."""
    if not (lacking := missing(settings, group)):
        return
    _refuse(settings, lacking)
    with progress.part("packages", INSTALL_S) as part:
        lock = settings.cache / "packages.lock"
        with locked(lock, lambda: part.at("waiting for another process that installs some")):
            if lacking := missing(settings, group):
                with no_service_starts():
                    _install(settings, part, lacking)
    if lacking := missing(settings, group):
        raise LocalError(
            f"installed, but not found: {_names(lacking)}",
            f"look at `dpkg -L {lacking[0].package}`: is it on the PATH?",
        )


def missing(settings: Settings, group: Sequence[Need]) -> list[Need]:
    """Return what of `group` is not on this machine."""
    return [
        need
        for need in group
        if not all(find(settings, command) for command in need.commands)
        or not all(file.exists() for file in need.files)
        or (need.plugins and cni_folder() is None)
    ]


def find(settings: Settings, command: str) -> Path | None:
    """Return where `command` is, on the PATH or among the system's programs."""
    files_ = (folder / command for folder in (*settings.path, *SBIN))
    return next((file for file in files_ if executable(file)), None)


def cni_folder(folders: Sequence[Path] = CNI_FOLDERS) -> Path | None:
    """Return the folder that holds all CNI plugins which a node uses."""
    complete = (f for f in folders if all(executable(f / name) for name in CNI_PLUGINS))
    return next(complete, None)


def _names(needs: Sequence[Need]) -> str:
    words = [
        (*n.commands, *map(str, n.files), *(f"CNI plugin {p}" for p in n.plugins)) for n in needs
    ]
    return ", ".join(word for group in words for word in group)


def _refuse(settings: Settings, lacking: Sequence[Need]) -> None:
    """Raise where we cannot install anything, and say what to install by hand."""
    packages = " ".join(need.package for need in lacking)
    problem = f"this machine lacks some of: {_names(lacking)}"
    if find(settings, "apt-get") is None:
        raise LocalError(problem, f"there is no apt-get; install what Debian calls {packages}")
    by_hand = f"apt-get install --no-install-recommends {packages}"
    if os.geteuid() != 0:
        raise LocalError(problem, f"become root, or have it installed: {by_hand}")
    if settings.offline:
        raise LocalError(problem, f"drop the offline setting once, or install it: {by_hand}")


@contextmanager
def no_service_starts(policy: Path = POLICY) -> Iterator[None]:
    """Keep package scripts from starting or restarting services while the block runs.

    Debian asks /usr/sbin/policy-rc.d, and 101 means no. One that is there comes back as it was.
    Ours only speaks for this process, so it does no harm if we are killed before we remove it.
    """
    saved = policy.with_name(f"{policy.name}.before-shoal")
    _put_back(policy, saved)
    if os.path.lexists(policy):
        os.link(policy, saved, follow_symlinks=False)
    files.write(
        policy,
        "#!/bin/sh\n"
        "# shoal installs packages and wants no services started. Removed when it is done.\n"
        f"[ -d /proc/{os.getpid()} ] && exit 101\n"
        f'[ -x {saved} ] && exec {saved} "$@"\n'
        "exit 0\n",
        0o755,
    )
    try:
        yield
    finally:
        _put_back(policy, saved)


def _put_back(policy: Path, saved: Path) -> None:
    if os.path.lexists(saved):
        saved.replace(policy)
        # Two names of one file: rename does nothing then, and both stay.
        saved.unlink(missing_ok=True)
    elif policy.is_file() and "# shoal installs packages" in policy.read_text(errors="replace"):
        policy.unlink()


def _install(settings: Settings, part: Part, lacking: Sequence[Need]) -> None:
    apt = Apt(settings, part)
    packages = [need.package for need in lacking]
    try:
        if not apt.knows(packages):
            apt.update()
        try:
            apt.install(packages)
        except CommandError as error:
            # The lists are older than the mirror: the files that they name are gone.
            if apt.updated or not re.search(r"404 |Unable to fetch|Failed to fetch", error.said):
                raise
            apt.update()
            apt.install(packages)
    except CommandError as error:
        raise explain(error, packages) from error


class Apt:
    """apt-get, with its lines as progress."""

    def __init__(self, settings: Settings, part: Part) -> None:
        self.part = part
        self.updated = False
        self.done = 0
        self.total = 0
        folders = dict.fromkeys(map(str, (*settings.path, *SBIN, Path("/usr/bin"), Path("/bin"))))
        self.environment = {
            **settings.environment,
            "DEBIAN_FRONTEND": "noninteractive",
            "LC_ALL": "C",
            "NEEDRESTART_SUSPEND": "1",  # Ubuntu's hook that restarts services after an install
            "PATH": ":".join(folders),
        }

    def knows(self, packages: Sequence[str]) -> bool:
        """Say whether the package lists have a candidate for each."""
        done = run("apt-cache", "policy", *packages, env=self.environment)
        candidates = re.findall(r"^  Candidate: (?!\(none\))", done.stdout, re.MULTILINE)
        return len(candidates) == len(packages)

    def update(self) -> None:
        """Fetch the package lists."""
        self.part.at("fetching package lists")
        self.updated = True
        self._run("update")

    def install(self, packages: Sequence[str]) -> None:
        """Install `packages` and what they depend on."""
        self.part.at(f"installing {' '.join(packages)}")
        self._run("install", "-y", "--no-install-recommends", *packages)

    def _run(self, *words: str) -> None:
        # Somebody else's apt (a nightly upgrade) is waited for.
        options = ("-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0")
        stream("apt-get", *options, *words, line=self.line, env=self.environment)

    def line(self, text: str) -> None:
        """See a line of output."""
        if found := re.match(r"(\d+) upgraded, (\d+) newly installed", text):
            self.done, self.total = 0, 2 * (int(found[1]) + int(found[2]))
        elif text.startswith("Get:") and self.total:
            # Get:1 http://mirror/debian bookworm/main amd64 runc amd64 1.1.5 [2710 kB]
            self.part.at(f"downloading {text.split()[4]}")
        elif text.startswith(("Unpacking ", "Setting up ")):
            self.done += 1
            self.part.at(text.split(" (", maxsplit=1)[0].lower(), self.done, self.total)


# What apt says -> the problem and its cure, first match wins.
KNOWN = (
    (r"No space left|enough free space", "the disk is full", "free 1 GB of the system's disk"),
    (
        r"Could not get lock|Unable to acquire",
        "another package manager is at work",
        "wait until it is done",
    ),
    (r"dpkg was interrupted", "an earlier installation broke off", "run `dpkg --configure -a`"),
    (
        r"Could not resolve|Temporary failure|Could not connect|Failed to fetch|Unable to fetch",
        "the distribution's package mirror cannot be reached",
        "look at the network and at apt's proxy settings",
    ),
    (
        r"Unable to locate package|no installation candidate",
        "the distribution has no such package",
        "enable the component that has it (on Ubuntu: universe)",
    ),
)


def explain(error: CommandError, packages: Sequence[str]) -> LocalError:
    """Return what went wrong in words, with its cure."""
    by_hand = f"or install by hand: {' '.join(packages)}"
    for pattern, problem, cure in KNOWN:
        if re.search(pattern, error.said):
            return LocalError(f"{problem}\n{error}", f"{cure}, {by_hand}")
    return LocalError(f"packages cannot be installed\n{error}", f"see what apt says, {by_hand}")
