"""One worker on every node that fits, while nodes come, go, and are cordoned; no job notices."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import pytest

from ..clusters import Object, wait_for
from .conftest import FORCE
from .jobs import PATIENCE_S
from .nodesets import Workers, stays, timed

pytestmark = pytest.mark.long
NODES = ("n0", "n1", "n2")
LEAVES = (
    "slurm-operator: Pod is pending termination: "
    "its node does not match its node selector or node affinity"
)
# Slurm gives a silent node up after that.
TIMEOUT_S = 15


@dataclass(frozen=True)
class Every:
    """Workers on every node with a label of their own."""

    workers: Workers

    @property
    def label(self) -> str:
        return f"example.org/{self.workers.name}"

    def fit(self, *nodes: str) -> None:
        """Let nodes fit."""
        self.workers.site.kubectl("label", "nodes", *nodes, f"{self.label}=yes")

    def unfit(self, *nodes: str) -> None:
        """Let nodes fit no more."""
        self.workers.site.kubectl("label", "nodes", *nodes, f"{self.label}-")

    def make(self, *nodes: str, **spec: object) -> None:
        """Make the NodeSet, with workers on these nodes."""
        if nodes:
            self.fit(*nodes)
        template = {"spec": {"nodeSelector": {self.label: "yes"}}}
        self.workers.ask(0, scalingMode="DaemonSet", template=template, **spec)
        self.workers.only(*nodes)
        self.workers.serve(len(nodes))

    def clear(self) -> None:
        """Take all away: workers of others may be called after nodes too."""
        site, name = self.workers.site, self.workers.name
        site.kubectl("annotate", "nodeset", name, f"{FORCE}=true")
        site.kubectl("delete", "nodeset", name)
        site.kubectl("uncordon", *NODES)
        site.kubectl("label", "nodes", "--all", f"{self.label}-")


@pytest.fixture
def every(workers) -> Iterator[Every]:
    """Give workers on nodes that fit, not made yet."""
    made = Every(workers)
    yield made
    made.clear()


@pytest.fixture
def another(workers) -> Iterator[Every]:
    """Give workers of another NodeSet."""
    made = Every(Workers(workers.site, f"{workers.name}too"))
    yield made
    made.clear()


def test_a_node_that_fits_has_its_worker_at_once_and_loses_it_after_its_job(every, record_property):
    workers = every.workers
    every.make("n0")
    with timed(record_property, "a node that comes to fit has a pod after"):
        every.fit("n1")
        wait_for("its pod", lambda: "n1" in workers.on_nodes(), timeout_s=PATIENCE_S)
    with timed(record_property, "and its worker serves after"):
        workers.serve(2)
    job = workers.start("n1")
    with timed(record_property, "an idle worker has left its node after"):
        every.unfit("n0", "n1")
        workers.only("n1")
    workers.drains("n1", LEAVES)
    stays("the worker with a job", lambda: "n1" in workers.on_nodes() and job.runs(), 3)
    with timed(record_property, "the busy one has left after its job by"):
        job.end()
        job.ended_well()
        workers.only()


def test_on_a_cordoned_node_the_worker_stays_and_is_renewed_once_another_can_come(
    every, record_property
):
    workers, site = every.workers, every.workers.site
    every.make("n0", "n1")
    job, old = workers.start("n1"), workers.uids()
    site.kubectl("taint", "nodes", "n0", f"{every.label}=yes:NoSchedule")
    site.kubectl("cordon", "n1")
    pod = workers.on_nodes()["n1"]["metadata"]["name"]
    cordoned = "slurm-operator: Node (n1) was cordoned, "
    workers.drains("n1", f"{cordoned}Pod ({site.cluster.namespace}/{pod}) must be cordoned")
    workers.renew("second")
    stays("both workers", lambda: workers.uids() == old and job.runs(), 4)
    job.end()
    job.ended_well()
    stays("both workers", lambda: workers.uids() == old, 4)
    with timed(record_property, "on a node without its taint it serves anew after"):
        site.kubectl("taint", "nodes", "n0", f"{every.label}:NoSchedule-")
        workers.renewed(old, "n0")
    assert workers.uids()["n1"] == old["n1"]
    with timed(record_property, "on an uncordoned node it serves anew after"):
        site.kubectl("uncordon", "n1")
        workers.renewed(old, "n1")


def test_a_node_that_another_nodeset_gets_keeps_its_worker_until_its_job_has_ended(
    every, another, record_property
):
    every.make("n0")
    another.make()
    job = every.workers.start("n0")
    every.unfit("n0")
    another.fit("n0")
    every.workers.drains("n0", LEAVES)
    stays("the job alone", lambda: job.runs() and not another.workers.pods(), 5)
    with timed(record_property, "the other NodeSet's worker serves after the job by"):
        job.end()
        job.ended_well()
        another.workers.only("n0")
        another.workers.serve(1)


def test_a_node_that_is_gone_is_forgotten_and_one_that_comes_has_its_worker_at_once(
    make_site, record_property
):
    site = make_site("every", f"SlurmdTimeout={TIMEOUT_S}")
    site.wait("controller/slurm", "restapi/slurm")
    workers, cluster = Workers(site, "every"), site.cluster
    workers.ask(0, scalingMode="DaemonSet", pruneSlurmNodeRecords="NodeNotFound")
    workers.only(*NODES)
    workers.serve(3)
    used = {site.pod_of(app)["spec"]["nodeName"] for app in ("slurmctld", "slurmrestd")}
    lost = next(node for node in NODES if node not in used)
    busy = next(node for node in NODES if node != lost)
    job, old = workers.start(busy), workers.uids()
    cluster.shoal("node stop", lost)
    try:
        site.kubectl("delete", "node", lost)
        with timed(record_property, "Slurm has forgotten the node after"):
            wait_for("Slurm to forget it", workers.nodes, lambda seen: lost not in seen, PATIENCE_S)
        assert {name: uid for name, uid in workers.uids().items() if name != lost} == {
            name: uid for name, uid in old.items() if name != lost
        }
        assert job.runs()
    finally:
        cluster.shoal("node start", lost)
    with timed(record_property, "a new node's worker serves after"):
        pod = wait_for(
            "its pod",
            lambda: workers.on_nodes().get(lost),
            lambda seen: seen and seen["metadata"]["uid"] != old[lost],
            PATIENCE_S,
        )
        workers.serve(3)
    record_property("its pod is made after", f"{younger_s(pod, cluster.get('node', lost)):g} s")
    assert job.runs()
    job.end()
    job.ended_well()


def younger_s(pod: Object, node: Object) -> float:
    """Return by how many seconds a pod is younger than its node."""
    made = (datetime.fromisoformat(one["metadata"]["creationTimestamp"]) for one in (pod, node))
    return (next(made) - next(made)).total_seconds()
