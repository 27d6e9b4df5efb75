import pytest

from shoal.dialects.nebius.made import made
from shoal.kube.findings import Known

from .objects import make, nodes, read
from .reviews import created

ENABLED = nodes(accounting={"enabled": True}, rest={"enabled": True}, exporter={"enabled": True})


def test_two_clusters_of_a_namespace_share_nothing():
    one, other = (set(made(read(make("SlurmCluster", name, **ENABLED)))) for name in ("a", "b"))
    assert one & other == set()
    assert created("SlurmCluster", "b", Known((make("SlurmCluster", "a"),))).errors == ()


@pytest.mark.parametrize(
    ("cluster", "nodeset"),
    [("slurm", "slurm-login"), ("slurm", "slurm-worker"), ("slurm", "slurm-controller")],
)
def test_a_node_set_is_not_called_as_a_part_of_a_cluster(cluster, nodeset):
    ask = Known((make("SlurmCluster", cluster),))
    (error,) = created("NodeSet", nodeset, ask).errors
    assert error.field == "metadata.name"
    assert f"'{nodeset}-' is made for SlurmCluster '{cluster}' already" in error.message
    (error,) = created("SlurmCluster", cluster, Known((make("NodeSet", nodeset),))).errors
    assert f"is made for NodeSet '{nodeset}' already" in error.message


def test_a_cluster_is_not_called_so_that_its_services_are_another_ones():
    ask = Known((make("NodeSet", "login", clusterName="a"),))
    (error,) = created("SlurmCluster", "a-nodeset", ask).errors
    assert "Service 'a-nodeset-login-svc' is made for NodeSet 'login'" in error.message


def test_parts_that_are_away_take_no_names():
    away = nodes(login={"size": 0}, worker=None)
    ask = Known((make("SlurmCluster", "slurm", **away),))
    assert created("NodeSet", "slurm-login", ask).errors == ()
    assert created("NodeSet", "slurm-worker", ask).errors == ()


def test_an_object_is_no_rival_of_its_own():
    ask = Known((make("SlurmCluster", "slurm"), make("NodeSet", "gpu")))
    assert created("SlurmCluster", "slurm", ask).errors == ()
    assert created("NodeSet", "gpu", ask).errors == ()


def test_a_cluster_and_a_node_set_may_have_one_name():
    ask = Known((make("SlurmCluster", "gpu"),))
    assert created("NodeSet", "gpu", ask, clusterName="gpu").errors == ()


@pytest.mark.parametrize("name", ["1a", "a.b"])
def test_a_name_that_services_cannot_have_is_refused(name):
    fields = {error.field for error in created("SlurmCluster", name).errors}
    assert fields == {"metadata.name"}


@pytest.mark.parametrize("kind", ["SlurmCluster", "NodeSet"])
def test_a_name_that_the_api_server_is_yet_to_choose_is_not_judged(kind):
    assert created(kind, "").errors == ()


def test_a_node_set_is_not_called_what_slurm_takes_for_something_else():
    (error,) = created("NodeSet", "all").errors
    assert "Slurm takes 'all' for something else" in error.message


def test_the_pods_of_a_node_set_fit_into_a_name():
    (error, *_) = created("NodeSet", "a" * 60).errors
    assert "makes the pod" in error.message or "makes the Service" in error.message
    assert created("NodeSet", "a" * 40).errors == ()


def theirs(kind, name, owner):
    api, of = owner
    ref = {"apiVersion": api, "kind": of, "name": "slurm", "uid": "u", "controller": True}
    meta = {"name": name, "namespace": "prod", "ownerReferences": [ref]}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta}


SLINKY = ("slinky.slurm.net/v1beta1", "Controller")
OURS = ("slurm.nebius.ai/v1", "SlurmCluster")


@pytest.mark.parametrize(
    ("kind", "name", "owner", "refused"),
    [
        ("StatefulSet", "slurm-controller", SLINKY, True),
        ("Service", "slurm-login-svc", SLINKY, True),
        ("StatefulSet", "slurm-controller", OURS, False),
        ("StatefulSet", "other-controller", SLINKY, False),
    ],
)
def test_a_name_that_leads_to_an_object_of_another_api_is_refused(kind, name, owner, refused):
    errors = created("SlurmCluster", "slurm", Known((theirs(kind, name, owner),))).errors
    words = f"{kind} {name!r} is made for Controller 'slurm' already; choose another name"
    assert [(one.field, one.message) for one in errors] == (
        [("metadata.name", words)] if refused else []
    )
