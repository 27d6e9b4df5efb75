import socket

import pytest

from shoal.local.cluster import Cluster, Loopback, Networked
from shoal.local.errors import LocalError
from shoal.local.settings import Settings
from shoal.local.up import Wanted, check_name, choose, needed_programs


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
