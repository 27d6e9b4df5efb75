import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.slinky.admission import BIND, BINDING, PATHS, bind, review
from shoal.dialects.slinky.convert import convert
from shoal.dialects.slinky.types import KINDS
from shoal.kube.findings import Known
from shoal.kube.kinds import NODE, POD

from .objects import KEY, KIND, make, objects
from .reviews import config_map, created, updated

NAMES = [kind.kind for kind in KINDS]
OTHER = {"name": "other", "key": "k"}


# -- what cannot be changed

JWT = "the value of JwtKeyRef or JwtHs256KeyRef cannot be modified after deployment"
FIXED = [
    ("Controller", {"clusterName": "a"}, {"clusterName": "b"}, "spec.clusterName",
     "cannot change ClusterName after deployment"),
    ("Controller", {}, {"clusterName": "b"}, "spec.clusterName",
     "cannot change ClusterName after deployment"),
    ("Controller", {}, {"slurmKeyRef": OTHER}, "spec.slurmKeyRef.name",
     "cannot change slurmKeyRef.name after deployment"),
    ("Controller", {}, {"jwtKeyRef": OTHER}, "spec.jwtKeyRef", JWT),
    ("Controller", {}, {"persistence": {"enabled": False}}, "spec.persistence.enabled",
     "cannot change persistence.enabled after deployment"),
    ("Controller", {"persistence": {"existingClaim": "a"}}, {"persistence": {"existingClaim": "b"}},
     "spec.persistence.existingClaim", "cannot change persistence.existingClaim after deployment"),
    ("Accounting", {}, {"jwtKeyRef": OTHER}, "spec.jwtKeyRef", JWT),
    ("Token", {}, {"jwtKeyRef": OTHER}, "spec.jwtKeyRef", JWT),
    ("NodeSet", {}, {"controllerRef": {"name": "b"}}, "spec.controllerRef",
     "cannot change controllerRef after deployment"),
    ("LoginSet", {}, {"controllerRef": {"name": "b"}}, "spec.controllerRef",
     "cannot change controllerRef after deployment"),
    ("NodeSet", {}, {"volumeClaimTemplates": [{"metadata": {"name": "a"}}]},
     "spec.volumeClaimTemplates", "cannot change volumeClaimTemplates after deployment"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "before", "after", "field", "words"),
    FIXED,
    ids=[f"{k}-{f}" for k, _, _, f, _ in FIXED],
)
def test_what_cannot_be_changed_is_refused_with_what_it_was(kind, before, after, field, words):
    (error,) = updated(make(kind, **before), make(kind, **after)).errors
    assert error.field == field
    assert error.message.startswith(words)
    assert "put that back" in error.message


SAME = [
    ("Controller", {}, {"clusterName": "prod_slurm"}),
    ("Controller", {"jwtKeyRef": None, "jwtHs256KeyRef": KEY}, {}),
    ("Controller", {}, {"slurmKeyRef": {**KEY, "key": "other"}}),
    ("Controller", {"persistence": {"enabled": False, "existingClaim": "a"}},
     {"persistence": {"enabled": False}}),
    ("Controller", {}, {"extraConf": "A=1"}),
    ("NodeSet", {"volumeClaimTemplates": None}, {"volumeClaimTemplates": []}),
    ("NodeSet", {}, {"controllerRef": {"name": "slurm", "namespace": "prod"}}),
    ("NodeSet", {}, {"replicas": 9}),
    ("RestApi", {}, {"controllerRef": {"name": "b"}}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "before", "after"), SAME, ids=str)
def test_what_means_the_same_or_may_change_is_let_through(kind, before, after):
    assert updated(make(kind, **before), make(kind, **after)).errors == ()


# -- what was wrong before


def test_what_was_wrong_before_does_not_stop_another_change():
    old = make("NodeSet", extraConf="Weight")
    verdict = updated(old, make("NodeSet", extraConf="Weight", replicas=3))
    assert verdict.errors == ()
    assert verdict.warnings == ("spec.extraConf: 'Weight' is no Key=Value and no Include",)


def test_what_is_wrong_now_stops_it():
    old = make("NodeSet", extraConf="Weight")
    (error,) = updated(old, make("NodeSet", extraConf="Weight", replicas=-1)).errors
    assert error.field == "spec.replicas"
    (error,) = updated(old, make("NodeSet", extraConf="Height")).errors
    assert error.field == "spec.extraConf"


def test_a_config_map_that_has_gone_since_does_not_stop_a_change():
    files = {"configFileRefs": [{"name": "files"}]}
    ask = Known((config_map("files", slurm_conf=""),))
    assert created("Controller", ask=ask, **files).errors != ()
    old, new = make("Controller", **files), make("Controller", extraConf="A=1", **files)
    assert updated(old, new, ask).errors == ()


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
@settings(max_examples=10)
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


