import pytest

from shoal.model.nodeset import Partition
from shoal.render.partitions import lines
from shoal.slurm import conf
from shoal.slurm.conf import ConfError

from .builders import make_cluster, make_nodeset


def written(*nodesets):
    return conf.write(lines(make_cluster(nodesets=nodesets)))


def test_workers_are_found_by_a_feature_so_that_scaling_changes_no_file():
    assert written(make_nodeset("cpu")) == "NodeSet=cpu Feature=cpu\n"


def test_a_partition_has_the_workers_and_the_users_options():
    made = make_nodeset("gpu", partition=Partition("Default=YES MaxTime=1-0 State=UP"))
    assert written(made) == (
        "NodeSet=gpu Feature=gpu\nPartitionName=gpu Nodes=gpu Default=YES MaxTime=1-0 State=UP\n"
    )


def test_the_order_is_that_of_the_names_however_they_come():
    a, b = make_nodeset("a"), make_nodeset("b")
    assert written(b, a) == written(a, b)


def test_the_user_may_say_which_nodes():
    made = make_nodeset("gpu", partition=Partition("Nodes=ALL"))
    assert "PartitionName=gpu Nodes=ALL\n" in written(made)


@pytest.mark.parametrize(
    "config",
    ["State=UP\nSlurmUser=root", "State=UP\rSlurmUser=root\n\nA=b", "State=UP\0", "no pair"],
)
def test_a_partition_is_one_line_and_the_error_names_its_field(config):
    made = make_nodeset("gpu", partition=Partition(config))
    with pytest.raises(ConfError, match=r"NodeSet gpu, partition\.config"):
        written(made)


def test_a_comment_cannot_swallow_what_follows():
    made = make_nodeset("gpu", partition=Partition("State=UP # MaxTime=1"))
    assert written(made).endswith("PartitionName=gpu Nodes=gpu State=UP\n")
