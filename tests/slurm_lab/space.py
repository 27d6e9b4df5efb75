"""A place that vanishes: namespaces held by one process, which dies with whoever made them.

The kernel takes everything with that process: all others in its PID namespace, the mounts, the
files (they are in memory), the network and its veth. Nothing is left to clean up, whatever killed
the tests.
"""

import os
import subprocess
import time
from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeVar

from shoal.host import processes
from shoal.host.run import CommandError, run
from shoal.local.network import routed

T = TypeVar("T")

# For tests of networks (RFC 2544): never routed, and no cluster of `shoal local` is in here.
RANGE = IPv4Network("198.18.0.0/18")
NAMESPACES = ("--mount", "--net", "--ipc", "--uts")
PATIENCE_S = 10.0

HOSTNAME = "slurm-lab"
# As SIGCHLD is ignored, the kernel reaps what this first process adopts.
FIRST = f"""
set -e
mount -t tmpfs -o mode=755 tmpfs /run
ip link set lo up
echo {HOSTNAME} >/proc/sys/kernel/hostname
trap '' CHLD
exec sleep infinity
"""


class Space:
    """Namespaces of our own, with an address that this machine reaches."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise PermissionError("a Slurm lab makes namespaces and mounts: run the tests as root")
        # Asked for by a thread that ends, the signal would come then: make it in the main thread.
        self.holder = subprocess.Popen(
            [
                *("setpriv", "--pdeathsig", "KILL"),
                *("unshare", *NAMESPACES, "--pid", "--fork", "--kill-child", "--mount-proc"),
                *("sh", "-c", FIRST),
            ],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self.pid = self._first()
            self.files = Path(f"/proc/{self.pid}/root/run")
            self.network = self._connect()
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """The address of everything in here."""
        return str(self.network[2])

    def words(self, *more: str) -> list[str]:
        """Return what, put before a command, runs it in here."""
        return ["nsenter", f"--target={self.pid}", *NAMESPACES, "--pid", *more, "--"]

    def run(self, *words: str | Path) -> str:
        """Run a program of this machine in here."""
        return run(*self.words(), *words).stdout

    def close(self) -> None:
        """End everything in here."""
        self.holder.kill()
        self.holder.wait()

    def _first(self) -> int:
        """Wait for the first process, which says by its name that all is prepared."""

        def look() -> int:
            assert self.holder.poll() is None, "the namespaces could not be made"
            for pid in processes.children(self.holder.pid):
                if (found := processes.find(pid)) and processes.name_of(found) == "sleep":
                    return pid
            return 0

        return wait_for("the first process", look)

    def _connect(self) -> IPv4Network:
        # A link's name is the claim: the kernel gives it to one, and frees it with the namespace.
        taken = routed()
        for index, network in enumerate(RANGE.subnets(new_prefix=30)):
            if any(network.overlaps(other) for other in taken):
                continue
            link = f"slurmlab{index}"
            try:
                run("ip", "link", "add", link, "type", "veth",
                    "peer", "name", "eth0", "netns", str(self.pid))  # fmt: skip
            except CommandError as error:
                if "File exists" in error.said:
                    continue
                raise
            run("ip", "address", "add", f"{network[1]}/30", "dev", link)
            run("ip", "link", "set", link, "up")
            self.run("ip", "address", "add", f"{network[2]}/30", "dev", "eth0")
            self.run("ip", "link", "set", "eth0", "up")
            return network
        raise LookupError(f"every network in {RANGE} is in use on this machine")


def wait_for(what: str, look: Callable[[], T], patience_s: float = PATIENCE_S) -> T:
    """Look until the answer is true, and return it."""
    deadline = time.monotonic() + patience_s
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience_s:g} s for {what}; seen last: {seen!r}")
        time.sleep(0.02)
    return seen
