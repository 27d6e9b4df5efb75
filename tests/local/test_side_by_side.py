"""Clusters beside each other: each has its own addresses and objects, and goes alone."""

import json
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .clusters import UNPRIVILEGED, Local, kill, run, wait_for
from .objects import config_map, pod


def both(make, first: tuple[str, ...], second: tuple[str, ...]) -> tuple[Local, Local]:
    """Make two clusters at the same moment."""
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda words: make(*words), (first, second))
    return one, two


def addresses(cluster: Local) -> set[str]:
    """Return the addresses of a cluster's nodes, pods and Services."""
    nodes = [a["address"] for n in cluster.get("nodes") for a in n["status"]["addresses"]]
    pods = [p["status"]["podIP"] for p in cluster.get("pods")]
    services = [s["spec"]["clusterIP"] for s in cluster.get("services", "--all-namespaces")]
    return {address for address in (*nodes, *pods, *services) if address[0].isdigit()}


def test_two_whole_clusters_work_side_by_side_and_one_goes_without_the_other(make):
    one, two = both(make, ("s1",), ("s2",))
    for cluster in (one, two):
        cluster.apply(pod("web"))
        cluster.wait("condition=Ready", "pod/web")
    assert addresses(one) & addresses(two) == set()
    one.apply(config_map("mine"))
    assert not two.exists("configmap", "mine")
    kept = one.first_processes(), one.programs()
    two.shoal("down")
    assert one.shoal("status").code == 0
    assert (one.first_processes(), one.programs()) == kept
    assert (
        one.kubectl("exec", "web", "--", "/machine", "get", "http://127.0.0.1:8080").out == "web\n"
    )


def test_addresses_that_another_cluster_has_are_neither_used_nor_taken_away(t3, tmp_path):
    # As after a restart of this machine: two state folders remember the same number.
    folder = tmp_path / "thief"
    folder.mkdir()
    saved = json.loads((t3.folder / "cluster.json").read_text())
    saved |= {"name": "thief", "networked": {**saved["networked"], "nodes": 1}}
    (folder / "cluster.json").write_text(json.dumps(saved))
    thief = Local("thief", {**t3.environment, "SHOAL_STATE": str(tmp_path)})
    refused = thief.shoal("up", check=False)
    assert refused.code == 1
    assert f"in use by the cluster in {t3.folder}" in refused.err
    thief.shoal("down")
    assert not folder.exists()
    assert t3.shoal("status").code == 0


def test_two_control_planes_side_by_side_know_nothing_of_each_other(make):
    words = ("--control-plane-only",)
    one, two = both(make, ("c1", *words), ("c2", *words))
    one.apply(config_map("mine"))
    assert one.exists("configmap", "mine")
    assert not two.exists("configmap", "mine")
    refused = run(
        "kubectl", "get", "namespaces", f"--server={server(two)}",
        env=one.shell, check=False,
    )  # fmt: skip
    assert refused.code != 0
    assert "certificate signed by unknown authority" in refused.err
    two.shoal("down")
    assert one.shoal("status").code == 0


def server(cluster: Local) -> str:
    """Return the API server's URL."""
    return cluster.kubectl("config", "view", "--output=jsonpath={.clusters[0].cluster.server}").out


def test_a_control_plane_with_a_controller_manager_makes_service_accounts(make):
    cluster = make("c3", "--control-plane-only", "--with=controller-manager")
    cluster.kubectl("create", "namespace", "mine")
    cluster.kubectl(
        "wait", "--for=create", "serviceaccount/default", "--namespace=mine", "--timeout=60s"
    )
    assert ("cp", "kube-controller-manager") in cluster.programs()


@pytest.fixture
def taken() -> Iterator[int]:
    """Give a port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        yield somebody.getsockname()[1]


def test_a_port_that_is_taken_is_refused_with_the_cure(environment, taken):
    cluster = Local("c4", environment)
    refused = cluster.shoal("up", "--control-plane-only", f"--port={taken}", check=False)
    assert refused.code == 1
    assert f"port {taken} is taken" in refused.err
    assert "cure: choose another --port" in refused.err
    assert not cluster.folder.exists()


@pytest.fixture
def free() -> int:
    """Give a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        return somebody.getsockname()[1]


def test_a_control_plane_keeps_its_port_and_objects_when_everything_was_killed(make, free):
    cluster = make("c5", "--control-plane-only", f"--port={free}")
    assert server(cluster) == f"https://127.0.0.1:{free}"
    cluster.apply(config_map("kept"))
    before = cluster.first_processes()
    for pid in before.values():
        kill(pid)
    # The programs go with it, so that nothing is in the way of the new ones.
    wait_for("the end of its programs", cluster.programs, lambda found: not found)
    cluster.shoal("up", "--control-plane-only")
    assert server(cluster) == f"https://127.0.0.1:{free}"
    assert cluster.exists("configmap", "kept")
    assert cluster.first_processes() != before


@pytest.fixture
def anybody(t3: Local) -> Iterator[Mapping[str, str]]:
    """Give the environment of somebody without root, who has brought the programs."""
    programs = Path(t3.shell["PATH"].partition(":")[0])
    # Not pytest's folder, which only root can open.
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o777)
        for program in ("etcd", "kube-apiserver", "kubectl", "machine"):
            shutil.copy((programs / program).resolve(), home)
        yield {
            **t3.environment,
            "HOME": name,
            "SHOAL_STATE": f"{name}/state",
            "SHOAL_CACHE": f"{name}/cache",
            "SHOAL_BIN_DIR": name,
        }


def test_a_control_plane_needs_no_root(anybody):
    as_anybody(anybody, "up", "--control-plane-only")
    try:
        assert as_anybody(anybody, "status").code == 0
    finally:
        as_anybody(anybody, "down")


def as_anybody(environment, command: str, *words: str):
    return run(*UNPRIVILEGED, "shoal", "local", command, *words, env=environment, timeout_s=60)
