"""What this machine must be able to do, asked before anything is made."""

import ctypes
import os
import resource
import shutil
from pathlib import Path

from ..host.run import run
from .errors import LocalError
from .settings import Settings

LEAST_DISK_BYTES = 2 << 30
# linux/capability.h
CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_NET_ADMIN": 12, "CAP_SYS_CHROOT": 18, "CAP_MKNOD": 27}


def check(settings: Settings, *, networked: bool) -> None:
    """Raise LocalError for the first thing that is missing."""
    if networked:
        _root()
    for folder in (settings.state, settings.cache):
        _folder(folder)
        _disk(folder)
    if networked:
        _capabilities()
        _overlay(settings.state)
        _cgroups()


def watches(needed: int) -> None:
    """Raise LocalError unless this user may have `needed` more inotify instances.

    Without one a kubelet ends at once, again and again, and says so in its log alone.
    """
    libc = ctypes.CDLL(None)
    handles: list[int] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        while len(handles) < needed and (handle := libc.inotify_init1(os.O_CLOEXEC)) >= 0:
            handles.append(handle)
    finally:
        for handle in handles:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if len(handles) < needed:
        raise LocalError(
            f"this machine has {len(handles)} inotify instances left; it takes about {needed}",
            "`sysctl fs.inotify.max_user_instances=1024`, or have fewer nodes or clusters",
        )


def _folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise LocalError(
            f"{folder} cannot be made: {refused.strerror}",
            "set SHOAL_CACHE and SHOAL_STATE to folders of yours",
        ) from refused
    if not os.access(folder, os.W_OK):
        raise LocalError(
            f"{folder} cannot be written", "set SHOAL_CACHE and SHOAL_STATE to folders of yours"
        )


def _disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < LEAST_DISK_BYTES:
        raise LocalError(
            f"{folder} has {free >> 20} MiB free; a cluster needs {LEAST_DISK_BYTES >> 20}",
            "free some space, or set SHOAL_CACHE and SHOAL_STATE to folders on a larger disk",
        )


def _root() -> None:
    if os.geteuid() != 0:
        raise LocalError(
            "nodes need root: they are network, mount and PID namespaces",
            "run it with sudo, or use --control-plane-only, which any user can",
        )


def _capabilities() -> None:
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    missing = [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]
    if missing:
        raise LocalError(
            f"root without {', '.join(missing)}",
            "inside a container, start it privileged",
        )


def _overlay(state: Path) -> None:
    if "\toverlay\n" not in Path("/proc/filesystems").read_text():
        run("modprobe", "overlay", check=False)
    if "\toverlay\n" not in Path("/proc/filesystems").read_text():
        raise LocalError(
            "this kernel has no overlay file system, which containers and nodes stand on",
            "load it (modprobe overlay) or boot a kernel that has CONFIG_OVERLAY_FS",
        )
    kind = run("stat", "--file-system", "--format=%T", state).stdout.strip()
    if kind == "overlayfs":
        raise LocalError(
            f"{state} is on an overlay file system, and those do not stack",
            "set SHOAL_STATE to a folder on a real disk (in a container: a volume)",
        )


def _cgroups() -> None:
    root = Path("/sys/fs/cgroup")
    if not (root / "cgroup.controllers").exists() and not (root / "memory").is_dir():
        raise LocalError(
            f"no cgroups at {root}",
            "mount them: `mount -t cgroup2 cgroup2 /sys/fs/cgroup`",
        )
    if not os.access(root, os.W_OK):
        raise LocalError(f"{root} is read-only", "inside a container, start it privileged")
