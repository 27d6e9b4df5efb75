"""Workers of a cluster's own, and of NodeSets."""

from dataclasses import replace

import pytest

from shoal.dialects.nebius.read_workers import REGISTRATION
from shoal.model.jail import Claimed, Given
from shoal.model.jailed import Registration
from shoal.model.maintenance import Mode
from shoal.model.nodeset import Retention

from . import objects
from .objects import make, nodes
from .readings import ALONE, the, understood, workers

CLAIM = {"accessModes": ["ReadWriteOnce"]}
PROBE = {"tcpSocket": {"port": 6818}}


def own(**asked):
    (made,) = the(**nodes(worker=asked)).cluster.nodesets
    return made


# -- of a cluster's own


def test_slurm_calls_own_workers_as_ever_whatever_their_pods_are_called():
    made = own()
    assert (made.pod_name(0), made.hostname(0)) == ("slurm-worker-0", "worker-0")
    assert made.slurm_name == "worker"


def test_own_workers_have_gpus_where_the_cluster_is_of_gpus():
    (gpus,) = the(clusterType="gpu", **nodes(worker={"enableGDRCopy": True})).cluster.nodesets
    assert (gpus.jailed.gpu, gpus.jailed.gdr_copy) == (True, True)
    none = own(enableGDRCopy=True)
    assert (none.jailed.gpu, none.jailed.gdr_copy) == (False, False)


def test_claims_of_workers_are_those_of_their_volumes():
    volumes = {
        "spool": {"volumeSourceName": None, "volumeClaimTemplateSpec": CLAIM},
        "customMounts": [{"name": "m", "mountPath": "/m", "volumeClaimTemplateSpec": CLAIM}],
    }
    made = own(volumes=volumes)
    assert [one["metadata"]["name"] for one in made.claims] == ["worker-spool", "m"]
    assert made.retention == Retention()


def test_workers_that_nobody_asks_for_any_more_keep_their_names_and_nothing_else():
    asked, left = own(), the(around=replace(ALONE, leaving=True), **nodes(worker=None)).cluster
    (made,) = left.nodesets
    assert made.replicas == 0
    for field in ("service", "budget", "slurm_name", "hostname_prefix", "alike"):
        assert getattr(made, field) == getattr(asked, field)
    assert (made.part.name, made.part.selector) == (asked.part.name, asked.part.selector)
    assert "slurm-worker-svc" in left.jail.subdomains
    assert the(**nodes(worker=None)).cluster.nodesets == ()


# -- of NodeSets


def test_a_node_that_slurm_conf_names_is_named_as_long_as_its_pod_runs():
    around = replace(ALONE, numbered={"gpu": 5})
    assert workers(around, replicas=3).jailed.listed == 5
    assert workers(around, replicas=8).jailed.listed == 8
    assert workers(replicas=3).jailed.listed == 3


def test_a_node_set_is_found_in_slurm_by_its_name_as_a_shell_takes_it():
    made = understood(make("SlurmCluster"), make("NodeSet", "gpu-h200")).cluster.nodesets[1]
    assert (made.slurm_name, made.hostname(3)) == ("gpu_h200", "gpu-h200-3")
    assert made.jailed.service == "slurm-nodeset-gpu-h200-svc"


def test_an_annotation_of_older_objects_names_the_cluster_too():
    obj = make("NodeSet", "a", clusterName=None)
    obj["metadata"]["annotations"] = {"slurm.nebius.ai/parental-cluster-ref": "old"}
    (made,) = understood(make("SlurmCluster", **nodes(worker=None)), obj).cluster.nodesets
    assert (made.cluster, made.service) == ("old", "old-nodeset-svc")


def test_slurm_conf_names_the_workers_of_images_that_do_not_bring_their_nodes_along():
    obj = make("NodeSet", "a")
    plain = understood(make("SlurmCluster"), obj).cluster.nodesets[1]
    assert plain.jailed.registration is Registration.DYNAMIC
    obj["metadata"]["annotations"] = {REGISTRATION: "static"}
    made = understood(make("SlurmCluster"), obj).cluster.nodesets[1]
    assert made.jailed.registration is Registration.STATIC


