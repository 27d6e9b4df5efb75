import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.nebius import crds
from shoal.dialects.nebius.nodeset_types import Image
from shoal.dialects.nebius.types import KINDS, TYPES

from .objects import make, nodes, objects, read

NAMES = [kind.kind for kind in KINDS]


def decoded(obj):
    return msgspec.json.decode(msgspec.json.encode(obj), type=TYPES[obj["kind"]])


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=15)
@given(st.data())
def test_every_object_that_the_api_server_could_hold_is_read(kind, data):
    """One that is not would spoil the list of all."""
    assert decoded(data.draw(objects(kind))).metadata.name == "a"


@pytest.mark.parametrize("kind", NAMES)
def test_an_object_with_nothing_in_it_is_read(kind):
    found = decoded({"kind": kind, "metadata": {"name": "a"}, "spec": {}})
    assert (found.metadata.name, found.status.conditions) == ("a", ())


@pytest.mark.parametrize("kind", NAMES)
def test_fields_that_are_not_known_are_passed_over(kind):
    obj = make(kind, fromTheFuture={"a": [1]})
    obj["status"] = {"fromTheFuture": 1}
    assert decoded(obj) == decoded(make(kind))


@pytest.mark.parametrize("word", ["", "Sometimes"])
def test_a_word_that_another_definition_let_through_is_read(word):
    assert read(make("SlurmCluster", maintenance=word)).spec.maintenance == word
    assert read(make("NodeSet", updateStrategy=word)).spec.update_strategy == word


def defaulted(schema, value):
    """Return `value` with all that the API server would fill in."""
    if isinstance(value, dict):
        whole = dict(value)
        for name, below in schema.get("properties", {}).items():
            if name not in whole and "default" in below:
                whole[name] = below["default"]
            if name in whole:
                whole[name] = defaulted(below, whole[name])
        return whole
    if isinstance(value, list):
        return [defaulted(schema.get("items", {}), one) for one in value]
    return value


PARTS = nodes(
    accounting={
        "slurmdbdConfig": {},
        "slurmConfig": {},
        "externalDB": {},
        "mariadbOperator": {"image": "a", "metrics": {}},
    },
    controller={"openMetrics": {}},
    login={"userIsolation": {}},
    exporter={"exporter": {"image": "a"}},
)
FULL = {
    "SlurmCluster": {**PARTS, "sConfigController": {}, "partitionConfiguration": {}},
    "NodeSet": {"gpu": {"nvidia": {}}, "nodeConfig": {}, "docker": {}, "topology": {}},
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("full", [False, True])
def test_what_the_api_server_fills_in_is_what_we_mean_without_it(kind, full):
    obj = make(kind, **(FULL[kind] if full else {}))
    definition = next(d for d in crds.definitions() if d["spec"]["names"]["kind"] == kind)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    filled = {**obj, "spec": defaulted(schema["properties"]["spec"], obj["spec"])}
    assert filled != obj
    assert decoded(filled) == decoded(obj)


def test_what_kubernetes_defines_is_read_as_it_is_written():
    affinity = {"nodeAffinity": {"fromTheFuture": [1, {"a": None}]}}
    found = read(make("SlurmCluster", k8sNodeFilters=[{"name": "any", "affinity": affinity}]))
    assert found.spec.k8s_node_filters[0].affinity == affinity
    source = {"name": "a", "image": {"reference": "b"}}
    assert read(make("SlurmCluster", volumeSources=[source])).spec.volume_sources == (source,)


@pytest.mark.parametrize("value", [True, 1], ids=["older", "newer"])
def test_replication_is_handed_on_in_the_shape_of_either_release(value):
    asked = {"enabled": True, "syncBinlog": value, "replica": {"recovery": {"enabled": True}}}
    spec = nodes(accounting={"mariadbOperator": {"image": "a", "replication": asked}})
    found = read(make("SlurmCluster", **spec)).spec.slurm_nodes.accounting
    assert found.mariadb_operator.replication == asked


@pytest.mark.parametrize(
    ("image", "reference"),
    [(Image("a/b", "1"), "a/b:1"), (Image("a/b"), "a/b"), (Image("a/b", ""), "a/b")],
)
def test_an_image_without_a_tag_is_its_repository(image, reference):
    assert image.reference == reference
