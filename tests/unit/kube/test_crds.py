import pytest
from msgspec import Struct

from shoal.kube.crds import (
    AGE,
    Column,
    Conversion,
    InCluster,
    Names,
    Outside,
    Scale,
    Version,
    crd,
)
from shoal.kube.kinds import Kind
from shoal.kube.objects import Resource

BOAT = Kind("sea.example", "v2", "Boat", "boats")


class Spec(Struct, frozen=True):
    """What is wanted."""

    replicas: int = 1


class Boat(Struct):
    """A boat."""

    spec: Spec


class Whole(Resource, frozen=True, gc=False):
    """A boat with its metadata, as it is read."""

    spec: Spec = Spec()


def version_of(made, name):
    return next(v for v in made["spec"]["versions"] if v["name"] == name)


def test_a_kind_is_stored_in_its_own_version_and_served_in_all():
    made = crd(BOAT, [Version("v1", Boat), Version("v2", Boat)])
    stored = {v["name"]: (v["storage"], v["served"]) for v in made["spec"]["versions"]}
    assert stored == {"v1": (False, True), "v2": (True, True)}


def test_a_kind_without_the_version_that_it_is_stored_in_is_refused():
    with pytest.raises(ValueError, match="Boat: v2, in which it is stored"):
        crd(BOAT, [Version("v1", Boat)])


def test_a_definition_is_named_after_its_kind():
    made = crd(BOAT, [Version("v2", Boat)], Names(("bt",), ("all", "sea")))
    assert made["metadata"]["name"] == "boats.sea.example"
    assert made["spec"]["scope"] == "Namespaced"
    assert made["spec"]["names"] == {
        "kind": "Boat",
        "listKind": "BoatList",
        "plural": "boats",
        "singular": "boat",
        "shortNames": ["bt"],
        "categories": ["all", "sea"],
    }


@pytest.mark.parametrize("type_", [Boat, Whole])
def test_metadata_are_left_to_the_api_server(type_):
    root = version_of(crd(BOAT, [Version("v2", type_)]), "v2")["schema"]["openAPIV3Schema"]
    assert list(root["properties"]) == ["apiVersion", "kind", "metadata", "spec"]
    assert root["properties"]["metadata"] == {"type": "object"}


def test_columns_scale_and_status_are_of_a_version():
    scaled = Version(
        "v2", Boat, (Column("Big", ".spec.big", "boolean", 1), AGE), Scale(selector="")
    )
    made = crd(BOAT, [Version("v1", Boat, (), status=False), scaled])
    assert "subresources" not in version_of(made, "v1")
    assert "additionalPrinterColumns" not in version_of(made, "v1")
    assert version_of(made, "v2")["subresources"] == {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    }
    assert version_of(made, "v2")["additionalPrinterColumns"] == [
        {"name": "Big", "type": "boolean", "jsonPath": ".spec.big", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


def test_users_of_a_deprecated_version_are_warned():
    made = version_of(crd(BOAT, [Version("v2", Boat, deprecated="use v3")]), "v2")
    assert (made["deprecated"], made["deprecationWarning"]) == (True, "use v3")


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (
            InCluster("ops", "shoal"),
            {"service": {"namespace": "ops", "name": "shoal", "port": 443, "path": "/convert"}},
        ),
        (Outside("https://127.0.0.1:9443/"), {"url": "https://127.0.0.1:9443/convert"}),
    ],
)
def test_the_api_server_finds_who_converts(endpoint, expected):
    made = crd(BOAT, [Version("v2", Boat)], conversion=Conversion(endpoint, "/convert"))
    assert made["spec"]["conversion"]["webhook"]["clientConfig"] == expected
    assert made["spec"]["conversion"]["strategy"] == "Webhook"


def test_a_definition_is_the_same_bytes_each_time():
    versions = [Version("v1", Boat), Version("v2", Whole, scale=Scale())]
    assert repr(crd(BOAT, versions)) == repr(crd(BOAT, versions))
