import pytest

from shoal.kube.findings import Known

from .objects import KEY, KINDS, make
from .reviews import created

SSH = {"ssh": {"enabled": True, "sssdConfRef": KEY}}
SECRET = {"name": "l-ssh-host-keys", "key": "k"}
LONGEST = {
    "Controller": 41,  # <name>-controller, a StatefulSet
    "NodeSet": 57,  # <name>-<five digits>, a pod
    "LoginSet": 63,  # <name>, a Service
    "Accounting": 41,  # <name>-accounting, a StatefulSet
    "RestApi": 55,  # <name>-restapi, a Service
}


@pytest.mark.parametrize(("kind", "longest"), LONGEST.items())
def test_a_name_may_be_as_long_as_all_names_made_of_it_allow(kind, longest):
    spec = {"clusterName": "short"} if kind == "Controller" else {}
    assert created(kind, "a" * longest, **spec).errors == ()
    errors = created(kind, "a" * (longest + 1), **spec).errors
    assert {error.field for error in errors} == {"metadata.name"}
    assert any("shorten it by 1" in error.message for error in errors)


@pytest.mark.parametrize("kind", ["Controller", "LoginSet", "Accounting", "RestApi"])
@pytest.mark.parametrize("name", ["9a", "a.b"])
def test_a_name_that_no_service_can_have_is_refused(kind, name):
    errors = created(kind, name, **({"clusterName": "c"} if kind == "Controller" else {})).errors
    assert any("which Kubernetes refuses" in error.message for error in errors)
    assert all("starting with a letter" in error.message for error in errors)
    assert {error.field for error in errors} == {"metadata.name"}


def test_a_name_with_a_dot_is_refused_for_workers():
    (error,) = created("NodeSet", "a.b").errors
    assert error.field == "metadata.name"
    assert "use lower-case letters, digits and dashes within" in error.message
    assert "letter," not in error.message


def test_a_user_whose_token_no_secret_could_hold_is_told_what_could():
    (error,) = created("Token", "a", username="Ann").errors
    assert "use lower-case letters, digits, dots and dashes within; or name one" in error.message


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
def test_a_name_that_is_yet_to_be_chosen_is_not_judged(kind):
    spec = {"clusterName": "c"} if kind == "Controller" else {}
    if kind == "Token":
        spec["secretRef"] = {"name": "s", "key": "k"}
    assert created(kind, "", **spec).errors == ()


CLASHES = [
    ("LoginSet", "slurm-controller", {}, make("Controller", "slurm")),
    ("LoginSet", "slurm-workers-slurm", {}, make("Controller", "slurm")),
    ("LoginSet", "slurm-restapi", {}, make("RestApi", "slurm")),
    ("NodeSet", "a", SSH, make("LoginSet", "a")),
    ("NodeSet", "slurm-controller", {}, make("Controller", "slurm")),
    ("NodeSet", "slurm-accounting", {}, make("Accounting", "slurm")),
    ("Token", "b", {"secretRef": SECRET}, make("Token", "a", secretRef=SECRET)),
    ("Token", "a", {"secretRef": SECRET}, make("LoginSet", "l")),
]


@pytest.mark.parametrize(("kind", "name", "spec", "other"), CLASHES, ids=str)
def test_two_objects_never_make_the_same_thing(kind, name, spec, other):
    errors = created(kind, name, Known((other,)), **spec).errors
    who = f"{other['kind']} {other['metadata']['name']!r}"
    (error,) = [error for error in errors if error.field == "metadata.name"]
    assert f"is made for {who} already" in error.message


FRIENDS = [
    ("NodeSet", "a", {}, make("LoginSet", "a")),
    ("NodeSet", "slurm-controller", {"scalingMode": "DaemonSet"}, make("Controller", "slurm")),
    ("LoginSet", "slurm-accounting", {}, make("Accounting", "slurm", external=True)),
    ("RestApi", "slurm", {}, make("Controller", "slurm")),
    ("Accounting", "slurm", {}, make("Controller", "slurm")),
    ("Controller", "slurm", {}, make("Controller", "slurm")),
]


@pytest.mark.parametrize(("kind", "name", "spec", "other"), FRIENDS, ids=str)
def test_what_makes_other_things_may_stand_beside_it(kind, name, spec, other):
    assert created(kind, name, Known((other,)), **spec).errors == ()


def test_another_namespace_is_another_world():
    other = make("LoginSet", "slurm-controller")
    other["metadata"]["namespace"] = "test"
    assert created("Controller", "slurm", Known((other,))).errors == ()
