"""What the model says of a SlurmCluster, and of what was found beside it."""

from dataclasses import replace

import pytest

from shoal.dialects.nebius import naming, read
from shoal.model.controller import ClaimTemplate, Ephemeral, ExistingClaim, ExistingVolume
from shoal.model.jail import Claimed, Given
from shoal.model.maintenance import Mode
from shoal.model.observed import Found
from shoal.model.part import KeyRef
from shoal.slurm.keys import Version

from . import objects
from .objects import make, nodes
from .readings import ALONE, NOTHING, the, understood

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


# -- the whole


def test_a_cluster_has_its_own_workers_first_and_then_node_sets_by_name():
    sets = [make("NodeSet", name) for name in ("b", "c", "a")]
    made = understood(make("SlurmCluster"), *sets).cluster
    assert [one.part.name for one in made.nodesets] == ["slurm-worker", "a", "b", "c"]
    assert {one.cluster for one in made.nodesets} == {"slurm"}
    assert made.workers == "slurm-worker-svc"


def test_without_a_word_of_workers_all_are_of_node_sets():
    made = understood(make("SlurmCluster", **nodes(worker=None)), make("NodeSet", "a")).cluster
    assert [one.part.name for one in made.nodesets] == ["a"]
    assert made.workers == made.nodesets[0].service == "slurm-nodeset-svc"


def test_own_workers_that_are_scaled_to_none_keep_the_service_that_names_them():
    (own,) = the(**nodes(worker={"size": 0})).cluster.nodesets
    assert (own.replicas, own.service) == (0, "slurm-worker-svc")


def test_slurm_calls_a_cluster_by_its_name_and_its_daemons_are_roots():
    made = the().cluster
    assert (made.slurm_name, made.slurm_user, made.domain) == ("slurm", "root", "cluster.local")
    assert the(around=replace(ALONE, domain="here")).cluster.domain == "here"


