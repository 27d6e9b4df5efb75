import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.nebius.admission import PATHS, SECRET_PATH, SECRET_SELECTOR, review, secret
from shoal.dialects.nebius.types import KINDS, SLURM_CLUSTER
from shoal.kube.findings import Known

from .objects import KIND, make, nodes, objects
from .reviews import created, updated

NAMES = [kind.kind for kind in KINDS]

# -- what cannot be changed


def spool(name, **more):
    return {**nodes(controller={"volumes": {"spool": {"volumeSourceName": name}}}), **more}


def protected(*, value=True):
    maria = {"image": "a", "protectedSecret": value, "storage": {"size": "1Gi"}}
    return nodes(accounting={"enabled": True, "mariadbOperator": maria})


def claim(**spec):
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volume = {"volumeSourceName": None, "volumeClaimTemplateSpec": {**asked, **spec}}
    return nodes(controller={"volumes": {"spool": volume}})


FIXED = [
    ("SlurmCluster", protected(), protected(value=False),
     "spec.slurmNodes.accounting.mariadbOperator.protectedSecret"),
    ("SlurmCluster", {}, spool("jail"), "spec.slurmNodes.controller.volumes.spool"),
    ("SlurmCluster", {}, claim(), "spec.slurmNodes.controller.volumes.spool"),
    ("SlurmCluster", claim(), claim(storageClassName="fast"),
     "spec.slurmNodes.controller.volumes.spool"),
    ("NodeSet", {}, {"clusterName": "other"}, "spec.clusterName"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "before", "after", "field"), FIXED, ids=str)
def test_what_cannot_be_changed_is_refused_with_what_it_was(kind, before, after, field):
    (error,) = updated(make(kind, **before), make(kind, **after)).errors
    assert error.field == field
    assert error.message.startswith("cannot change")
    assert "put that back" in error.message


SAME = [
    ("SlurmCluster", {}, protected()),
    ("SlurmCluster", claim(), claim(resources={"requests": {"storage": "2Gi"}})),
    ("SlurmCluster", {"maintenance": "downscale"}, spool("jail", maintenance="downscale")),
    ("SlurmCluster", {}, {"maintenance": "downscale"}),
    ("SlurmCluster", {}, nodes(worker={"size": 9})),
    ("NodeSet", {}, {"replicas": 9}),
    ("NodeSet", {"clusterName": None}, {"clusterName": "slurm"}),
]


@pytest.mark.parametrize(("kind", "before", "after"), SAME, ids=str)
def test_what_means_the_same_or_may_change_is_let_through(kind, before, after):
    assert updated(make(kind, **before), make(kind, **after)).errors == ()


def test_the_cluster_of_a_node_set_may_move_from_its_annotation_to_its_spec():
    old, new = make("NodeSet", clusterName=None), make("NodeSet", clusterName="slurm")
    old["metadata"]["annotations"] = {"slurm.nebius.ai/parental-cluster-ref": "slurm"}
    assert updated(old, new).errors == ()


def test_nodes_that_slurm_conf_names_stay_named_as_jobs_would_go_with_their_lines():
    named, plain = make("NodeSet"), make("NodeSet")
    named["metadata"]["annotations"] = {"shoal/registration": "static"}
    (error,) = updated(named, plain).errors
    assert error.field == "metadata.annotations[shoal/registration]"
    assert "put that back, or make a new NodeSet" in error.message
    assert updated(plain, named).errors == ()


# -- what was wrong before, and what is let go


def test_what_was_wrong_before_does_not_stop_another_change():
    old = make("NodeSet", nodeConfig={"static": "Weight"})
    verdict = updated(old, make("NodeSet", nodeConfig={"static": "Weight"}, replicas=3))
    assert verdict.errors == ()
    assert verdict.warnings == ("spec.nodeConfig.static: 'Weight' is no Key=Value and no Include",)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=10)
