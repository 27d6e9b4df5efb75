"""The operator as a process of this machine, with no more rights than its ServiceAccount has."""

import contextlib
import json
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ..clusters import Local, kill, run, wait_for

ROOT = Path(__file__).parents[3]
SPACE, ACCOUNT = "slurm-operator", "slurm-operator"
# What changes something in the cluster, of the numbers that the operator gives.
WRITES = "shoal_effects_total"


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as line:
        return int(line.getsockname()[1])


@dataclass
class Operator:
    """An operator that can be started, stopped and killed."""

    cluster: Local
    folder: Path
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)

    def start(self) -> None:
        """Start it, and wait until it has seen everything."""
        with (self.folder / "operator.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    "shoal", "operator", f"--kubeconfig={self.kubeconfig}",
                    "--no-enable-webhooks", "--no-leader-elect", "--log-level=debug",
                    f"--health-addr=127.0.0.1:{self.port}",
                    f"--metrics-addr=127.0.0.1:{self.metrics_port}",
                    *self.options,
                ],
                env=self.cluster.environment, stdout=log, stderr=log,
            )  # fmt: skip
        wait_for("the operator to be ready", self.ready)

    def stop(self) -> None:
        """Ask it to end."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def kill(self) -> None:
        """End it where it stands."""
        assert self.process is not None
        kill(self.process.pid)
        self.process.wait()

    def ready(self) -> bool:
        """Say whether it serves."""
        assert self.process is not None
        assert self.process.poll() is None, self.log()
        with contextlib.suppress(OSError, urllib.error.HTTPError):
            return bool(self._ask(self.port, "/readyz"))
        return False

    def writes(self) -> float:
        """Return how often it has changed something."""
        lines = self._ask(self.metrics_port, "/metrics").splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(WRITES))

    def log(self) -> str:
        """Return the end of its log."""
        return (self.folder / "operator.log").read_text()[-4000:]

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig of its ServiceAccount."""
        path = self.folder / "kubeconfig"
        if not path.exists():
            token = self.cluster.kubectl(
                f"--namespace={SPACE}", "create", "token", ACCOUNT, "--duration=6h"
            ).out.strip()
            whole = self.cluster.kubectl(
                "config", "view", "--raw", "--minify", "--flatten", "--output=json"
            ).out
            config = json.loads(whole)
            config["users"][0]["user"] = {"token": token}
            path.touch(mode=0o600)
            path.write_text(json.dumps(config))
        return path

    def _ask(self, port: int, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return str(answer.read().decode())


def install(cluster: Local) -> Operator:
    """Give the cluster the kinds, and an operator the rights that it has in production."""
    cluster.kubectl("apply", "--server-side", "--filename", ROOT / "deploy/crds/slinky")
    for name in wait_for_kinds(cluster):
        # No webhook serves here, and the API server would ask for one every second.
        none = '[{"op": "replace", "path": "/spec/conversion", "value": {"strategy": "None"}}]'
        cluster.kubectl("patch", name, "--type=json", f"--patch={none}")
    make_namespace(cluster, SPACE)
    cluster.kubectl(f"--namespace={SPACE}", "create", "serviceaccount", ACCOUNT)
    # In all namespaces, as a chart without `namespaces` has it.
    role = (ROOT / "deploy/rbac/watched.yaml").read_text()
    cluster.kubectl("apply", "--filename=-", stdin=role.replace("kind: Role", "kind: ClusterRole"))
    cluster.kubectl(
        "create", "clusterrolebinding", "slurm-operator",
        "--clusterrole=slurm-operator-watched", f"--serviceaccount={SPACE}:{ACCOUNT}",
    )  # fmt: skip
    return Operator(cluster, Path(tempfile.mkdtemp(prefix="shoal-operator-")))


def wait_for_kinds(cluster: Local) -> list[str]:
    """Wait until the API server serves the kinds of slinky.slurm.net; return their definitions."""
    kinds = sorted((ROOT / "deploy/crds/slinky").glob("*.yaml"))
    names = [f"crd/{kind.stem}.slinky.slurm.net" for kind in kinds]
    cluster.wait("condition=Established", *names)
    return names


def make_namespace(cluster: Local, name: str) -> None:
    """Make a namespace, unless it is there."""
    if not cluster.exists("namespace", name):
        cluster.kubectl("create", "namespace", name)


def load(cluster: Local, *names: str) -> None:
    """Load images of ours into every node."""
    done = run(*cluster.words("load", *names), env=cluster.environment, timeout_s=1500)
    if done.code != 0:
        pytest.fail(str(done))
