import json
import os
import re
import socket

import pytest

from shoal.host import processes
from shoal.local.cluster import Cluster, Loopback, Networked
from shoal.local.errors import LocalError
from shoal.local.machine import BOOT_ID
from shoal.local.settings import Settings
from shoal.local.up import (
    CONTROL_PLANE_WATCHES,
    NODE_WATCHES,
    Wanted,
    check,
    check_name,
    choose,
    needed_programs,
    watches,
)


@pytest.fixture
def settings(tmp_path):
    return Settings(tmp_path / "cache", tmp_path / "state")


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a_b", "a/b", "../x", "a" * 31, "a\nb"])
def test_a_name_that_could_not_be_a_path_or_a_host_is_refused(name):
    with pytest.raises(LocalError, match="cure: use 1 to 30"):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "a-b", "0", "a" * 30])
def test_a_plain_name_is_taken(name):
    assert check_name(name) is None


def test_control_planes_chosen_one_after_the_other_share_no_port(settings):
    ports = []
    for name in ("a", "b", "c"):
        place = choose(settings, Wanted(name, control_plane_only=True)).place
        ports += [place.port, place.etcd_port, place.etcd_peer_port]
    assert len(set(ports)) == 9


def test_a_port_that_somebody_listens_on_is_refused_with_the_cure(settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wanted = Wanted("a", control_plane_only=True, port=taken.getsockname()[1])
        with pytest.raises(LocalError, match=r"is taken\n.*choose another --port"):
            choose(settings, wanted)


def test_a_cluster_that_exists_stays_as_it_is_and_learns_what_is_new(settings):
    first = choose(settings, Wanted("a", control_plane_only=True))
    again = choose(settings, Wanted("a", control_plane_only=True, extras=("scheduler",)))
    assert again.place == first.place
    assert again.extras == ("scheduler",)


def test_a_cluster_whose_requests_are_written_down_stays_so(settings):
    choose(settings, Wanted("a", control_plane_only=True, audited=True))
    assert choose(settings, Wanted("a", control_plane_only=True)).audited


def test_a_cluster_grows_and_never_shrinks(settings):
    Cluster("a", settings.state / "a", Networked(0, 2)).save()
    assert choose(settings, Wanted("a", nodes=3)).node_names == ("n0", "n1", "n2")
    assert choose(settings, Wanted("a")).node_names == ("n0", "n1")
    with pytest.raises(LocalError, match="a cluster only grows"):
        choose(settings, Wanted("a", nodes=1))


def test_a_control_plane_alone_does_not_become_a_whole_cluster_in_silence(settings):
    Cluster("a", settings.state / "a", Loopback(1, 2, 3)).save()
    with pytest.raises(LocalError, match="exists without nodes"):
        choose(settings, Wanted("a"))


def test_a_control_plane_alone_needs_neither_a_kubelet_nor_helm(settings):
    alone = Cluster("a", settings.state / "a", Loopback(1, 2, 3), ("kwok",))
    assert needed_programs(alone) == ("machine", "kubectl", "etcd", "kube-apiserver", "kwok")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("a", nodes=0), "--nodes 0 cannot be.*1 to 200"),
        (Wanted("a", nodes=201), "--nodes 201 cannot be.*1 to 200"),
        (Wanted("a", control_plane_only=True, port=0), "--port 0 is no port.*1 to 65535"),
        (Wanted("a", control_plane_only=True, port=65536), "--port 65536 is no port"),
        (Wanted("a", control_plane_only=True, nodes=1), "neither --nodes nor --images"),
        (Wanted("a", control_plane_only=True, images=("x",)), "neither --nodes nor --images"),
        (Wanted("a", port=6443), "--port is for --control-plane-only.*leave it out"),
        (Wanted("../a"), "is no cluster name"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_its_option_before_anything_is_made(wanted, said):
    with pytest.raises(LocalError) as refused:
        check(wanted)
    assert re.search(said, str(refused.value), re.DOTALL)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("a"),
        Wanted("a", nodes=200, images=("slurmd:26.05",)),
        Wanted("a", control_plane_only=True, port=65535, extras=("kwok",)),
    ],
    ids=str,
)
def test_what_can_be_is_not_refused(wanted):
    assert check(wanted) is None


def test_a_new_cluster_watches_with_its_control_plane_and_every_node():
    assert watches(None, Wanted("a")) == CONTROL_PLANE_WATCHES + NODE_WATCHES
    assert watches(None, Wanted("a", nodes=3)) == CONTROL_PLANE_WATCHES + 3 * NODE_WATCHES
    assert watches(None, Wanted("a", control_plane_only=True)) == CONTROL_PLANE_WATCHES


def switch_on(folder):
    """Make a machine that runs: its first process is this one."""
    process = processes.find(os.getpid())
    boot = BOOT_ID.read_text().strip()
    folder.mkdir(parents=True)
    saved = {"pid": process.pid, "started": process.started, "boot": boot}
    (folder / "process.json").write_text(json.dumps(saved))


def test_machines_that_run_already_need_no_more_watches(settings):
    cluster = Cluster("a", settings.state / "a", Networked(0, 2))
    switch_on(cluster.control_plane)
    switch_on(cluster.node("n1"))
    # n0 is off, and n2 is new.
    assert watches(cluster, Wanted("a")) == NODE_WATCHES
    assert watches(cluster, Wanted("a", nodes=3)) == 2 * NODE_WATCHES
    switch_on(cluster.node("n0"))
    assert watches(cluster, Wanted("a")) == 0