def test_a_cluster_that_is_deleted_is_going():
    obj = make("SlurmCluster")
    assert not understood(obj).cluster.going
    obj["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert understood(obj).cluster.going


def test_keys_are_those_that_are_made_once_with_the_digests_of_what_they_hold():
    keys = the().cluster.keys
    assert keys.slurm is None
    assert keys.munge == KeyRef("slurm-munge", "munge.key")
    assert keys.jwt == KeyRef("slurm-rest-jwt-key", "rest_jwt.key")
    found = Found({}, {"slurm-munge": {"munge.key": b"x"}, "slurm-rest-jwt-key": {"other": b"x"}})
    keys = the(around=replace(ALONE, found=found)).cluster.keys
    assert (bool(keys.munge.digest), bool(keys.jwt.digest)) == (True, False)


def test_an_older_cluster_keeps_the_names_of_its_workloads():
    made = the(around=replace(ALONE, legacy=True))
    assert made.cluster.controller.names.workload == "controller"
    assert made.cluster.nodesets[0].pod_name(0) == "worker-0"
    assert made.gate.names.workload == "login"
    assert made.cluster.controller.names.service == "slurm-controller-svc"


def test_the_image_of_slurmctld_says_which_slurm_it_is_and_a_note_where_it_does_not():
    obj = make("SlurmCluster", **nodes(controller={"slurmctld": {"image": "x:3.0-slurm25.11.3"}}))
    assert understood(obj).cluster.version == Version(25, 11)
    obj["metadata"]["annotations"] = {"shoal/slurm-version": "26.05"}
    assert understood(obj).cluster.version == Version(26, 5)


def test_the_table_of_nodes_is_as_large_as_the_published_configuration_says():
    found = Found({"slurm-slurm-configs": {"slurm.conf": b"MaxNodeCount=2048\n"}}, {})
    assert the(around=replace(ALONE, found=found)).cluster.node_table == 2048


# -- slurmctld


@pytest.mark.parametrize(
    ("source", "state"),
    [
        ({"persistentVolumeClaim": {"claimName": "c"}}, ExistingClaim("c")),
        (
            {"persistentVolumeClaim": {"claimName": "c", "readOnly": False}},
            ExistingVolume({"persistentVolumeClaim": {"claimName": "c", "readOnly": False}}),
        ),
        ({"nfs": {"server": "s"}}, ExistingVolume({"nfs": {"server": "s"}})),
        ({"emptyDir": {"medium": "Memory"}}, Ephemeral()),
    ],
)
def test_the_state_lies_where_the_user_says(source, state):
    sources = [{"name": "jail", "nfs": {}}, {"name": "spool", **source}]
    assert the(volumeSources=sources).cluster.controller.state == state


def test_the_state_may_lie_on_a_volume_that_is_made_for_it():
    spool = {"volumeSourceName": None, "volumeClaimTemplateSpec": CLAIM}
    made = the(**nodes(controller={"volumes": {"spool": spool}})).cluster.controller
    assert made.state == ClaimTemplate(CLAIM)
    assert made.guarded


def test_one_service_leads_to_slurmctld_and_names_its_pod():
    names = the().cluster.controller.names
    assert names.service == names.internal == "slurm-controller-svc"


def test_slurmctld_serves_metrics_where_it_is_asked_to_and_on_all_paths_unless_some_are_named():
    def monitor(**asked):
        made = the(**nodes(controller={"openMetrics": asked})).cluster.controller.metrics
        return made and [(one.path, one.interval) for one in made.monitor.endpoints]

    assert the().cluster.controller.metrics is None
    assert monitor(enabled=False) is None
    assert monitor() == [(f"/metrics/{name}", "30s") for name in read.ENDPOINTS]
    some = {"endpoints": ["jobs"], "interval": "1m"}
    assert monitor(serviceMonitor=some) == [("/metrics/jobs", "1m")]


# -- the root


def test_the_root_is_filled_where_slurmctld_has_it():
    jail = the(populateJail={"overwrite": True}).cluster.jail
    assert jail.populate.jail == Given({"persistentVolumeClaim": {"claimName": "jail"}})
    assert (jail.populate.name, jail.populate.overwrite) == ("slurm-populate-jail", True)
    assert jail.populate.snapshot is None


def test_the_root_may_be_filled_from_a_volume():
    snapshot = {"volumeClaimTemplateSpec": CLAIM}
    jail = the(populateJail={"jailSnapshotVolume": snapshot}).cluster.jail
    assert jail.populate.snapshot == Claimed(CLAIM)


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_of_maintenance_is_known(mode):
    assert the(maintenance=mode.value).cluster.jail.mode is mode


def test_host_keys_are_the_users_own_where_he_has_some():
    held = {"mine": {"ssh_host_ed25519_key": b"x"}}
    ssh = the(around=replace(ALONE, found=Found({}, held))).cluster.jail.ssh
    assert (ssh.host_keys, ssh.host_keys_digest) == ("slurm-sshd-keys", "")
    own = the(around=replace(ALONE, found=Found({}, held)), secrets={"sshdKeysName": "mine"})
    assert own.cluster.jail.ssh.host_keys == "mine"
    assert own.cluster.jail.ssh.host_keys_digest != ""


def test_there_are_gpus_where_own_workers_or_a_node_set_have_some():
    gpus = make("NodeSet", "a", gpu={"enabled": True})
    assert not understood(make("SlurmCluster"), make("NodeSet", "a")).cluster.jail.gpu
    assert understood(make("SlurmCluster"), gpus).cluster.jail.gpu
    assert the(clusterType="gpu").cluster.jail.gpu
    assert not the(clusterType="gpu", **nodes(worker=None)).cluster.jail.gpu


def test_a_profile_of_ours_is_for_those_whom_people_work_in_and_only_where_it_can_be_made():
    there = replace(ALONE, app_armor=True)
    asked = {"useDefaultAppArmorProfile": True}
    name = naming.Names("slurm").app_armor("prod")

    def profiles(made):
        (own,) = made.cluster.nodesets
        wished = (own.part.pods, made.gate.part.pods, made.cluster.controller.part.pods)
        return [
            one.containers[container]["securityContext"]["appArmorProfile"]
            for one, container in zip(wished, ("slurmd", "sshd", "slurmctld"), strict=True)
        ]

    ours = {"type": "Localhost", "localhostProfile": name}
    none = {"type": "Unconfined"}
    assert profiles(the(around=there, **asked)) == [ours, ours, none]
    assert the(around=there, **asked).cluster.jail.app_armor == name
    assert profiles(the(**asked)) == profiles(the(around=there)) == [none, none, none]
    assert the(**asked).cluster.jail.app_armor == the(around=there).cluster.jail.app_armor == ""


# -- what is named and is not there


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (nodes(worker={"volumes": {"spool": {"volumeSourceName": "x"}}}), "worker.volumes.spool"),
        (nodes(controller={"volumes": {"spool": None}}), "controller.volumes.spool"),
        (nodes(login={"volumes": {"jail": {"volumeSourceName": "x"}}}), "login.volumes.jail"),
        (
            nodes(worker={"volumes": {"customMounts": [{"name": "a", "mountPath": "/a"}]}}),
            r"worker.volumes.customMounts\[0\]",
        ),
    ],
)  # fmt: skip
def test_a_volume_that_is_not_there_is_named_rather_than_taken_for_an_empty_one(spec, field):
    with pytest.raises(ValueError, match=rf"^spec.slurmNodes.{field}.volumeSourceName: .*jail"):
        the(**spec)


def test_a_filter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"^spec.populateJail.k8sNodeFilterName: .*has any"):
        the(populateJail={"k8sNodeFilterName": "x"})


@pytest.mark.parametrize("kind", ["SlurmCluster", "NodeSet"])
def test_reading_twice_gives_the_same(kind):
    obj = objects.read(make(kind, "a"))
    around = read.Around(NOTHING)
    if kind == "SlurmCluster":
        assert read.cluster(obj, [], around) == read.cluster(obj, [], around)
    else:
        assert read.nodeset(obj, None, around) == read.nodeset(obj, None, around)
