import pytest

from shoal.local import claims
from shoal.local.cluster import Cluster, Networked
from shoal.local.errors import LocalError

ONE = Networked(index=0, nodes=1)


def cluster(folder):
    return Cluster("a", folder, ONE)


def test_a_number_belongs_to_one_cluster_whatever_folder_it_is_kept_in(tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    assert claims.first([0, 1], mine, tmp_path / "run") == 0
    assert claims.first([0, 1], other, tmp_path / "run") == 1
    assert claims.first([0, 1], tmp_path / "third", tmp_path / "run") is None


def test_a_cluster_may_claim_its_own_number_again(tmp_path):
    claims.check(cluster(tmp_path / "a"), ONE, tmp_path / "run")
    assert claims.claim(ONE, tmp_path / "a", tmp_path / "run")


def test_a_number_that_another_cluster_took_meanwhile_is_refused_with_the_cure(tmp_path):
    claims.claim(ONE, tmp_path / "other", tmp_path / "run")
    with pytest.raises(
        LocalError, match=r"in use by the cluster in .*other\n.*take one of the two"
    ):
        claims.check(cluster(tmp_path / "a"), ONE, tmp_path / "run")


def test_what_another_cluster_has_is_never_removed(tmp_path):
    claims.claim(ONE, tmp_path / "other", tmp_path / "run")
    mine = cluster(tmp_path / "a")
    assert not claims.is_ours(mine, ONE, tmp_path / "run")
    claims.release(mine, ONE, tmp_path / "run")
    assert claims.owner("shoal0", tmp_path / "run") == tmp_path / "other"


def test_the_last_release_leaves_nothing(tmp_path):
    claims.claim(ONE, tmp_path / "a", tmp_path / "run")
    claims.release(cluster(tmp_path / "a"), ONE, tmp_path / "run")
    assert not (tmp_path / "run").exists()
