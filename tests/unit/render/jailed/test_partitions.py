from dataclasses import replace

import pytest

from shoal.model.jailed import Registration
from shoal.model.settings import (
    CustomPartitions,
    DefaultPartitions,
    Feature,
    Settings,
    SharedPartition,
    StructuredPartitions,
)
from shoal.render.jailed import partitions
from shoal.slurm import conf
from shoal.slurm.conf import ConfError

from .worlds import image, make_cluster, make_jail, make_nodeset, make_part, make_workers


def lines(partitions_=None, nodesets=(), **settings):
    asked = Settings(partitions=partitions_ or DefaultPartitions(), **settings)
    made = make_cluster(jail=make_jail(settings=asked), nodesets=nodesets)
    return conf.write(partitions.lines(made, made.jail)).splitlines()


def static(name="gpu", **changes):
    workers = make_workers(registration=Registration.STATIC, **changes)
    return make_nodeset(name, jailed=workers)


def test_by_default_there_is_a_partition_of_all_nodes_and_two_hidden_ones():
    found = [line for line in lines() if line.startswith("PartitionName=")]
    assert [line.split()[0] for line in found] == [
        f"PartitionName={name}" for name in ("main", "hidden", "background")
    ]
    assert all(" Nodes=ALL " in line for line in found)
    assert sum("Default=YES" in line for line in found) == 1


def test_lines_of_the_users_are_taken_as_they_are():
    found = lines(CustomPartitions(("  PartitionName=x Nodes=ALL  ", "")))
    assert "PartitionName=x Nodes=ALL" in found


@pytest.mark.parametrize("bad", ["SlurmUser=eve", "PartitionName=x\nSlurmUser=eve"])
def test_no_other_line_passes_for_a_partition(bad):
    with pytest.raises(ConfError, match="rawConfig"):
        lines(CustomPartitions((bad,)))


def test_features_of_some_workers_are_node_sets():
    found = lines(features=(Feature("fast", "worker-[0-3]", "fasts"), Feature("slow", "worker-9")))
    assert "NodeSet=fasts Feature=fast" in found
    assert not [line for line in found if "slow" in line]


def test_a_partition_is_of_the_node_sets_that_it_names():
    asked = StructuredPartitions(
        (
            SharedPartition("p", ("a", "b"), config="MaxTime=1:00"),
            SharedPartition("q", everything=True),
        )
    )
    found = lines(asked, (make_nodeset("a"), make_nodeset("b")))
    assert "PartitionName=p Nodes=a,b MaxTime=1:00" in found
    assert "PartitionName=q Nodes=ALL" in found


def test_a_partition_whose_node_set_is_missing_stays_as_its_jobs_would_be_lost():
    found = lines(StructuredPartitions((SharedPartition("p", ("gone",)),)))
    assert 'PartitionName=p Nodes=""' in found
    assert "#WARNING: partition p: there is no NodeSet gone" in found


def test_what_would_leave_jobs_without_nodes_is_said():
    assert any(
        "names no NodeSet" in x for x in lines(StructuredPartitions((SharedPartition("p"),)))
    )
    assert any("no partition" in x for x in lines(StructuredPartitions(())))


def test_no_key_of_slurm_gets_into_a_partitions_options():
    asked = StructuredPartitions((SharedPartition("p", config="State=UP\nSlurmUser=eve"),))
    with pytest.raises(ConfError, match=r"partitions, p.*remove the line end"):
        lines(asked)


def test_workers_that_bring_their_nodes_along_are_found_by_a_feature_however_many_they_are():
    one, many = (make_nodeset("gpu-a", replicas=n) for n in (1, 1000))
    assert lines(nodesets=(one,)) == lines(nodesets=(many,))
    assert "NodeSet=gpu-a Feature=gpu_a" in lines(nodesets=(one,))


def test_workers_that_do_not_have_one_line_for_all():
    found = lines(nodesets=(static(listed=3, features=("a", "b")),))
    (line,) = [text for text in found if text.startswith("NodeName=")]
    assert line == (
        "NodeName=gpu-[0-2] State=CLOUD"
        " NodeAddr=gpu-[0-2].one-nodeset-svc.research.svc.cluster.local"
        " RealMemory=2048 Port=6818 Feature=a,b"
    )
    assert "NodeSet=gpu Nodes=gpu-[0-2]" in found


def test_a_single_worker_is_no_range():
    assert "NodeSet=gpu Nodes=gpu-0" in lines(nodesets=(static(listed=1),))


def test_workers_that_are_down_for_maintenance_keep_their_line():
    down = replace(static(listed=3), replicas=0)
    assert lines(nodesets=(down,)) == lines(nodesets=(static(listed=3),))


def test_a_node_set_without_workers_is_no_error():
    found = lines(nodesets=(static(listed=0),))
    assert "#WARNING: NodeSet gpu has no workers" in found
    assert not [line for line in found if line.startswith(("NodeName=", "NodeSet="))]


def test_keys_of_a_node_that_are_ours_are_not_the_users():
    made = replace(static(), extra="Gres=gpu:8 State=DOWN Feature=x Weight=3")
    assert partitions.node_keys(made) == "Gres=gpu:8 Weight=3"
    (line,) = [text for text in lines(nodesets=(made,)) if text.startswith("NodeName=")]
    assert line.endswith("Port=6818 Gres=gpu:8 Weight=3")


def test_no_key_of_slurm_gets_into_the_keys_of_a_node():
    bad = replace(static(), extra="Weight=3\nSlurmUser=eve")
    with pytest.raises(ConfError, match=r"NodeSet gpu, nodeConfig.static"):
        lines(nodesets=(bad,))


def test_memory_is_what_the_worker_asks_for():
    part = make_part("nodeset", "gpu", nodeset="gpu", slurmd=image("slurmd", "512Mi"))
    assert any("RealMemory=512 " in x for x in lines(nodesets=(replace(static(), part=part),)))


def test_the_feature_of_a_node_set_is_what_its_nodes_are_known_by():
    made = make_nodeset("gpu-a.b")
    assert partitions.feature(made) == made.slurm_name == "gpu_a_b"
