import pytest

from shoal.local.cluster import Cluster, Loopback, Networked, every, grown, load

PLACES = [Networked(index=3, nodes=2), Loopback(20000, 20001, 20002)]


@pytest.mark.parametrize("place", PLACES)
def test_a_saved_cluster_is_read_back_as_it_was(tmp_path, place):
    cluster = Cluster("a", tmp_path / "a", place, ("scheduler",))
    cluster.save()
    assert load(tmp_path / "a") == cluster
    assert every(tmp_path) == [cluster]


def test_where_there_is_no_cluster_none_is_found(tmp_path):
    assert load(tmp_path / "a") is None
    assert every(tmp_path / "b") == []


def test_a_grown_cluster_keeps_its_first_nodes(tmp_path):
    small = Cluster("a", tmp_path, Networked(0, 1))
    assert grown(small, 3).node_names[:1] == small.node_names
    assert grown(small, 3).node_names == ("n0", "n1", "n2")


def test_a_control_plane_alone_has_no_nodes(tmp_path):
    alone = Cluster("a", tmp_path, PLACES[1])
    assert alone.node_names == ()
    assert alone.server == "https://127.0.0.1:20000"
