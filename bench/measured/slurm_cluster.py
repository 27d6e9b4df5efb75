"""A cluster of three nodes with the operator on it, for benches that run real Slurm."""

import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.cli.environment import settings
from shoal.host.run import Finished, run
from shoal.kube.objects import Object
from shoal.local import images
from shoal.local.api import Api
from shoal.local.bar import progress
from shoal.local.down import down
from shoal.local.up import Wanted, up

ROOT = Path(__file__).parents[2]
SLINKY = ROOT / "examples/slinky"
PATIENCE_S = 300.0
# The operator's probes and numbers are of no use here, and others may have the ports.
OPERATOR = ("-c", "from shoal.cli.operator import operator; operator()", "--no-enable-webhooks",
            "--no-leader-elect", "--health-addr=0", "--metrics-addr=0")  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A namespace of the cluster."""

    api: Api
    name: str

    def kubectl(self, *words: str, stdin: str | None = None, check: bool = True) -> Finished:
        """Run kubectl in here."""
        config = f"--kubeconfig={self.api.cluster.kubeconfig}"
        program = self.api.programs / "kubectl"
        words = (config, f"--namespace={self.name}", *words)
        return run(program, *words, stdin=stdin, check=check, timeout_s=PATIENCE_S)

    def runs(self, pod: str, *words: str) -> bool:
        """Say whether a command in a pod ends well."""
        return self.kubectl("exec", pod, "--", *words, check=False).code == 0

    def prepare(self, *more: Object) -> None:
        """Make the namespace, the keys, and `more`."""
        self.kubectl("create", "namespace", self.name)
        keys = {name: secrets.token_bytes(1024) for name in ("slurm.key", "jwt.key")}
        self.apply(json.dumps(secret("slurm-keys", keys)))
        for obj in more:
            self.apply(json.dumps(obj))

    def apply(self, text: str) -> None:
        """Apply objects."""
        self.kubectl("apply", "--filename=-", stdin=text)

    def remove(self) -> None:
        """Delete the namespace, and wait until nothing of it runs."""
        self.kubectl("delete", "namespace", self.name)


def secret(name: str, data: dict[str, bytes]) -> Object:
    """Return a Secret."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def until(look: Callable[[], object]) -> float:
    """Look until it is true; return when that was."""
    deadline = time.monotonic() + PATIENCE_S
    while not look():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S:g} s")
        time.sleep(0.05)
    return time.monotonic()


@contextmanager
def three_nodes(series: str) -> Iterator[Api]:
    """Give a cluster with the images of a series and a running operator; all of it goes after."""
    scratch = Path(tempfile.mkdtemp(prefix="shoal-bench-"))
    mine = replace(settings(), state=scratch / "state")
    wanted = Wanted("bench", nodes=3, images=images.named([*images.SLURM[series], "mariadb"]))
    api = up(mine, wanted, progress(sys.stderr))
    try:
        api.kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds/slinky"))
        with (scratch / "operator.log").open("wb") as log:
            config = f"--kubeconfig={api.cluster.kubeconfig}"
            operator = subprocess.Popen(
                [sys.executable, *OPERATOR, config], stdout=log, stderr=log, env=dict(os.environ)
            )
        try:
            yield api
        finally:
            operator.terminate()
            operator.wait()
    finally:
        down(mine, api.cluster)
        shutil.rmtree(scratch, ignore_errors=True)
