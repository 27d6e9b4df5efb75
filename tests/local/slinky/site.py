"""One namespace with a Slurm of one series, made from the examples and used as people use it."""

import base64
import json
import subprocess
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from ..clusters import PATIENCE_S, Done, Local, Object, run, wait_for
from .operator import ROOT, make_namespace

EXAMPLES = ROOT / "examples/slinky"
# v0.0.42 is the one version of the API that both series serve.
API = "v0.0.42"
NEWEST = "26.05"
SSH = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
       "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")  # fmt: skip
FULL = ("accounting/slurm", "controller/slurm", "restapi/slurm", "nodeset/worker",
        "loginset/login", "token/admin")  # fmt: skip


@dataclass(frozen=True)
class Site:
    """A namespace; `folder` is for files of this machine."""

    cluster: Local
    series: str
    folder: Path

    def kubectl(self, *words: str | Path, stdin: str = "", check: bool = True) -> Done:
        """Run kubectl in the namespace."""
        return self.cluster.kubectl(*words, stdin=stdin, check=check)

    # -- making it

    def keys(self, *words: str) -> None:
        """Make the keys as the examples say."""
        spaces = words or (self.cluster.namespace,)
        run(EXAMPLES / "keys", *spaces, env=self.cluster.shell)

    def mariadb(self) -> None:
        """Make the database."""
        self.kubectl(
            "create", "secret", "generic", "mariadb", "--from-literal=password=not-so-secret"
        )
        self.kubectl("apply", "--filename", EXAMPLES / "mariadb.yaml")

    def alice(self) -> None:
        """Let alice in by a key of hers."""
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key, env=self.cluster.shell)
        words = ("create", "configmap", "authorized-keys")
        self.kubectl(*words, f"--from-file=alice={self.key}.pub")

    @property
    def key(self) -> Path:
        """The private key that alice logs in with."""
        return self.folder / f"alice-{self.cluster.namespace}"

    def text(self, example: str) -> str:
        """Return an example, of this site's series."""
        return (EXAMPLES / f"{example}.yaml").read_text().replace(":26.05", f":{self.series}")

    def apply(self, example: str) -> None:
        """Apply an example."""
        self.kubectl("apply", "--filename=-", stdin=self.text(example))

    def delete(self, example: str) -> None:
        """Delete all that an example has made."""
        self.kubectl("delete", "--ignore-not-found", "--filename=-", stdin=self.text(example))

    def patch(self, what: str, spec: Object) -> None:
        """Change the spec of an object."""
        self.kubectl("patch", what, "--type=merge", f"--patch={json.dumps({'spec': spec})}")

    def wait(self, *what: str) -> None:
        """Wait until objects are Ready, as a user does."""
        words = ("wait", "--for=condition=Ready", f"--timeout={PATIENCE_S}s", *what)
        done = self.kubectl(*words, check=False)
        if done.code != 0:
            told = "\n".join(f"{each}: {self.condition(each)}" for each in what)
            pytest.fail(f"{done}\n{told}")

    def condition(self, what: str) -> Object:
        """Return the condition Ready of an object."""
        kind, _, name = what.partition("/")
        found = self.cluster.get(kind, name).get("status", {}).get("conditions", [])
        return next((c for c in found if c["type"] == "Ready"), {})

    # -- using it

    def run(self, *words: str, pod: str = "slurm-controller-0", check: bool = True) -> Done:
        """Run a command in a pod."""
        return self.kubectl("exec", pod, "--", *words, check=check)

    def idle(self, number: int, pod: str = "slurm-controller-0") -> None:
        """Wait until so many nodes could run a job."""
        words = ("sinfo", "--noheader", "--states=idle", "--format=%D")

        def look() -> int:
            said = self.run(*words, pod=pod, check=False).out.split()
            return sum(int(n) for n in said if n.isdecimal())

        wait_for(f"{number} idle nodes", look, lambda seen: seen >= number)

    def submit(self, *words: str, pod: str = "slurm-controller-0") -> str:
        """Submit a job as soon as slurmctld takes one, and return its number."""
        words = ("sbatch", "--parsable", "--output=/dev/null", *words)
        done = wait_for(
            "sbatch to be accepted",
            lambda: self.run(*words, pod=pod, check=False),
            lambda seen: seen.code == 0,
        )
        return done.out.strip()

    def state(self, job: str, pod: str = "slurm-controller-0") -> str:
        """Return a job's state, as slurmctld says it once it answers."""
        words = ("scontrol", "show", "job", job, "--oneliner")

        def look() -> str:
            said = self.run(*words, pod=pod, check=False).out
            return dict(f.partition("=")[::2] for f in said.split()).get("JobState", "")

        return wait_for(f"an answer on job {job}", look)

    def runs(self, job: str, pod: str = "slurm-controller-0") -> None:
        """Wait until a job runs."""
        wait_for(f"job {job} to run", lambda: self.state(job, pod), lambda seen: seen == "RUNNING")

    def completes(self, job: str, pod: str = "slurm-controller-0") -> None:
        """Wait until a job has ended well."""
        wait_for(
            f"job {job} to end", lambda: self.state(job, pod), lambda seen: seen == "COMPLETED"
        )

    def pod_of(self, app: str) -> Object:
        """Return the one pod of a program that is not going."""
        pods = self.cluster.get("pods", f"--selector=app.kubernetes.io/name={app}")
        (pod,) = [p for p in pods if "deletionTimestamp" not in p["metadata"]]
        found: Object = pod
        return found

    def ssh(self, *words: str) -> str:
        """Run a command as alice on the login node."""
        address = self.pod_of("login")["status"]["podIP"]
        done = subprocess.run(
            ["ssh", "-i", self.key, *SSH, f"alice@{address}", *words],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @cached_property
    def rest(self) -> str:
        """Where slurmrestd answers."""
        return f"http://{self.cluster.get('service', 'slurm-restapi')['spec']['clusterIP']}:6820"

    def secret(self, name: str, key: str) -> str:
        """Return an entry of a Secret."""
        return base64.b64decode(self.cluster.get("secret", name)["data"][key]).decode()

    def ask(self, path: str, token: str, user: str = "slurm") -> Any:
        """Ask slurmrestd."""
        headers = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token}
        request = urllib.request.Request(f"{self.rest}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)


def site(cluster: Local, series: str, name: str, folder: Path) -> Site:
    """Return a site in a namespace of its own."""
    mine = replace(cluster, namespace=name)
    make_namespace(mine, name)
    mine.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=60s")
    return Site(mine, series, folder)


def full(cluster: Local, series: str, folder: Path, name: str = "") -> Site:
    """Return a site with all there is, applied but not awaited."""
    made = site(cluster, series, name or f"full-{series.replace('.', '-')}", folder)
    made.keys()
    made.mariadb()
    made.alice()
    made.apply("login")
    return made


# Everything that the operator can have made has one of these programs as its name.
OURS = "app.kubernetes.io/name in (slurmctld,slurmd,slurmdbd,slurmrestd,login)"
KINDS = ("pods", "services", "deployments", "statefulsets", "configmaps", "secrets",
         "poddisruptionbudgets", "replicasets")  # fmt: skip


def made_by_us(site: Site) -> Sequence[str]:
    """Name what the operator has made in a namespace and is still there."""
    names = site.kubectl("get", ",".join(KINDS), f"--selector={OURS}", "--output=name").out
    tokens = site.kubectl("get", "secrets", "--output=name").out
    return [*names.split(), *(name for name in tokens.split() if "-jwt-" in name)]
