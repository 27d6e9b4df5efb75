import pytest

from shoal.render.worker_conf import node_conf
from shoal.slurm.conf import ConfError

from .builders import make_nodeset


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ("", "Features=gpu"),
        ("Weight=10 feature=a", "Features=a,gpu Weight=10"),
        ("Features=z,a", "Features=a,gpu,z"),
        ("Feature=a Feature=b Features=a", "Features=a,b,gpu"),
        ("  Weight=5\n  Feature=a ", "Features=a,gpu Weight=5"),
        ("Topology=default:s1", "Features=gpu Topology=default:s1"),
        ("Gres=gpu:1 Gres=shard:4", "Features=gpu Gres=gpu:1,shard:4"),
    ],
)
def test_the_users_keys_follow_the_feature_in_order(extra, text):
    assert node_conf(make_nodeset("gpu", extra=extra)) == text


def test_gres_are_there_from_the_first_registration_on():
    """https://github.com/SlinkyProject/slurm-operator/pull/191"""
    assert "Gres=gpu:h200:8" in node_conf(make_nodeset("gpu", extra="Gres=gpu:h200:8"))


def test_there_is_never_an_empty_topology():
    """https://github.com/SlinkyProject/slurm-operator/issues/261"""
    assert "Topology" not in node_conf(make_nodeset("gpu", extra="CoreSpecCount=2"))


@pytest.mark.parametrize("extra", ["Weight10", "Weight=5 nope Feature=a", "A='b'", "A='; rm -r /"])
def test_what_is_no_key_of_a_node_is_refused_with_its_field(extra):
    with pytest.raises(ConfError, match="NodeSet gpu, extraConf"):
        node_conf(make_nodeset("gpu", extra=extra))
