"""Where the API server serves what."""

import pytest

from shoal.kube import kinds
from shoal.kube.kinds import Kind, Kinds
from shoal.kube.objects import Meta, Resource

PARENT = Kind("example.com", "v1", "Parent", "parents")


@pytest.mark.parametrize(
    ("kind", "where", "path"),
    [
        (kinds.POD, (), "/api/v1/pods"),
        (kinds.POD, ("n",), "/api/v1/namespaces/n/pods"),
        (kinds.POD, ("n", "p"), "/api/v1/namespaces/n/pods/p"),
        (kinds.POD, ("n", "p", "status"), "/api/v1/namespaces/n/pods/p/status"),
        (kinds.NODE, ("", "w"), "/api/v1/nodes/w"),
        (kinds.NODE, ("ignored", "w"), "/api/v1/nodes/w"),
        (kinds.NAMESPACE, ("", "n"), "/api/v1/namespaces/n"),
        (
            kinds.STATEFUL_SET,
            ("n", "s", "scale"),
            "/apis/apps/v1/namespaces/n/statefulsets/s/scale",
        ),
        (PARENT, ("n",), "/apis/example.com/v1/namespaces/n/parents"),
    ],
)
def test_paths_are_those_of_the_api(kind, where, path):
    assert kind.path(*where) == path


def test_the_core_group_has_no_name():
    assert kinds.POD.api_version == "v1"
    assert kinds.LEASE.api_version == "coordination.k8s.io/v1"


def test_a_process_knows_kubernetes_own_kinds_and_those_it_is_told_of():
    known = Kinds(PARENT)
    assert known.of({"apiVersion": "example.com/v1", "kind": "Parent"}) is PARENT
    assert known.of({"apiVersion": "apps/v1", "kind": "StatefulSet"}) is kinds.STATEFUL_SET


@pytest.mark.parametrize("obj", [{"apiVersion": "example.com/v2", "kind": "Parent"}, {}])
def test_an_unknown_kind_is_named_in_the_error(obj):
    with pytest.raises(LookupError, match="unknown kind") as caught:
        Kinds(PARENT).of(obj)
    assert str(obj.get("kind")) in str(caught.value)


def test_no_two_kinds_share_a_path():
    every = [kind for kind in vars(kinds).values() if isinstance(kind, Kind)]
    assert len({kind.path() for kind in every}) == len(every)


def test_an_identity_names_that_very_object_and_nothing_else():
    seen = Resource(Meta(name="w-0", namespace="ns", uid="u", labels={"a": "b"}))
    assert kinds.POD.identity(seen) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "w-0", "namespace": "ns", "uid": "u"},
    }
    node = kinds.NODE.identity(Resource(Meta(name="n0", uid="u")))
    assert node["metadata"] == {"name": "n0", "uid": "u"}
