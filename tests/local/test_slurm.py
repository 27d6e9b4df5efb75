"""Real Slurm as plain pods on three nodes, and each image's daemon started once, in both series."""

import json
import socket
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from shoal.local import images

from .clusters import Local, run, wait_for

ROOT = Path(__file__).parents[2]
# v0.0.42 is the one version of the API that both series serve.
API = "v0.0.42"


@dataclass(frozen=True)
class Slurm:
    """A Slurm of one series, and what the example said when it ran its job there."""

    series: str
    cluster: Local
    said: str

    def run(self, pod: str, *words: str) -> str:
        """Run a command in one of its pods."""
        return self.cluster.kubectl("exec", pod, "--", *words).out

    def start(self, daemon: str, **spec: Any) -> None:
        """Start one more pod of ours, with Slurm's key, and wait until it is ready."""
        keys = {"secret": {"name": "keys", "items": [{"key": "slurm.key", "path": "slurm.key"}]}}
        container = {
            "name": daemon,
            "image": f"shoal/{daemon}:{self.series}",
            "volumeMounts": [{"name": "etc", "mountPath": "/etc/slurm"}],
            **spec,
        }
        volume = {"name": "etc", "projected": {"defaultMode": 0o600, "sources": [keys]}}
        self.cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": daemon},
                "spec": {
                    "containers": [container],
                    "volumes": [volume],
                    "terminationGracePeriodSeconds": 5,
                },
            }
        )
        self.cluster.wait("condition=Ready", f"pod/{daemon}")


@pytest.fixture(scope="module", params=list(images.SERIES))
def slurm(request, t3):
    """Give a Slurm on `t3` that has run the example's job."""
    series = request.param
    t3.shoal("load", *images.SLURM[series], "mariadb", timeout_s=1500)
    mine = replace(t3, namespace=f"slurm-{series.replace('.', '-')}")
    said = run(ROOT / "examples/by-hand/run", series, env=t3.shell).out
    yield Slurm(series, mine, said)
    t3.kubectl("delete", "namespace", mine.namespace, "--wait=false")


def test_a_job_on_two_workers_on_two_nodes_completes_and_accounting_knows_it(slurm):
    pods = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in slurm.cluster.get("pods")}
    assert pods["slurmd-0"] != pods["slurmd-1"]
    (job,) = [line.split() for line in slurm.said.splitlines() if " COMPLETED " in line]
    assert job[2:] == ["2", "COMPLETED", "0:0"]
    assert f" {slurm.series}." in slurm.run("slurmctld", "scontrol", "--version")


def test_slurmrestd_answers_whoever_has_a_token_of_slurmctlds(slurm):
    token = slurm.run("slurmctld", "scontrol", "token", "username=slurm").strip().partition("=")[2]
    address = slurm.cluster.get("service", "slurmrestd")["spec"]["clusterIP"]
    ask = urllib.request.Request(
        f"http://{address}:6820/slurm/{API}/nodes",
        headers={"X-SLURM-USER-NAME": "slurm", "X-SLURM-USER-TOKEN": token},
    )
    with urllib.request.urlopen(ask, timeout=20) as answer:
        body = json.load(answer)
    assert body["errors"] == []
    assert {node["name"] for node in body["nodes"]} == {"slurmd-0", "slurmd-1"}


def test_slurmctld_survives_a_reconfigure_in_its_container(slurm):
    before = slurm.cluster.get("pod", "slurmctld")["status"]["containerStatuses"][0]
    slurm.run("slurmctld", "scontrol", "reconfigure")
    wait_for(
        "slurmctld to answer",
        lambda: (
            slurm.cluster.kubectl("exec", "slurmctld", "--", "scontrol", "ping", check=False).out
        ),
        lambda said: " is UP" in said,
    )
    after = slurm.cluster.get("pod", "slurmctld")["status"]["containerStatuses"][0]
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)


def test_a_worker_needs_no_privilege(slurm):
    container = slurm.cluster.get("pod", "slurmd-0")["spec"]["containers"][0]
    assert "securityContext" not in container
    assert slurm.run("slurmd-0", "sinfo", "--noheader", "--format=%D").strip() == "2"


def test_sackd_gives_a_pod_without_any_configuration_slurms_commands(slurm):
    slurm.start("sackd", args=["--conf-server", "slurmctld:6817"], readinessProbe=SACK)
    assert slurm.run("sackd", "sinfo", "--noheader", "--format=%D").strip() == "2"


def test_a_login_node_has_slurms_commands_and_answers_ssh(slurm):
    options = [{"name": "SACKD_OPTIONS", "value": "--conf-server slurmctld:6817"}]
    slurm.start("login", env=options, readinessProbe=SACK)
    assert slurm.run("login", "sinfo", "--noheader", "--format=%D").strip() == "2"
    address = slurm.cluster.get("pod", "login")["status"]["podIP"]
    with socket.create_connection((address, 22), timeout=10) as line:
        assert line.recv(64).startswith(b"SSH-2.0-OpenSSH")


SACK = {"exec": {"command": ["test", "-S", "/run/slurm/sack.socket"]}, "periodSeconds": 1}


def test_shoals_own_image_runs_as_nobody_on_a_read_only_root(ns):
    (name,) = images.named(["shoal"])
    ns.shoal("load", name, timeout_s=900)
    security = {
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    container = {"name": "shoal", "image": f"shoal/{name}", "args": ["--version"]}
    ns.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "shoal"},
            "spec": {
                "containers": [{**container, "securityContext": security}],
                "restartPolicy": "Never",
            },
        }
    )
    ns.wait("jsonpath={.status.phase}=Succeeded", "pod/shoal")
    assert ns.kubectl("logs", "shoal").out.startswith("shoal, version ")
