import pytest

from shoal.local import cgroups, claims, leftovers, network
from shoal.local.cluster import Cluster, Networked
from shoal.local.errors import LocalError

PLACE = Networked(index=3, nodes=1)


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """Give folders in which network namespaces and cgroups are looked for; no link is there."""
    monkeypatch.setattr(network, "NAMESPACES", tmp_path / "netns")
    monkeypatch.setattr(network, "has_link", lambda _netns, _name: False)
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "cgroup")
    (tmp_path / "netns").mkdir()
    (tmp_path / "cgroup/memory").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def run(kernel):
    """Give a folder of claims, with that of a cluster whose own folder is not there."""
    claims.claim(PLACE, kernel / "state/gone", kernel / "run")
    return kernel / "run"


def test_the_number_of_a_deleted_cluster_of_which_nothing_is_left_is_free_again(run):
    leftovers.forget(run)
    assert claims.every(run) == {}
    assert claims.first([3], run.parent / "state/new", run) == 3


@pytest.mark.parametrize("left", ["netns/shoal3-n1", "cgroup/memory/shoal/shoal3/n1"])
def test_the_number_of_a_deleted_cluster_that_lives_on_is_kept(run, kernel, left):
    (kernel / left).mkdir(parents=True)
    leftovers.forget(run)
    assert claims.first([3], kernel / "state/new", run) is None
    (found,) = leftovers.abandoned(run)
    # Both nodes, so that whoever takes it down finds the processes of both.
    assert found.node_names == ("n0", "n1")


def test_a_link_alone_keeps_the_number_too(run, monkeypatch):
    monkeypatch.setattr(network, "has_link", lambda _netns, name: name == "shoal3")
    assert leftovers.left(PLACE) == ["the link shoal3"]
    leftovers.forget(run)
    assert len(claims.every(run)) == 1


def test_a_cluster_that_has_its_folder_keeps_its_number_whatever_is_left(run, kernel):
    folder = kernel / "state/gone"
    Cluster("gone", folder, PLACE).save()
    leftovers.forget(run)
    assert claims.owner("shoal3", run) == folder
    assert leftovers.orphans(run) == []


def test_a_folder_that_cannot_be_looked_at_is_not_taken_for_deleted(run, kernel):
    (kernel / "state").mkdir()
    loop = kernel / "state/gone"
    loop.symlink_to(loop)  # the kernel gives up on it: too many links
    leftovers.forget(run)
    assert claims.owner("shoal3", run) == loop


def test_a_new_cluster_in_the_folder_of_one_that_lives_on_is_refused_with_the_cure(run, kernel):
    (kernel / "netns/shoal3-cp").touch()
    with pytest.raises(LocalError, match=r"namespace shoal3-cp\n.*`shoal local down --name gone`"):
        leftovers.check(kernel / "state/gone", run)
    leftovers.check(kernel / "state/other", run)


def test_a_claim_that_was_never_finished_is_free_again(kernel):
    # As of a process that was killed between two system calls.
    (kernel / "run").mkdir()
    (kernel / "run/shoal3").touch()
    leftovers.forget(kernel / "run")
    assert claims.first([3], kernel / "state/new", kernel / "run") == 3
