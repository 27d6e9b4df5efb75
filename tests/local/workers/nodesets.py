"""A NodeSet that is a test's own, with a partition of its name."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ..clusters import Object, is_ready, wait_for
from ..slinky.site import Site
from .jobs import PATIENCE_S, Job, start

# A worker that could run a job at once.
SERVING = frozenset({"idle", "mixed", "allocated", "completing"})
# `idle*` is a node that does not answer.
STATE = re.compile(r"(?P<name>[^|]+)\|(?P<state>[^|]+)\|(?P<reason>.*)")
UPDATE = "slurm-operator: Pod is pending termination for update"
SCALE_IN = "slurm-operator: Pod is pending termination for scale-in"
HOSTNAME = "nodeset.slinky.slurm.net/pod-hostname"


@dataclass(frozen=True)
class Seen:
    """A node as Slurm has it."""

    state: str
    reason: str


@dataclass(frozen=True)
class Workers:
    """A NodeSet in a site."""

    site: Site
    name: str

    def node(self, number: int) -> str:
        """Return the name of a worker, in Slurm as in Kubernetes."""
        return f"{self.name}-{number}"

    def make(self, replicas: int, **spec: object) -> None:
        """Make it, and wait until all its workers serve."""
        self.ask(replicas, **spec)
        self.serve(replicas)

    def ask(self, replicas: int, **spec: object) -> None:
        """Make it, or make it like that."""
        asked = {
            "controllerRef": {"name": "slurm"},
            "replicas": replicas,
            "oversubscribeNode": True,  # several tests share three nodes
            "slurmd": {"image": f"shoal/slurmd:{self.site.series}"},
            "partition": {"enabled": True, "config": "MaxTime=UNLIMITED State=UP"},
            **spec,
        }
        kind = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet"}
        made = {**kind, "metadata": {"name": self.name}, "spec": asked}
        self.site.kubectl("apply", "--filename=-", stdin=json.dumps(made))

    def scale(self, replicas: int) -> None:
        """Ask for another number of workers, as people do."""
        self.site.kubectl("scale", f"nodeset/{self.name}", f"--replicas={replicas}")

    def renew(self, round_: str) -> None:
        """Ask for workers that differ from those there are."""
        told = {"template": {"metadata": {"annotations": {"example.org/round": round_}}}}
        self.site.patch(f"nodeset/{self.name}", told)

    def pods(self) -> Mapping[str, Object]:
        """Return its pods by name."""
        label = f"--selector=app.kubernetes.io/name=slurmd,app.kubernetes.io/instance={self.name}"
        return {pod["metadata"]["name"]: pod for pod in self.site.cluster.get("pods", label)}

    def on_nodes(self) -> Mapping[str, Object]:
        """Return its pods by what Slurm calls them."""
        return {called(pod): pod for pod in self.pods().values()}

    def uids(self) -> Mapping[str, str]:
        """Return its pods' uids by what Slurm calls them."""
        return {name: pod["metadata"]["uid"] for name, pod in self.on_nodes().items()}

    def start(self, node: str, *options: str) -> Job:
        """Return a job that runs on a node of its own until it is told to end."""
        pod = self.on_nodes()[node]["metadata"]["name"]
        return start(self.site, node, *options, partition=self.name, pod=pod)

    def nodes(self) -> Mapping[str, Seen]:
        """Return its nodes as Slurm has them; none when Slurm does not answer."""
        words = ("sinfo", "--noheader", "--Node", f"--partition={self.name}", "--format=%N|%T|%E")
        lines = self.site.run(*words, check=False).out.splitlines()
        found = (STATE.fullmatch(line.strip()) for line in lines)
        return {one["name"]: Seen(one["state"], one["reason"]) for one in found if one}

    def node_of(self, name: str) -> Seen:
        """Return a node as Slurm has it."""
        return self.nodes().get(name, Seen("", ""))

    def serve(self, number: int) -> None:
        """Wait until there are so many workers, and all of them could run a job."""
        wait_for(
            f"{number} workers of {self.name} that serve",
            lambda: (self.on_nodes(), self.nodes()),
            lambda seen: len(seen[0]) == number and _all_serve(*seen),
            PATIENCE_S,
        )

    def only(self, *names: str) -> None:
        """Wait until these workers are left, and no other."""
        wait_for(
            f"the workers {', '.join(names) or 'of nobody'} to be left",
            lambda: set(self.on_nodes()),
            lambda seen: seen == set(names),
            PATIENCE_S,
        )

    def renewed(self, old: Mapping[str, str], *names: str, state: str = "idle") -> None:
        """Wait until these workers are others than they were, and could run a job."""

        def is_new(name: str, pods: Mapping[str, Object], nodes: Mapping[str, Seen]) -> bool:
            pod = pods.get(name)
            if pod is None or pod["metadata"]["uid"] == old[name] or not is_ready(pod):
                return False
            # Slurm 24.11 keeps the reason of a drain that has ended.
            return name in nodes and nodes[name].state == state

        wait_for(
            f"{', '.join(names)} to serve anew",
            lambda: (self.on_nodes(), self.nodes()),
            lambda seen: all(is_new(name, *seen) for name in names),
            PATIENCE_S,
        )

    def drains(self, name: str, reason: str, state: str = "draining") -> None:
        """Wait until a busy worker takes no more jobs, for this reason."""
        wait_for(
            f"{name} to drain",
            lambda: self.node_of(name),
            lambda seen: seen == Seen(state, reason),
            PATIENCE_S,
        )


def called(pod: Object) -> str:
    """Return what Slurm calls a worker: its hostname, or its node's if it has that."""
    if pod["spec"].get("hostNetwork"):
        return str(pod["spec"].get("nodeName", pod["metadata"]["name"]))
    return str(pod["metadata"]["labels"][HOSTNAME])


def _all_serve(pods: Mapping[str, Object], nodes: Mapping[str, Seen]) -> bool:
    return all(
        is_ready(pod) and nodes.get(name, Seen("", "")).state in SERVING
        for name, pod in pods.items()
    )


def stays(what: str, look: Callable[[], object], seconds: float = 5) -> None:
    """Look for some time whether something stays true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert look(), f"{what}: no more"
        time.sleep(0.5)


def restarts(site: Site) -> Collection[int]:
    """Return how often slurmctld's containers were restarted."""
    return {s["restartCount"] for s in site.pod_of("slurmctld")["status"]["containerStatuses"]}


Record = Callable[[str, object], None]


@contextmanager
def timed(record: Record, what: str) -> Iterator[None]:
    """Record how many seconds something takes."""
    began = time.monotonic()
    yield
    record(what, f"{time.monotonic() - began:.1f} s")
