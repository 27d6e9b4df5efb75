import pytest

from shoal.dialects.nebius import defaults, naming
from shoal.dialects.nebius.defaults import Attributes
from shoal.dialects.nebius.parts import NodeContainer
from shoal.model.jail import Claimed, Given
from shoal.model.maintenance import Mode

from .objects import make, nodes, read


def cluster(**spec):
    return read(make("SlurmCluster", **spec))


def nodeset(**spec):
    return read(make("NodeSet", "gpu", **spec))


def test_the_older_defaults_count():
    spec = cluster(slurmNodes={"worker": {"maxUnavailable": None}}).spec
    assert (spec.slurm_config.min_job_age, spec.slurm_config.def_mem_per_node) == (28800, 1048576)
    assert spec.slurm_nodes.worker.max_unavailable == "20%"
    assert nodeset().spec.max_unavailable == "20%"
    assert spec.s_config_controller.reconfigure_wait_timeout == "1m"
    accounting = spec.slurm_nodes.accounting.slurm_config
    assert accounting.job_acct_gather_type == "jobacct_gather/cgroup"


def test_what_the_older_release_does_not_have_is_off_unless_asked_for():
    spec = cluster().spec
    assert spec.slurm_nodes.controller.open_metrics is None
    assert spec.plug_stack_config.nccl_inspector_pre_conf is None
    assert spec.plug_stack_config.pyxis.importer_path is None
    assert nodeset().spec.docker is None


@pytest.mark.parametrize(
    ("container", "port"), [(None, 6817), (NodeContainer(port=0), 6817), (NodeContainer(port=7), 7)]
)
def test_a_part_listens_where_it_usually_does_unless_it_says_otherwise(container, port):
    assert defaults.port(naming.CONTROLLER, container) == port


@pytest.mark.parametrize(
    ("word", "mode"), [(mode.value, mode) for mode in Mode] + [("", Mode.NONE), ("new", Mode.NONE)]
)
def test_a_word_that_nobody_knows_takes_nothing_down(word, mode):
    assert defaults.mode(cluster(maintenance=word)) is mode


@pytest.mark.parametrize("worker", [None, {"size": 0}], ids=["none", "no size"])
def test_a_cluster_may_have_no_workers_of_its_own(worker):
    assert defaults.worker(cluster(**nodes(worker=worker))) is None
    assert defaults.worker(cluster()).size == 2


@pytest.mark.parametrize(
    ("own", "type_", "gpus", "found"),
    [
        (2, "gpu", False, True),
        (2, "cpu", False, False),
        (2, "cpu", True, True),
        (0, "gpu", False, False),  # an object that says nothing of clusterType
        (0, "gpu", True, True),
    ],
)
def test_there_are_gpus_where_some_workers_have_them(own, type_, gpus, found):
    obj = cluster(clusterType=type_, **nodes(worker={"size": own}))
    assert defaults.with_gpu(obj, [nodeset(gpu={"enabled": gpus})]) is found


@pytest.mark.parametrize(
    ("whole", "worker", "found"),
    [("v2", "v2", "v2"), ("v1", "v2", "v1"), ("v2", "v1", "v1")],
)
def test_the_version_of_cgroups_may_be_said_in_two_places(whole, worker, found):
    obj = cluster(cgroupVersion=whole, **nodes(worker={"cgroupVersion": worker}))
    assert defaults.cgroup_version(obj) == found


def test_host_keys_are_the_users_or_made():
    assert defaults.sshd_keys(cluster()) == "slurm-sshd-keys"
    assert defaults.sshd_keys(cluster(secrets={"sshdKeysName": "mine"})) == "mine"


def test_a_node_set_names_its_cluster_in_its_spec_or_in_an_annotation():
    assert defaults.cluster_of(nodeset(clusterName="a")) == "a"
    old = make("NodeSet", clusterName=None)
    assert defaults.cluster_of(read(old)) == ""
    old["metadata"]["annotations"] = {"slurm.nebius.ai/parental-cluster-ref": "b"}
    assert defaults.cluster_of(read(old)) == "b"
    old["spec"]["clusterName"] = "c"
    assert defaults.cluster_of(read(old)) == "c"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, Given({"emptyDir": {}})),
        ({"hostPath": {"path": "/a"}}, Given({"hostPath": {"path": "/a"}})),
        ({"volumeSource": {"hostPath": {"path": "/a"}}}, Given({"hostPath": {"path": "/a"}})),
        ({"volumeClaimTemplateSpec": {"a": 1}}, Claimed({"a": 1})),
    ],
)
def test_a_spool_is_a_volume_or_a_claim_for_each_pod(asked, found):
    assert defaults.spool(nodeset(slurmd={"volumes": {"spool": asked}})) == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, Attributes()),
        ({"nodeAttributes": {"features": ["a"], "extra": "x"}}, Attributes(("a",), "", "x")),
        (
            {
                "nodeConfig": {"features": ["b", "a"], "static": "Boards=1", "dynamic": "y"},
                "nodeAttributes": {"features": ["a"], "extra": "x"},
            },
            Attributes(("b", "a"), "Boards=1", "y"),
        ),
    ],
    ids=["none", "older", "both"],
)
def test_attributes_of_nodes_are_read_in_the_shape_of_either_release(spec, found):
    assert defaults.attributes(nodeset(**spec)) == found
