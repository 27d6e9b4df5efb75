"""Clusters of slurm.nebius.ai, made from the examples and used as people use them."""

import base64
import re
import subprocess
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

import jwt

from shoal.runtime import clock

from ..clusters import PATIENCE_S, Done, Local, Object, run, wait_for
from ..slinky.operator import ROOT, make_namespace
from ..slinky.site import SSH, Site
from ..workers.jobs import Job

EXAMPLES = ROOT / "examples/nebius"
OLDEST = "24.11"
CLUSTER = "slurmcluster/slurm"
SLURMCTLD = "slurm-controller-0"
LOGIN = "slurm-login-0"
WHOLE_S = 180.0  # as long as a whole cluster may take on a slow machine
SOMEBODYS_KEY = re.compile(r"ssh-ed25519 \S+ you@example.com")
# Each runs until its file is there. All pods see it, as homes are in the jail.
UNTIL_TOLD = "--wrap=while [ ! -e /home/end-$SLURM_JOB_ID ]; do sleep 0.2; done"
SACCT = ("sacct", "--allocations", "--noheader", "--parsable2")


class Working(Job):
    """A job in the jail that runs until it is told to end."""

    def end(self) -> None:
        """Let it end."""
        self.site.run("touch", f"/mnt/jail/home/end-{self.number}")


