"""What the user sets of Slurm's files."""

import pytest

from shoal.model.settings import (
    Cgroup,
    CustomPartitions,
    DefaultPartitions,
    Feature,
    SharedPartition,
    StructuredPartitions,
)
from shoal.slurm.keys import V24_11, V26_05, Standing, known

from .objects import make, nodes
from .readings import the, understood

ORDER = [
    "DefMemPerNode", "DefCpuPerGPU", "CompleteWait", "Epilog", "Prolog", "TaskProlog",
    "TaskPluginParam", "MaxJobCount", "MinJobAge", "MessageTimeout", "TopologyPlugin",
    "TopologyParam",
]  # fmt: skip


def settings(**spec):
    return the(**spec).cluster.jail.settings


def test_settings_of_slurm_conf_are_in_the_order_that_users_know():
    assert [key for key, _ in settings().slurm] == ORDER


def test_a_resume_timeout_is_said_where_it_is_not_the_usual_one_and_no_suspend_time_ever_is():
    found = dict(settings(slurmConfig={"resumeTimeout": 60, "suspendTime": 60}).slurm)
    assert found["ResumeTimeout"] == 60
    assert "SuspendTime" not in found


@pytest.mark.parametrize("version", [V24_11, V26_05])
def test_every_key_that_comes_of_a_field_is_one_of_slurms(version):
    made = settings(slurmConfig={"resumeTimeout": 60})
    for key, _ in (*made.slurm, *made.accounting):
        assert known(key, version).standing is Standing.KNOWN, key


def test_partitions_are_the_usual_ones_or_lines_or_by_the_names_of_node_sets():
    def partitions(**asked):
        return settings(partitionConfiguration=asked).partitions

    assert settings().partitions == DefaultPartitions()
    assert partitions(configType="new") == DefaultPartitions()
    assert partitions(configType="custom", rawConfig=["a"]) == CustomPartitions(("a",))
    asked = [{"name": "a", "nodeSetRefs": ["x"], "config": "c"}, {"name": "b", "isAll": True}]
    assert partitions(configType="structured", partitions=asked) == StructuredPartitions(
        (SharedPartition("a", ("x",), config="c"), SharedPartition("b", everything=True))
    )


def test_features_are_of_the_clusters_own_workers():
    asked = [{"name": "f", "hostlistExpr": "worker-[0-3]"}]
    made = understood(make("SlurmCluster", workerFeatures=asked), make("NodeSet", "a")).cluster
    chosen = (Feature("f", "worker-[0-3]"),)
    assert made.jail.settings.features == chosen
    assert [one.jailed.chosen for one in made.nodesets] == [chosen, ()]


@pytest.mark.parametrize(
    ("cluster", "nodeset"),
    [
        ({"cgroupVersion": "v1"}, {}),
        (nodes(worker={"cgroupVersion": "v1"}), {}),
        ({}, {"slurmd": {"cgroupVersion": "v1"}}),
    ],
)
def test_the_older_cgroups_count_if_any_place_says_so(cluster, nodeset):
    made = understood(make("SlurmCluster", **cluster), make("NodeSet", "a", **nodeset)).cluster
    assert made.jail.settings.cgroup is Cgroup.V1
    assert made.nodesets[1].jailed.cgroup is Cgroup.V1
    plain = understood(make("SlurmCluster"), make("NodeSet", "a")).cluster
    assert {one.jailed.cgroup for one in plain.nodesets} == {Cgroup.V2}


def test_the_inspector_of_nccl_is_there_where_it_is_asked_for():
    assert settings().plugins.nccl_inspector is None
    asked = {"ncclInspectorPreConf": {}}
    assert settings(plugStackConfig=asked).plugins.nccl_inspector.enabled


def test_there_is_no_health_check_unless_one_is_asked_for():
    assert settings().health is None
