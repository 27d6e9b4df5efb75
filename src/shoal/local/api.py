"""Talk to a cluster's API server with its own kubectl, and ask whether it is ready."""

import http.client
import json
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..host.run import Finished, run
from . import claims, network
from .cluster import Cluster, Networked
from .errors import LocalError
from .machine import Machine

Object = dict[str, Any]


@dataclass(frozen=True)
class Api:
    """A cluster's API server as its administrator sees it."""

    cluster: Cluster
    programs: Path

    def running(self) -> bool:
        """Say whether the control plane's machine is on and its network in place."""
        place = self.cluster.place
        there = not isinstance(place, Networked) or (
            claims.owner(place.tag) == self.cluster.folder and network.has_link(None, place.tag)
        )
        return there and Machine(self.cluster.control_plane).process() is not None

    def check_running(self) -> None:
        """Refuse to talk to a cluster that is off: its addresses would lead out of this machine."""
        if not self.running():
            name = self.cluster.name
            raise LocalError(f"cluster {name} is not running", f"`shoal local up --name {name}`")

    def kubectl(self, *words: str, stdin: str | None = None, timeout_s: float = 60) -> Finished:
        """Run kubectl against this cluster, whatever the user's own configuration says."""
        self.check_running()
        config = f"--kubeconfig={self.cluster.kubeconfig}"
        return run(self.programs / "kubectl", config, *words, stdin=stdin, timeout_s=timeout_s)

    def apply(self, objects: Sequence[Object]) -> None:
        """Make the API server hold `objects`."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        # Without validation kubectl spares itself the whole OpenAPI document.
        self.kubectl(
            "apply", "--server-side", "--force-conflicts", "--validate=false", "-f", "-",
            "--field-manager=shoal-local", stdin=text,
        )  # fmt: skip

    def objects(self, kind: str, *words: str) -> list[Object]:
        """Return the objects of `kind`."""
        answer = json.loads(self.kubectl("get", kind, "-o", "json", *words).stdout)
        found: list[Object] = answer["items"]
        return found

    def ready(self) -> bool:
        """Say whether the API server serves everything it has."""
        if not self.running():
            return False
        where = urlsplit(self.cluster.server)
        context = ssl.create_default_context(cafile=str(self.cluster.pki / "ca.crt"))
        context.load_cert_chain(self.cluster.pki / "admin.crt", self.cluster.pki / "admin.key")
        assert where.hostname is not None
        line = http.client.HTTPSConnection(where.hostname, where.port, timeout=2, context=context)
        try:
            line.request("GET", "/readyz")
            return line.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            line.close()


def wait_until_ready(api: Api, timeout_s: float = 90) -> None:
    """Wait for the API server; when it does not come, say what its programs said last."""
    deadline = time.monotonic() + timeout_s
    machine = Machine(api.cluster.control_plane)
    while not api.ready():
        if time.monotonic() > deadline or machine.process() is None:
            raise LocalError(
                f"the API server of {api.cluster.name} is not ready after {timeout_s:g} s\n"
                f"{last_words(machine)}",
                f"look into {machine.logs}; `shoal local down` and `up` start afresh",
            )
        time.sleep(0.05)


def wait_for_nodes(api: Api, names: Sequence[str], timeout_s: float = 120) -> None:
    """Wait until the nodes `names` are Ready, or say why one is not."""
    deadline = time.monotonic() + timeout_s
    while late := sorted(set(names) - ready_nodes(api)):
        if time.monotonic() > deadline:
            machine = Machine(api.cluster.node(late[0]))
            raise LocalError(
                f"not Ready after {timeout_s:g} s: {', '.join(late)}\n{last_words(machine)}",
                f"look into {machine.logs}",
            )
        time.sleep(0.3)


def ready_nodes(api: Api) -> set[str]:
    """Name the nodes that are Ready since their last boot."""
    ready = set()
    for node in api.objects("nodes"):
        name, status = node["metadata"]["name"], node.get("status", {})
        conditions = {c["type"]: c["status"] for c in status.get("conditions", [])}
        # For a while after a power cut the API server still shows what was true before it.
        booted = api.cluster.node(name) / "boot-id"
        reported = status.get("nodeInfo", {}).get("bootID")
        if conditions.get("Ready") == "True" and booted.exists():
            ready |= {name} if booted.read_text().strip() == reported else set()
    return ready


def last_words(machine: Machine, lines: int = 8) -> str:
    """Return the ends of a machine's logs."""
    ends = []
    for path in sorted(machine.logs.glob("*.log")):
        tail = path.read_text(errors="replace").splitlines()[-lines:]
        ends += [f"--- {path}", *tail]
    return "\n".join(ends)