@dataclass(frozen=True)
class Rooted(Site):
    """A namespace whose clusters have a shared root."""

    # -- making it

    def text(self, example: str) -> str:
        """Return an example, of this site's series and with a key of this site's."""
        text = (EXAMPLES / f"{example}.yaml").read_text()
        for mark in (":{}", 'tag: "{}"'):
            text = text.replace(mark.format("26.05"), mark.format(self.series))
        return SOMEBODYS_KEY.sub(self.public_key, text)

    @property
    def public_key(self) -> str:
        """What root, and alice, are let in by."""
        if not self.key.exists():
            words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
            run(*words, env=self.cluster.shell)
        return self.key.with_name(f"{self.key.name}.pub").read_text().strip()

    def change(self, spec: Object, name: str = "slurm") -> None:
        """Change the spec of a cluster."""
        self.patch(f"slurmcluster/{name}", spec)

    def workers(self, spec: Object) -> None:
        """Change what is asked of the cluster's own workers."""
        self.change({"slurmNodes": {"worker": spec}})

    def available(self, *names: str, timeout_s: float = WHOLE_S) -> None:
        """Wait until clusters are Available, with their present spec."""
        for name in names or ("slurm",):
            wait_for(
                f"{name} to be available",
                lambda name=name: self.told(name),
                lambda seen: seen["phase"] == "Available" and seen["current"],
                timeout_s,
            )

    def told(self, name: str = "slurm") -> Object:
        """Return the phase of a cluster, whether it is of its present spec, and what is amiss."""
        obj = self.cluster.get("slurmcluster", name)
        status = obj.get("status", {})
        conditions = status.get("conditions", [])
        generation = obj["metadata"]["generation"]
        return {
            "phase": status.get("phase", ""),
            "current": {c.get("observedGeneration") for c in conditions} == {generation},
            "amiss": [f"{c['type']}: {c['message']}" for c in conditions if c["status"] != "True"],
        }

    def part(self, type_: str, name: str = "slurm") -> Object:
        """Return a condition of a cluster."""
        found = self.cluster.get("slurmcluster", name).get("status", {}).get("conditions", [])
        return next((c for c in found if c["type"] == type_), {})

    def named(self, *kinds: str) -> set[str]:
        """Name all objects of some kinds."""
        return set(self.kubectl("get", ",".join(kinds), "--output=name").out.split())

    def pods(self) -> dict[str, Object]:
        """Return the pods that are not over, by name."""
        found = self.cluster.get("pods")
        return {
            pod["metadata"]["name"]: pod
            for pod in found
            if pod["status"].get("phase") not in ("Succeeded", "Failed")
        }

    def uids(self) -> dict[str, str]:
        """Return the uids of the pods that are not over."""
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    def warnings(self, name: str = "slurm") -> list[tuple[str, str, int]]:
        """Return what was told of a cluster: why, in which words, and how often."""
        chosen = "--field-selector=involvedObject.kind=SlurmCluster,type=Warning"
        found = self.cluster.get("events", chosen)
        found.sort(key=lambda event: str(event.get("eventTime") or event["firstTimestamp"]))
        return [
            (event["reason"], event["message"], event.get("series", {}).get("count", 1))
            for event in found
            if event["involvedObject"]["name"] == name
        ]

    def only_workers(self, *names: str) -> None:
        """Wait until these pods of workers are left, and no other."""
        wait_for(
            f"the workers {', '.join(names) or 'of nobody'} to be left",
            lambda: {name for name in self.pods() if "-worker-" in name},
            lambda seen: seen == set(names),
        )

    # -- using it

    @cached_property
    def rest(self) -> str:
        """Where slurmrestd answers."""
        return f"http://{self.cluster.get('service', 'slurm-rest-svc')['spec']['clusterIP']}:6820"

    def hire(self) -> None:
        """Make a user in the jail who has the key of this site."""
        script = (
            "id -u alice >&/dev/null || useradd --create-home --shell /bin/bash alice;"
            "install -d -o alice -m 700 /home/alice/.ssh;"
            f"echo '{self.public_key}' >/home/alice/.ssh/authorized_keys;"
            "chown alice /home/alice/.ssh/authorized_keys"
        )
        self.ssh(script, user="root")

    def ssh(self, *words: str, user: str = "alice") -> str:
        """Run a command on the login node, by its Service."""
        address = self.cluster.get("service", "slurm-login-svc")["spec"]["clusterIP"]

        def try_it() -> Done:
            line = ("ssh", "-i", str(self.key), *SSH, "-o", "LogLevel=ERROR", f"{user}@{address}")
            done = subprocess.run(
                [*line, *words], capture_output=True, text=True, timeout=120, check=False
            )
            return Done(line, done.returncode, done.stdout, done.stderr)

        # A Service leads to a pod that has just become ready a moment later.
        done = wait_for("sshd to answer", try_it, lambda seen: seen.code != 255)
        assert done.code == 0, str(done)
        return done.out

    def root(self, pod: str = "slurm-worker-0") -> str:
        """Return what the jail is called where it is not the root."""
        return self.run("stat", "--format=%d:%i", "/mnt/jail", pod=pod).out.strip()

    def start(self, node: str, *options: str) -> Working:
        """Return a job that runs on a node until it is told to end."""
        number = self.submit(f"--nodelist={node}", "--chdir=/", *options, UNTIL_TOLD)
        self.runs(number)
        found = Working(self, number, node, "", node)
        return replace(found, began=found.fields()["StartTime"])

    def node(self, name: str, pod: str = SLURMCTLD) -> str:
        """Return a node's state and the reason for it, as slurmctld has them; none: no answer."""
        words = ("sinfo", "--noheader", "--Node", f"--nodes={name}", "--format=%T|%E")
        return self.run(*words, pod=pod, check=False).out.partition("\n")[0].strip()

    def accounted(self, number: str, told: str, fields: str = "State") -> None:
        """Wait until accounting says this of a job."""
        words = (*SACCT, f"--jobs={number}", f"--format={fields}")
        wait_for(
            f"accounting to know job {number}",
            lambda: self.run(*words, check=False),
            lambda done: done.out.strip() == told,
        )

    def token(self, user: str, name: str = "slurm") -> str:
        """Return a token that is signed with the cluster's key, as docs/nebius.md has it."""
        key = self.cluster.get("secret", f"{name}-rest-jwt-key")["data"]
        (held,) = key.values()
        now = clock.now()
        claims = {"sun": user, "iat": now, "exp": now + timedelta(minutes=10)}
        return jwt.encode(claims, base64.b64decode(held), algorithm="HS256")


def site(cluster: Local, series: str, name: str, folder: Path) -> Rooted:
    """Return a site in a namespace of its own."""
    mine = replace(cluster, namespace=name)
    make_namespace(mine, name)
    mine.kubectl("wait", "--for=create", "serviceaccount/default", f"--timeout={PATIENCE_S}s")
    return Rooted(mine, series, folder)
