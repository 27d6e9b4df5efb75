"""The private root of a machine: the host's programs, and nothing else of the host.

What a node writes (a DaemonSet that installs a file, a kubelet) lands in the node's folder.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from .machine import BOOT_ID, Mount

# Names in / that are links into /usr on a merged system and folders of their own elsewhere.
PROGRAM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def links() -> tuple[Mapping[str, str], ...]:
    """Return the links of the host's root that a machine needs too."""
    found = [name for name in PROGRAM_FOLDERS if Path("/", name).is_symlink()]
    return tuple({"target": os.readlink(Path("/", name)), "path": name} for name in found)


def system() -> tuple[Mount, ...]:
    """Return the kernel's file systems and the host's program folders."""
    folders = [
        n for n in PROGRAM_FOLDERS if Path("/", n).is_dir() and not Path("/", n).is_symlink()
    ]
    return (
        Mount("proc", "proc", "/proc"),
        Mount("sysfs", "sysfs", "/sys"),
        # A fresh /sys shows the machine's own network, but has no cgroups.
        Mount("rbind", "/sys/fs/cgroup", "/sys/fs/cgroup"),
        Mount("rbind", "/dev", "/dev"),
        Mount("tmpfs", "tmpfs", "/run", "mode=755"),
        *(Mount("rbind", f"/{name}", f"/{name}", readOnly=True) for name in folders),
    )


def overlay(lower: str, folder: Path) -> Mount:
    """Show the host's folder `lower`, with all changes kept in `folder`."""
    upper, work = folder / "upper", folder / "work"
    upper.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    return Mount("overlay", "overlay", lower, options)


def disk(folder: Path, target: str) -> Mount:
    """Keep `target` in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    return Mount("bind", str(folder), target)


def file(source: Path, target: str) -> Mount:
    """Show one file of the host."""
    return Mount("bind", str(source.resolve()), target, readOnly=True)


def boot_id(source: Path) -> Mount:
    """Give the machine a boot id of its own: the kubelet reports it, and so a reboot is seen."""
    return Mount("bind", str(source), str(BOOT_ID))
