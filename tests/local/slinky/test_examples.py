"""Every other example comes up and runs a job."""

import base64

import pytest

from shoal.cli.environment import settings
from slurm_lab import Lab, provide, space
from slurm_lab.conf import Conf
from slurm_lab.lab import Options

from ..clusters import run, wait_for
from .site import EXAMPLES, NEWEST, site


def test_the_smallest_cluster_runs_a_job(newest):
    newest.keys()
    newest.apply("minimal")
    newest.wait("controller/slurm", "restapi/slurm", "nodeset/worker")
    newest.idle(2)
    assert len(newest.run("srun", "--nodes=2", "hostname").out.split()) == 2


def test_two_clusters_of_one_namespace_know_nothing_of_each_other(newest):
    for name in ("blue", "green"):
        newest.keys("--secret", f"{name}-keys", newest.cluster.namespace)
    newest.apply("two-clusters")
    newest.wait("nodeset/blue", "nodeset/green", "controller/blue", "controller/green")
    for name in ("blue", "green"):
        newest.idle(1, pod=f"{name}-controller-0")
        words = ("sinfo", "--noheader", "--Node", "--format=%N")
        assert newest.run(*words, pod=f"{name}-controller-0").out.split() == [f"{name}-0"]
        assert newest.run("srun", "hostname", pod=f"{name}-controller-0").out == f"{name}-0\n"


def test_a_restricted_namespace_takes_all_but_the_workers(operator, tmp_path):
    services = site(operator.cluster, NEWEST, "slurm-services", tmp_path)
    workers = site(operator.cluster, NEWEST, "slurm-workers", tmp_path)
    services.keys("slurm-services", "slurm-workers")
    run("kubectl", "apply", "--filename", EXAMPLES / "restricted.yaml", env=services.cluster.shell)
    services.mariadb()
    services.wait("accounting/slurm", "controller/slurm", "restapi/slurm")
    workers.wait("nodeset/worker", "restapi/slurm")
    services.idle(2)
    assert len(services.run("srun", "--nodes=2", "hostname").out.split()) == 2
    words = ("run", "refused", "--image=shoal/slurmd:26.05", "--privileged")
    assert "violates PodSecurity" in services.kubectl(*words, check=False).err
    for one in (services, workers):
        one.kubectl("delete", "namespace", one.cluster.namespace, "--wait=false")


@pytest.mark.long
def test_a_standby_serves_when_the_slurmctld_before_it_is_gone(newest):
    newest.keys()
    newest.apply("ha")
    newest.wait("controller/slurm", "nodeset/worker")
    newest.idle(2)
    job = newest.submit("--wrap=sleep 600", pod="worker-0")
    newest.runs(job, pod="worker-0")
    # No room for its successor, as where a node is lost.
    number = len(newest.cluster.get("pods"))
    newest.kubectl("create", "quota", "full", f"--hard=pods={number - 1}")
    newest.kubectl("delete", "pod", "slurm-controller-0")
    newest.submit("--wrap=hostname", pod="worker-0")
    assert newest.state(job, pod="worker-0") == "RUNNING"
    pods = {pod["metadata"]["name"] for pod in newest.cluster.get("pods")}
    assert "slurm-controller-0" not in pods
    newest.kubectl("delete", "quota", "full")


@pytest.fixture
def outside(operator, monkeypatch):
    """Give a slurmctld that runs on this machine, outside of Kubernetes."""
    address = operator.cluster.host
    # In this machine's own network, which pods reach and which reaches pods.
    monkeypatch.setattr(space, "NAMESPACES", ("--mount", "--ipc", "--uts"))
    monkeypatch.setattr(space.Space, "_connect", lambda _: None)
    monkeypatch.setattr(space.Space, "address", address)
    conf = Conf({"SlurmctldHost": f"slurmctld({address})"})
    with Lab(provide(NEWEST, settings()), Options(workers=0, conf=conf)) as lab:
        yield lab


def test_workers_join_a_slurmctld_outside_of_kubernetes(newest, outside):
    keys = {"slurm.key": outside.keys.slurm, "jwt.key": outside.keys.jwt}
    data = {name: base64.b64encode(key).decode() for name, key in keys.items()}
    newest.cluster.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "slurm-keys"}, "data": data}
    )
    text = newest.text("hybrid").replace("slurmctld.example.com", outside.space.address)
    newest.kubectl("apply", "--filename=-", stdin=text)
    newest.wait("controller/outside", "restapi/outside", "nodeset/worker")
    said = wait_for(
        "a job on both workers",
        lambda: outside.run("srun", "--nodes=2", "hostname", user="401:401", check=False),
        lambda seen: seen.code == 0,
    )
    assert sorted(said.stdout.split()) == ["worker-0", "worker-1"]