@given(st.data())
def test_an_object_that_is_written_again_as_it_is_always_passes(kind, data):
    """Whatever it is: else nobody could label it, or take a finalizer away."""
    obj = data.draw(objects(kind))
    marked = copy.deepcopy(obj)
    marked["metadata"]["labels"] = {"a": "b"}
    assert updated(obj, marked).errors == ()


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=15)
@given(st.data())
def test_every_object_that_the_api_server_could_hold_is_judged(kind, data):
    """A webhook that falls over refuses everybody."""
    verdict = review(KIND[kind], "CREATE", data.draw(objects(kind)), {}, Known())
    assert all(error.field and error.message for error in verdict.errors)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=10)
@given(st.data())
def test_no_object_of_another_user_keeps_one_from_being_judged(kind, data):
    others = tuple(data.draw(objects(name)) for name in NAMES)
    ask = Known(tuple({**o, "metadata": {"name": "a", "namespace": "prod"}} for o in others))
    assert created(kind, "workers", ask).errors == ()


@pytest.mark.parametrize("kind", NAMES)
def test_a_deletion_is_never_stopped(kind):
    assert review(KIND[kind], "DELETE", {}, make(kind), Known()).errors == ()


def test_an_object_that_is_being_deleted_can_lose_its_finalizers_however_wrong_it_is():
    gone = make("NodeSet", replicas=-1, clusterName="b")
    gone["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert updated(make("NodeSet"), gone).errors == ()


def test_the_paths_are_those_that_upstream_serves():
    assert set(PATHS) == {
        "/validate-slurm-nebius-ai-v1-slurmcluster",
        "/validate-slurm-nebius-ai-v1alpha1-nodeset",
    }
    assert SECRET_PATH == "/validate--v1-secret"
    assert SECRET_SELECTOR == {"matchLabels": {"slurm.nebius.ai/webhook": "true"}}


# -- Secrets that are protected

CLUSTERS = frozenset({SLURM_CLUSTER})


def password(text="cGFzcw==", **meta):
    labels = {"slurm.nebius.ai/webhook": "true"}
    annotations = {"slurm.nebius.ai/cluster": "slurm"}
    whole = {"name": "mariadb-root", "namespace": "prod", "labels": labels}
    return {
        "kind": "Secret",
        "metadata": {**whole, "annotations": annotations, **meta},
        "data": {"password": text},
        "type": "Opaque",
    }


def test_a_protected_secret_names_its_cluster():
    assert secret("CREATE", password(), {}, Known()).errors == ()
    (error,) = secret("CREATE", password(annotations={}), {}, Known()).errors
    assert error.field == "metadata.annotations[slurm.nebius.ai/cluster]"
    assert "name the SlurmCluster" in error.message


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (password("b3RoZXI="), "data"),
        ({**password(), "type": "other"}, "type"),
        (password(annotations={}), "metadata.annotations[slurm.nebius.ai/cluster]"),
        (password(labels={}), "metadata.labels[slurm.nebius.ai/webhook]"),
    ],
    ids=["data", "type", "owner", "protection"],
)
def test_a_protected_secret_cannot_be_changed(new, field):
    (error,) = secret("UPDATE", new, password(), Known()).errors
    assert error.field == field
    assert "cannot be" in error.message


def test_garbage_collection_may_mark_a_protected_secret():
    marked = password(finalizers=["foregroundDeletion"], ownerReferences=[{"uid": "1"}])
    assert secret("UPDATE", marked, password(), Known()).errors == ()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (Known((make("SlurmCluster"),), CLUSTERS), "delete that first"),
        (Known(), "nobody knows"),
    ],
    ids=["there", "unknown"],
)
def test_a_protected_secret_stays_unless_its_cluster_certainly_is_gone(ask, words):
    (error,) = secret("DELETE", {}, password(), ask).errors
    assert words in error.message


@pytest.mark.parametrize("obj", [password(), password(annotations=None)], ids=["gone", "nobody's"])
def test_a_protected_secret_without_a_cluster_can_go(obj):
    other = Known((make("SlurmCluster", "other"),), CLUSTERS)
    assert secret("DELETE", {}, obj, other).errors == ()


def test_looking_at_a_protected_secret_is_free():
    assert secret("CONNECT", {}, password(), Known()).errors == ()
