"""The operator as a process of this machine, with no more rights than its ServiceAccount has."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ..clusters import Local, kill, run, wait_for

ROOT = Path(__file__).parents[3]
SPACE, ACCOUNT = "slurm-operator", "slurm-operator"
# What changes something, of the numbers that the operator gives, and the requests that say what.
COUNTED = re.compile(r"^shoal_(effects|api_requests)_total\{(.*)\} (\S+)$", re.MULTILINE)
READS = re.compile(r'verb="(get|list|watch)"')
# It finds slurmrestd by the cluster's DNS, as in a pod: its resolv.conf is another one. Its pid is
# the shell's, so that whoever ends the one ends the other.
INSIDE = ("unshare", "--mount", "sh", "-euc", 'mount --bind "$0" /etc/resolv.conf; exec "$@"')
# Of its numbers, those that tell whether it is stuck.
TELLING = re.compile(r"shoal_(passes_total|queue_keys|workers_busy|watch_fail|stuck).*(?<! 0\.0)$")


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
    profile_port: int = field(default_factory=free_port)

    def start(self) -> None:
        """Start it, and wait until it has seen everything."""
        with (self.folder / "operator.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *INSIDE, str(self.resolv_conf),
                    "shoal", "operator", f"--kubeconfig={self.kubeconfig}",
                    "--no-enable-webhooks", "--no-leader-elect", "--log-level=debug",
                    f"--health-addr=127.0.0.1:{self.port}",
                    f"--metrics-addr=127.0.0.1:{self.metrics_port}",
                    "--profile", f"--profile-addr=127.0.0.1:{self.profile_port}",
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

    def writes(self) -> Counter[str]:
        """Return how often it has changed something, by what is known of the change."""
        found = COUNTED.findall(self._ask(self.metrics_port, "/metrics"))
        numbers = {f"{what} {of}": int(float(n)) for what, of, n in found if not READS.search(of)}
        return Counter(numbers)

    def log(self) -> str:
        """Return the end of its log."""
        return (self.folder / "operator.log").read_text()[-4000:]

    def doing(self) -> str:
        """Return what it is at: how its queues and watches are, and where its passes wait."""
        try:
            numbers = self._ask(self.metrics_port, "/metrics").splitlines()
            stacks = self._ask(self.profile_port, "/debug/pprof/goroutine")
        except OSError as error:
            return str(error)
        return "\n".join([*filter(TELLING.match, numbers), stacks[:6000]])

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

    @property
    def resolv_conf(self) -> Path:
        """What a pod would have as its resolv.conf."""
        path = self.folder / "resolv.conf"
        if not path.exists():
            found = self.cluster.shoal("exec", "n0", "--", "cat", "/etc/resolv.conf").out
            path.write_text(f"{found}search cluster.local\n")
        return path

    def _ask(self, port: int, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return str(answer.read().decode())


def install(cluster: Local) -> Operator:
    """Return an operator with the rights that it has in production, for the kinds that it needs."""
    if not cluster.exists("namespace", SPACE):
        _install(cluster)
    return Operator(cluster, Path(tempfile.mkdtemp(prefix="shoal-operator-")))


def _install(cluster: Local) -> None:
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
    cluster.kubectl("apply", "--filename", ROOT / "deploy/rbac/everywhere.yaml")
    for part in ("watched", "everywhere"):
        cluster.kubectl(
            "create", "clusterrolebinding", f"slurm-operator-{part}",
            f"--clusterrole=slurm-operator-{part}", f"--serviceaccount={SPACE}:{ACCOUNT}",
        )  # fmt: skip


def wait_for_kinds(cluster: Local) -> list[str]:
    """Wait until the API server serves the kinds of slinky.slurm.net; return their definitions."""
    kinds = sorted((ROOT / "deploy/crds/slinky").glob("*.yaml"))
    names = [f"crd/{kind.stem}.slinky.slurm.net" for kind in kinds]
    established(cluster, *names)
    return names


def established(cluster: Local, *definitions: str) -> None:
    """Wait until the API server serves kinds."""
    # kubectl gives up on one that has no condition at all yet.
    words = ("wait", "--for=condition=Established", "--timeout=60s", *definitions)
    wait_for(
        "kinds to be served",
        lambda: cluster.kubectl(*words, check=False),
        lambda done: done.code == 0,
    )


def make_namespace(cluster: Local, name: str) -> None:
    """Make a namespace, unless it is there."""
    if not cluster.exists("namespace", name):
        cluster.kubectl("create", "namespace", name)


def load(cluster: Local, *names: str) -> None:
    """Load images of ours into every node."""
    done = run(*cluster.words("load", *names), env=cluster.environment, timeout_s=1500)
    if done.code != 0:
        pytest.fail(str(done))
