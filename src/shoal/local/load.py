"""Load images into the nodes' containerd."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..host import files
from ..host.run import run
from . import node
from .cluster import Cluster
from .errors import LocalError
from .images import Image
from .machine import Machine
from .progress import Part

CTR = ("ctr", "--namespace=k8s.io")


def load_everywhere(cluster: Cluster, images: Sequence[Image], part: Part) -> None:
    """Load `images` into every node that runs."""
    done = 0

    def one(name: str) -> None:
        nonlocal done
        load(cluster, name, images)
        done += 1
        part.at(f"loaded into {name}", done, len(cluster.node_names))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, cluster.node_names))


def load(cluster: Cluster, name: str, images: Sequence[Image]) -> None:
    """Load what node `name` does not have yet."""
    machine = Machine(cluster.node(name))
    socket = wait_for_containerd(machine)
    ctr = (*CTR[:1], f"--address={socket}", *CTR[1:])
    present = set(run(*ctr, "images", "list", "-q").stdout.split())
    # One archive may hold several images; each is imported once.
    for archive in dict.fromkeys(image.archive for image in images):
        names = {image.name for image in images if image.archive == archive}
        marker = machine.folder / "images" / archive.name
        if marker.exists() and names <= present:
            continue
        run(*ctr, "images", "import", archive, timeout_s=600)
        files.write(marker, "\n".join(sorted(names)) + "\n")


def load_archive(cluster: Cluster, archive: Path) -> None:
    """Load an image archive of the user's into every node."""
    for name in cluster.node_names:
        socket = wait_for_containerd(Machine(cluster.node(name)))
        run(*CTR, f"--address={socket}", "images", "import", archive, timeout_s=600)


def wait_for_containerd(machine: Machine, timeout_s: float = 30) -> Path:
    """Return where the host reaches the machine's containerd."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            socket = machine.path(node.SOCKET)
        except LookupError as gone:
            cure = f"`shoal local node start {machine.folder.name}`"
            raise LocalError(
                str(gone), f"{cure}, or look into {machine.logs}/machine.log"
            ) from gone
        if socket.exists() and run(
            "ctr", f"--address={socket}", "version", check=False, timeout_s=10
        ).code == 0:  # fmt: skip
            return socket
        if time.monotonic() > deadline:
            raise LocalError(
                f"containerd of {machine.folder.name} does not answer after {timeout_s:g} s",
                f"look into {machine.logs}/containerd.log",
            )
        time.sleep(0.1)
