"""Nodes of Kubernetes that are emptied, or fall silent, with jobs on their workers."""

import subprocess

import pytest

from ..clusters import is_ready, wait_for
from . import jobs, upheavals
from .jobs import PATIENCE_S
from .nodesets import Seen, stays, timed

pytestmark = pytest.mark.long
HELD = "broken fan"


@pytest.fixture
def node(plain):
    """Give a node without slurmctld, which takes pods again after the test."""
    taken = plain.pod_of("slurmctld")["spec"]["nodeName"]
    found = next(name for name in ("n0", "n1", "n2") if name != taken)
    yield found
    plain.kubectl("uncordon", found)


def test_a_node_is_emptied_after_its_jobs_and_an_admins_drain_is_kept(
    workers, node, plain, record_property
):
    at = {"nodeSelector": {"kubernetes.io/hostname": node}}
    workers.make(2, template={"spec": at})
    busy, held = workers.node(0), workers.node(1)
    words = ("scontrol", "update", f"nodename={held}", "state=drain", f"reason={HELD}")
    plain.run(*words)
    job, old = jobs.start(plain, busy), workers.uids()
    plain.kubectl("cordon", node)
    cordoned = f"slurm-operator: Node ({node}) was cordoned, "
    workers.drains(busy, f"{cordoned}Pod ({plain.cluster.namespace}/{busy}) must be cordoned")
    with timed(record_property, "the node is empty after the job by"), emptied(plain, node) as end:
        stays("the worker with a job", lambda: workers.uids()[busy] == old[busy] and job.runs(), 8)
        assert end.poll() is None
        job.end()
        job.ended_well()
        assert end.wait(PATIENCE_S) == 0
    assert workers.node_of(held).reason == HELD
    plain.kubectl("uncordon", node)
    with timed(record_property, "it serves again after"):
        workers.renewed(old, busy)
    wait_for("the other pod", lambda: is_ready(workers.pods()[held]), timeout_s=PATIENCE_S)
    stays("the admin's drain", lambda: workers.node_of(held) == Seen("drained", HELD))


def emptied(site, node) -> "subprocess.Popen[bytes]":
    """Empty a node of its workers, in the background."""
    words = (
        *("kubectl", "drain", node, "--delete-emptydir-data", "--force", "--ignore-daemonsets"),
        "--pod-selector=app.kubernetes.io/name=slurmd,slinky.slurm.net/cluster=slurm",
    )
    return subprocess.Popen(words, env=dict(site.cluster.shell), stdout=subprocess.DEVNULL)


def not_ready(site, node) -> bool:
    return node not in site.cluster.ready_nodes()


def test_a_kubelet_that_is_away_costs_no_job(workers, node, plain, record_property):
    at = {"nodeSelector": {"kubernetes.io/hostname": node}}
    workers.make(2, template={"spec": at})
    job, old = jobs.start(plain, workers.node(0)), workers.uids()
    with upheavals.away(plain.cluster, node, node, "kubelet"):
        with timed(record_property, "the node is not ready after"):
            wait_for("a silent node", lambda: not_ready(plain, node), timeout_s=PATIENCE_S)
        stays("the job", lambda: job.runs() and workers.uids() == old, 60)
    with timed(record_property, "the node is ready again after"):
        wait_for("the node", lambda: not not_ready(plain, node), timeout_s=PATIENCE_S)
    workers.serve(2)
    assert workers.uids() == old
    job.end()
    job.ended_well()


def test_a_node_without_its_cable_costs_no_job(workers, node, plain, record_property):
    at = {"nodeSelector": {"kubernetes.io/hostname": node}}
    workers.make(2, template={"spec": at})
    job, old = jobs.start(plain, workers.node(0)), workers.uids()
    plain.cluster.shoal("node partition", node)
    try:
        with timed(record_property, "the node is not ready after"):
            wait_for("a silent node", lambda: not_ready(plain, node), timeout_s=PATIENCE_S)
        stays("the job", lambda: job.runs() and workers.uids() == old, 60)
    finally:
        plain.cluster.shoal("node heal", node)
    with timed(record_property, "it serves again after"):
        wait_for("the node", lambda: not not_ready(plain, node), timeout_s=PATIENCE_S)
        workers.serve(2)
    assert workers.uids() == old
    job.end()
    job.ended_well()
