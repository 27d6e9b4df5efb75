"""Nodes that kwok plays: no kubelet, no container, and yet Ready and Running for everybody."""

import time

import pytest

from .clusters import Local, is_ready, wait_for
from .objects import pod

# Longer than the controller manager waits before it gives a silent node up: 20 s, and a look.
GIVEN_UP_AFTER_S = 30


def played(name: str) -> dict:
    """Return a node that kwok plays."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name},
        },
        "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}},
    }


def make_ready(cluster: Local, *names: str) -> None:
    cluster.apply(*map(played, names))
    cluster.wait("condition=Ready", *(f"node/{name}" for name in names))


def test_a_control_plane_with_kwok_has_ready_nodes_and_the_scheduler_puts_running_pods_there(make):
    cluster = make("k1", "--control-plane-only", "--with=scheduler,kwok")
    make_ready(cluster, "f0", "f1")
    cluster.apply(pod("p0"), pod("p1", "f1"))
    cluster.wait("jsonpath={.status.phase}=Running", "pod/p0", "pod/p1")
    pods = {one["metadata"]["name"]: one for one in cluster.get("pods")}
    assert all(map(is_ready, pods.values()))
    assert pods["p0"]["spec"]["nodeName"] in {"f0", "f1"}
    assert pods["p1"]["spec"]["nodeName"] == "f1"
    cluster.kubectl("delete", "pod", "p0", "p1")
    wait_for("the pods to go", lambda: cluster.get("pods"), lambda found: found == [])
    assert ("cp", "kwok") in cluster.programs()


@pytest.mark.long
def test_a_controller_manager_never_gives_kwoks_nodes_up(make):
    cluster = make("k2", "--control-plane-only", "--with=controller-manager,scheduler,kwok")
    make_ready(cluster, "f0")
    time.sleep(GIVEN_UP_AFTER_S)
    # kwok would call a node that was given up Ready again at once; the event stays.
    assert "NodeNotReady" not in {event["reason"] for event in cluster.get("events")}
    assert cluster.ready_nodes() == {"f0"}
