"""A cluster's corner of the cgroup hierarchies: version 1 (or hybrid) and version 2 alike."""

import contextlib
import errno
import time
from collections.abc import Iterator
from pathlib import Path

REMOVAL_S = 15
ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "io", "hugetlb")
# Version 1 hierarchies that the kubelet and runc look for.
HIERARCHIES = (
    "cpu",
    "cpuacct",
    "cpuset",
    "memory",
    "devices",
    "freezer",
    "blkio",
    "pids",
    "hugetlb",
    "net_cls",
    "net_prio",
    "perf_event",
    "systemd",
)


def unified() -> bool:
    """Say whether this machine has version 2 alone."""
    return (ROOT / "cgroup.controllers").exists()


def group(tag: str, machine: str) -> str:
    """Name a machine's group, as the kubelet wants it."""
    return f"/shoal/{tag}/{machine}"


def ensure(tag: str, machine: str) -> tuple[str, ...]:
    """Make the machine's group with a child for its own programs; return that child's folders."""
    folders = []
    for hierarchy in _hierarchies():
        folder = hierarchy
        for name in ("shoal", tag, machine, "system"):
            if unified():
                _delegate(folder)
            folder = folder / name
            folder.mkdir(exist_ok=True)
            _inherit_cpuset(folder)
        folders.append(str(folder))
    return tuple(folders)


def machines(tag: str) -> set[str]:
    """Name the machines of the cluster `tag` that have a group."""
    folders = (hierarchy / "shoal" / tag for hierarchy in _used())
    return {
        group.name
        for folder in folders
        for group in (folder.iterdir() if folder.is_dir() else ())
        if group.is_dir()
    }


def clear(tag: str, machine: str) -> None:
    """Remove the groups of containers that went with the machine's power.

    A boot begins without them; a kubelet that finds some asks for their containers in vain, for
    seconds each.
    """
    for hierarchy in _used():
        top = hierarchy / group(tag, machine).lstrip("/")
        for child in top.iterdir() if top.is_dir() else ():
            if child.is_dir() and child.name != "system":
                _remove_tree(child)


def remove(tag: str) -> None:
    """Remove every group of the cluster `tag`, and ours when it was the last."""
    for hierarchy in _used():
        ours = hierarchy / "shoal"
        if (ours / tag).exists():
            _remove_tree(ours / tag)
        with contextlib.suppress(OSError):
            # Another cluster's group keeps it in use.
            ours.rmdir()


def _hierarchies() -> Iterator[Path]:
    if unified():
        yield ROOT
        return
    seen = set()
    for name in HIERARCHIES:
        path = (ROOT / name).resolve()  # cpu and cpuacct are often one
        if path.is_dir() and path not in seen:
            seen.add(path)
            yield path


def _used() -> Iterator[Path]:
    yield from _hierarchies()
    # On a hybrid machine runc puts containers into version 2 as well.
    if (ROOT / "unified").is_dir():
        yield ROOT / "unified"


def _delegate(folder: Path) -> None:
    offered = (folder / "cgroup.controllers").read_text().split()
    wanted = " ".join(f"+{name}" for name in CONTROLLERS if name in offered)
    (folder / "cgroup.subtree_control").write_text(wanted)


def _inherit_cpuset(folder: Path) -> None:
    # A version 1 cpuset begins empty and takes no process before it is filled.
    for name in ("cpuset.cpus", "cpuset.mems"):
        own = folder / name
        if not unified() and own.exists() and not own.read_text().strip():
            own.write_text((folder.parent / name).read_text())


def _remove_tree(folder: Path) -> None:
    for child in folder.iterdir():
        if child.is_dir():
            _remove_tree(child)
    deadline = time.monotonic() + REMOVAL_S
    while True:
        try:
            return folder.rmdir()
        except OSError as busy:
            # A killed process leaves its group a moment after it is gone for everybody else.
            if busy.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
