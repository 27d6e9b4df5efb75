"""What happens to nodes: power, reboot, cable; and what the others notice of it."""

import pytest

from .clusters import Local, containers, wait_for
from .objects import pod_spec, workload

NODES = {"n0", "n1", "n2"}


def pods_by_node(cluster: Local) -> dict[str, dict]:
    """Return the namespace's pods, by the node that each is on."""
    return {pod["spec"]["nodeName"]: pod for pod in cluster.get("pods")}


def running(cluster: Local) -> dict[str, tuple[str, int]]:
    """Return each node's container by id, with how often it was restarted."""
    found = containers(cluster.get("pods"))
    return {node: found[p["metadata"]["name"]] for node, p in pods_by_node(cluster).items()}


@pytest.fixture
def everywhere(mended: Local, ns: Local) -> Local:
    """Give a server on every node, in a cluster that is mended afterwards."""
    # A pod of a lost node stays bound to it, so that it is seen to come back.
    stay = [{"operator": "Exists"}]
    ns.apply(workload("DaemonSet", "everywhere", pod_spec(tolerations=stay)))
    ns.kubectl("rollout", "status", "daemonset/everywhere", "--timeout=120s")
    return ns


def wait_until_lost(cluster: Local, node: str) -> None:
    """Wait until Kubernetes calls the node not Ready, and see that the others are."""
    wait_for(f"{node} to be not Ready", cluster.ready_nodes, lambda ready: node not in ready)
    assert cluster.ready_nodes() == NODES - {node}


def others(found: dict[str, tuple[str, int]], node: str) -> dict[str, tuple[str, int]]:
    return {name: container for name, container in found.items() if name != node}


def test_a_stopped_node_is_lost_and_ready_again_after_its_start_and_others_run_on(everywhere):
    before, programs = running(everywhere), everywhere.programs()
    everywhere.shoal("node stop", "n1")
    status = everywhere.shoal("status", check=False)
    assert status.code == 1
    assert "n1: STOPPED" in status.out
    wait_until_lost(everywhere, "n1")
    everywhere.shoal("node start", "n1")
    assert everywhere.ready_nodes() == NODES
    wait_for(
        "the pod on n1 to run in a new container",
        lambda: running(everywhere),
        lambda now: now["n1"] != before["n1"],
    )
    assert others(running(everywhere), "n1") == others(before, "n1")
    after = everywhere.programs()
    for (machine, name), pid in programs.items():
        assert (after[machine, name] == pid) is (machine != "n1"), f"{machine} {name}"


def test_stopping_a_stopped_node_is_fine_and_a_command_on_it_names_the_cure(
    everywhere, python_archive
):
    everywhere.shoal("node stop", "n2")
    everywhere.shoal("node stop", "n2")
    for words in (("exec", "n2", "true"), ("load", python_archive)):
        refused = everywhere.shoal(*words, check=False)
        assert refused.code == 1
        assert "`shoal local node start n2`" in refused.err


def test_a_partitioned_node_is_lost_while_its_containers_run_on_and_heals(everywhere):
    before, servers = running(everywhere), everywhere.servers("n2")
    address = pods_by_node(everywhere)["n2"]["status"]["podIP"]
    everywhere.shoal("node partition", "n2")
    wait_until_lost(everywhere, "n2")
    assert everywhere.servers("n2") == servers
    # The pod still answers on its own node, and nobody else.
    knock = ("timeout", "2", "bash", "-c", f"</dev/tcp/{address}/8080")
    assert everywhere.shoal("exec", "n2", *knock, check=False).code == 0
    assert everywhere.shoal("exec", "n1", *knock, check=False).code != 0
    everywhere.shoal("node heal", "n2")
    wait_for("n2 to be Ready", everywhere.ready_nodes, lambda ready: ready == NODES)
    assert running(everywhere) == before
    wait_for(
        "the pod on n2 to be reached again",
        lambda: everywhere.shoal("exec", "n1", *knock, check=False).code,
        lambda code: code == 0,
    )


def boot_ids(cluster: Local) -> dict[str, str]:
    """Return every node's boot id, as the API shows it."""
    return {
        node["metadata"]["name"]: node["status"]["nodeInfo"]["bootID"]
        for node in cluster.get("nodes")
    }


def test_a_reboot_changes_the_boot_id_of_that_node_alone_and_its_pods_come_back(everywhere):
    before, containers_before = boot_ids(everywhere), running(everywhere)
    everywhere.shoal("node reboot", "n0")
    after = boot_ids(everywhere)
    assert {name for name in NODES if after[name] != before[name]} == {"n0"}
    wait_for(
        "the pod on n0 to run in a new container",
        lambda: running(everywhere),
        lambda now: now["n0"] != containers_before["n0"],
    )
    everywhere.kubectl("rollout", "status", "daemonset/everywhere", "--timeout=120s")
    assert others(running(everywhere), "n0") == others(containers_before, "n0")
