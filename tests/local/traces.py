"""What clusters leave on a machine, as sets that can be compared before and after."""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

# What a kubelet would like to change, and what a router needs.
KERNEL_SETTINGS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
    "net/ipv4/ip_forward",
)


@dataclass(frozen=True)
class Traces:
    """Everything on this machine that a cluster could have made."""

    mounts: frozenset[str]
    links: frozenset[str]
    routes: frozenset[str]
    network_namespaces: frozenset[str]
    cgroups: frozenset[str]
    rules: frozenset[str]
    kernel_settings: frozenset[str]
    processes: frozenset[str]
    files: frozenset[str]

    def since(self, before: "Traces") -> dict[str, set[str]]:
        """Return what is there now and was not there before, and the reverse."""
        pairs = ((f.name, getattr(self, f.name) ^ getattr(before, f.name)) for f in fields(self))
        return {name: set(found) for name, found in pairs if found}

    def mentions(self, mark: str) -> set[str]:
        """Return everything in which `mark`, a number's tag or a folder, stands as a word."""
        word = re.compile(rf"(?<!\w){re.escape(mark)}(?!\w)")
        return {text for f in fields(self) for text in getattr(self, f.name) if word.search(text)}


def look(state: Path) -> Traces:
    """Look at this machine; `state` is the folder of the clusters that we mean."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return Traces(
        # Ids and the like change from one look to the next; the place and the kind do not.
        mounts=frozenset(" ".join(line.split()[3:5]) for line in mounts),
        links=frozenset(re.findall(r"^\d+: (\S+?)[@:]", said("ip", "-o", "link"), re.MULTILINE)),
        routes=frozenset(
            said("ip", "route", "show", "table", "all").splitlines()
            + said("ip", "rule").splitlines()
        ),
        network_namespaces=frozenset(path.name for path in inside(Path("/run/netns"))),
        cgroups=frozenset(
            str(path) for path in Path("/sys/fs/cgroup").rglob("*shoal*/**/") if path.is_dir()
        ),
        rules=frozenset(rule for kind in ("legacy", "nft") for rule in rules(kind)),
        kernel_settings=frozenset(
            f"{name}={Path('/proc/sys', name).read_text().strip()}" for name in KERNEL_SETTINGS
        ),
        processes=frozenset(processes(str(state))),
        # What another cluster of the folder does in its own is no concern of ours.
        files=frozenset(map(str, inside(state))),
    )


def said(*words: str) -> str:
    """Return what a program prints; nothing where there is no such program."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def inside(folder: Path) -> Iterable[Path]:
    return folder.iterdir() if folder.is_dir() else ()


def rules(kind: str) -> list[str]:
    """Return the firewall's rules; its counters and comments are left out."""
    lines = [
        line
        for family in ("iptables", "ip6tables")
        for line in said(f"{family}-{kind}-save").splitlines()
    ]
    return [re.sub(r"\[\d+:\d+\]", "", line) for line in lines if not line.startswith("#")]


def processes(word: str) -> Iterable[str]:
    """Return the processes that have `word` in their command line, or stand in such a folder."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            where = [str((folder / link).readlink()) for link in ("cwd", "root", "exe")]
        except OSError:  # it has ended, or is the kernel's
            continue
        if any(word in text for text in (line, *where)):
            yield f"{folder.name} {line}"