def test_attributes_of_both_releases_are_read():
    made = workers(
        nodeConfig={"features": ["a"], "static": "Weight=1", "gresConfig": ["Name=gpu"]},
        nodeAttributes={"features": ["b", "a"], "extra": "x"},
    )
    assert (made.jailed.features, made.jailed.node_extra) == (("a", "b"), "x")
    assert (made.extra, made.jailed.gres) == ("Weight=1", ("Name=gpu",))


@pytest.mark.parametrize(
    ("spool", "volume"),
    [
        (None, Given({"emptyDir": {}})),
        ({"nfs": {}}, Given({"nfs": {}})),
        ({"volumeSource": {"nfs": {}}}, Given({"nfs": {}})),
        ({"volumeClaimTemplateSpec": CLAIM}, Claimed(CLAIM)),
    ],
)
def test_the_spool_lies_where_the_user_says(spool, volume):
    assert workers(slurmd={"volumes": {"spool": spool}}).jailed.spool == volume


def test_claims_go_with_workers_unless_they_are_to_stay():
    assert workers().retention == Retention(delete_with_set=True, delete_with_worker=True)
    policy = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    kept = workers(slurmd={"volumes": {"persistentVolumeClaimRetentionPolicy": policy}})
    assert kept.retention == Retention()


def test_a_mount_without_a_volume_is_named_rather_than_taken_for_an_empty_one():
    asked = {"jailSubMounts": [{"name": "a", "mountPath": "/a", "volumeSource": {}}]}
    with pytest.raises(ValueError, match=r"^spec.slurmd.volumes.jailSubMounts\[0\]: needs volumeS"):
        workers(slurmd={"volumes": asked})


def test_pods_are_in_the_nodes_user_namespace_where_it_is_asked_for_and_else_nothing_is_said():
    assert workers(enableHostUserNamespace=True).part.pods.spec == {"hostUsers": True}
    assert workers(enableHostUserNamespace=False).part.pods.spec == {}


# -- of both


@pytest.mark.parametrize("mode", Mode)
def test_in_maintenance_there_are_no_workers_and_slurm_conf_names_them_still(mode):
    cluster = make("SlurmCluster", maintenance=mode.value)
    made = understood(cluster, make("NodeSet", "a", replicas=3)).cluster.nodesets
    alone = workers(cluster=cluster, replicas=3)
    assert [one.replicas for one in (*made, alone)] == ([0, 0, 0] if mode.down else [2, 3, 3])
    assert [one.jailed.listed for one in (*made, alone)] == [2, 3, 3]


def test_a_node_set_whose_cluster_is_not_there_is_read_all_the_same():
    made = workers(ALONE, cluster=None, replicas=3)
    assert (made.replicas, made.cluster) == (3, "slurm")


def test_a_probe_never_restarts_slurmd_which_would_end_its_jobs():
    for made in (
        own(slurmd={"livenessProbe": PROBE, "readinessProbe": PROBE}),
        workers(slurmd={"livenessProbe": PROBE, "readinessProbe": PROBE}),
    ):
        asked = made.part.pods.containers["slurmd"]
        assert asked["readinessProbe"] == PROBE
        assert "livenessProbe" not in asked
    # It is read, and told of.
    assert objects.read(make("NodeSet", slurmd={"livenessProbe": PROBE})).spec.slurmd.liveness_probe


def test_files_of_the_users_take_the_place_of_ours():
    made = own(sshdConfigMapRefName="a", supervisordConfigMapRefName="b").jailed
    assert (made.sshd.name, made.supervisord.name) == ("a", "b")
    assert made.sshd.field == "spec.slurmNodes.worker.sshdConfigMapRefName"
    of_set = workers(configMapRefSshd="a").jailed
    assert (of_set.sshd.name, of_set.supervisord) == ("a", None)