# -- what is let go


@pytest.mark.parametrize("kind", NAMES)
def test_a_deletion_is_never_stopped(kind):
    assert review(KIND[kind], "DELETE", {}, make(kind), Known()).errors == ()


def test_an_object_that_is_being_deleted_can_lose_its_finalizers_however_wrong_it_is():
    old = make("NodeSet", replicas=1)
    gone = make("NodeSet", replicas=-1, controllerRef={"name": "b"})
    gone["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert updated(old, gone).errors == ()


# -- the older version


def test_an_object_of_the_older_version_is_checked_as_one_of_the_newer():
    old = make("NodeSet", version="v1alpha1", replicas=-1)
    (error,) = review(KIND["NodeSet"], "CREATE", old, {}, Known()).errors
    assert error.field == "spec.replicas"


def test_a_change_across_versions_is_a_change_of_what_is_meant():
    new = make("NodeSet", scalingMode="DaemonSet", replicas=2)
    assert updated(new, convert(new, "v1alpha1")).errors == ()
    moved = convert(make("NodeSet", controllerRef={"name": "b"}), "v1alpha1")
    (error,) = updated(new, moved).errors
    assert error.field == "spec.controllerRef"


# -- how it is said


def test_each_finding_is_said_once_and_the_message_names_every_field():
    verdict = created("NodeSet", "workers", replicas=-1, minReadySeconds=-1)
    assert verdict.message == (
        "spec.replicas: must be 0 or more, got -1; spec.minReadySeconds: must be 0 or more, got -1"
    )


def test_a_warning_fits_into_a_header():
    """The API server cuts a warning of more than 256 characters short."""
    long = {"name": "a" * 60}
    refs = {"configFileRefs": [long], "accountingRef": long, "jwksKeyRef": {**long, "key": "k"}}
    ask = Known((config_map("a" * 60, **{"b" * 60: ""}),), frozenset(KINDS))
    warnings = created("Controller", ask=ask, **refs).warnings
    assert len(warnings) == 2
    assert all(len(warning) <= 256 for warning in warnings)


def test_the_paths_are_those_that_upstream_serves():
    assert {path.rpartition("-")[2] for path in PATHS} == {name.lower() for name in NAMES}
    assert "/validate-slinky-slurm-net-v1beta1-controller" in PATHS
    assert (BIND, BINDING.path("a", "b")) == (
        "/mutate--v1-binding",
        "/api/v1/namespaces/a/pods/binding/b",
    )


# -- bindings

TOPOLOGY = "topology.slinky.slurm.net/spec"
TO_NODE = {
    "apiVersion": "v1",
    "kind": "Binding",
    "metadata": {"name": "w-0", "namespace": "prod"},
    "target": {"kind": "Node", "name": "n1"},
}


def pod(**labels):
    marks = {key.replace("_", "/"): value for key, value in labels.items()}
    return {"kind": "Pod", "metadata": {"name": "w-0", "namespace": "prod", "labels": marks}}


def node(**annotations):
    return {"kind": "Node", "metadata": {"name": "n1", "annotations": annotations}}


WORKER = {"kind": "Pod", "metadata": {"name": "w-0", "namespace": "prod"}}
WORKER["metadata"]["labels"] = {"app.kubernetes.io/name": "slurmd"}


def test_a_worker_learns_its_place_in_the_topology_before_it_starts():
    made = bind(TO_NODE, Known((WORKER, node(**{TOPOLOGY: "default:b1"}))))
    assert made["metadata"]["annotations"] == {TOPOLOGY: "default:b1"}
    assert "annotations" not in TO_NODE["metadata"]


def test_a_worker_on_a_node_without_a_place_forgets_the_old_one():
    made = bind(TO_NODE, Known((WORKER, node())))
    assert made["metadata"]["annotations"] == {TOPOLOGY: ""}


def test_annotations_that_a_binding_has_stay():
    marked = {**TO_NODE, "metadata": {**TO_NODE["metadata"], "annotations": {"a": "b"}}}
    made = bind(marked, Known((WORKER, node())))
    assert made["metadata"]["annotations"] == {"a": "b", TOPOLOGY: ""}


@pytest.mark.parametrize(
    "ask",
    [
        Known((pod(app="other"), node())),
        Known((WORKER,)),
        Known((node(),)),
        Known((), frozenset({POD, NODE})),
    ],
    ids=["other", "no node", "no pod", "nothing"],
)
def test_what_is_no_worker_or_is_not_known_is_scheduled_as_it_was(ask):
    assert bind(TO_NODE, ask) == TO_NODE


def test_a_binding_without_a_target_is_left_alone():
    assert bind({"metadata": {"name": "w-0", "namespace": "prod"}}, Known()) == {
        "metadata": {"name": "w-0", "namespace": "prod"}
    }
