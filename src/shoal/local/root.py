"""The private root of a machine: the host's programs, and nothing else of the host.

What a node writes (a DaemonSet that installs a file, a kubelet) lands in the node's folder.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from .machine import BOOT_ID, Mount

# Names in / that are links into /usr on a merged system and folders of their own elsewhere.
PROGRAM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

# What a machine has in /dev, where the host has it: a node of its own for the same device, so that
# whatever is removed or changed in there is the host's no more. Patterns, not a list of what was
# found: a device that appears must not make the next `up` start every machine anew.
DEVICES = (
    *("null", "zero", "full", "random", "urandom", "tty"),
    "kmsg",  # the kubelet reads of processes that ran out of memory there
    *("fuse", "loop-control", "loop[0-9]*", "net/tun", "kvm"),
    *("nvidia*", "nvidia-caps/*", "dri/*", "kfd", "gdrdrv", "infiniband/*"),
)
DEVICE_LINKS: Mapping[str, str] = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


def links() -> tuple[Mapping[str, str], ...]:
    """Return the links that a machine has: those of the host's root, and those of /dev."""
    found = [name for name in PROGRAM_FOLDERS if Path("/", name).is_symlink()]
    return (
        *({"target": os.readlink(Path("/", name)), "path": name} for name in found),
        *({"target": to, "path": f"dev/{name}"} for name, to in DEVICE_LINKS.items()),
    )


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
        Mount("tmpfs", "tmpfs", "/dev", "mode=755,size=4m"),
        # Terminals of its own; 5 is the group tty wherever there is one.
        Mount("devpts", "devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=0620,gid=5"),
        Mount("tmpfs", "tmpfs", "/dev/shm", "mode=1777"),
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
