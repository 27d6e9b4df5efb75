import copy
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.slinky.convert import KEPT, convert
from shoal.dialects.slinky.types import KINDS, TYPES

from ..strategies import JSON, TEXTS
from .fields import SEED
from .objects import make, objects, schema_of

NAMES = [kind.kind for kind in KINDS]
NEW, OLD = "v1beta1", "v1alpha1"
EVERY = pytest.mark.parametrize("kind", NAMES)


def known(value, schema):
    """Say whether a version has a field for everything in `value`."""
    if schema.get("x-kubernetes-preserve-unknown-fields") or not isinstance(value, dict):
        return True
    every = schema.get("additionalProperties")
    return all(
        (every or key in schema["properties"]) and known(inner, every or schema["properties"][key])
        for key, inner in value.items()
    )


@EVERY
@pytest.mark.parametrize(("there", "back"), [(OLD, NEW), (NEW, OLD)])
@settings(max_examples=25)
@given(st.data())
def test_an_object_returns_as_it_was(kind, there, back, data):
    obj = data.draw(objects(kind, back))
    assert convert(convert(obj, there), back) == obj


@EVERY
@pytest.mark.parametrize("version", [OLD, NEW])
@settings(max_examples=10)
@given(st.data())
def test_a_converted_object_says_only_what_its_version_knows(kind, version, data):
    obj = data.draw(objects(kind, NEW if version == OLD else OLD))
    made = convert(obj, version)
    assert made["apiVersion"] == f"slinky.slurm.net/{version}"
    schema = schema_of(kind, version)["properties"]
    for part in ("spec", "status"):
        assert known(made.get(part, {}), schema[part])


@EVERY
@settings(max_examples=10)
@given(st.data())
def test_a_conversion_leaves_its_input_as_it_was(kind, data):
    obj = data.draw(objects(kind, OLD))
    kept = json.dumps({NEW: {"/spec/logfile/x": 1, "/spec/service/metadata": {}}})
    obj["metadata"]["annotations"] = {KEPT: kept}
    before = copy.deepcopy(obj)
    convert(obj, NEW)
    assert obj == before


@EVERY
@settings(max_examples=25)
@given(st.data())
def test_whatever_stands_in_the_annotation_the_object_can_be_read(kind, data):
    """Users may write it and nobody checks it; one bad object must not spoil a list."""
    fields = list(schema_of(kind)["properties"]["spec"]["properties"])
    paths = st.sampled_from(fields).map(lambda name: f"/spec/{name}") | TEXTS
    kept = st.dictionaries(paths, JSON, max_size=4).map(lambda rest: json.dumps({NEW: rest}))
    obj = data.draw(objects(kind, OLD))
    obj["metadata"]["annotations"] = {KEPT: data.draw(kept | TEXTS | st.just("[1]"))}
    made = convert(obj, NEW)
    assert msgspec.convert(made, TYPES[kind]).metadata.name == "a"


def test_both_versions_know_what_both_tables_have():
    tables = {(table.kind, table.version): table for table in SEED}
    for kind in NAMES:
        new, old = (set(tables[kind, version].paths) for version in (NEW, OLD))
        only = {path for path in old - new if not path.startswith(("spec.logfile.", "spec.reconf"))}
        assert only <= {path for path in old if path.startswith("spec.initconf")}


def test_a_field_that_only_the_new_version_has_survives_an_edit_in_the_old_one():
    new = make("Controller", metrics={"enabled": True}, extraConf="A=1")
    old = convert(new, OLD)
    assert "metrics" not in old["spec"]
    old["spec"]["extraConf"] = "A=2"
    back = convert(old, NEW)
    assert back["spec"] == {**new["spec"], "extraConf": "A=2"}
    assert "annotations" not in back["metadata"]


def test_what_the_old_version_took_away_does_not_come_back():
    new = make("LoginSet", service={"port": 22, "metadata": {"labels": {"a": "b"}}})
    old = convert(new, OLD)
    assert old["spec"]["service"] == {"port": 22}
    del old["spec"]["service"]
    assert "service" not in convert(old, NEW)["spec"]


def test_what_somebody_said_since_is_not_overwritten():
    new = make("NodeSet", logfile={"image": "a", "command": ["x"]})
    old = convert(new, OLD)
    assert old["spec"]["logfile"] == {"image": "a"}
    old["spec"]["logfile"] = {"image": "b"}
    assert convert(old, NEW)["spec"]["logfile"] == {"image": "b", "command": ["x"]}


def test_the_container_that_only_the_old_version_has_is_kept_for_it():
    key = {"name": "keys", "key": "k"}
    old = make(
        "Accounting", version=OLD, jwtKeyRef=None, jwtHs256KeyRef=key, initconf={"image": "i"}
    )
    new = convert(old, NEW)
    assert "initconf" not in new["spec"]
    new["spec"]["extraConf"] = "A=1"
    assert convert(new, OLD)["spec"] == {**old["spec"], "extraConf": "A=1"}


def test_a_partition_of_the_old_version_stays_on():
    """Its default was on, and is off in the new one; the API server had filled it in."""
    old = make("NodeSet", version=OLD, partition={"enabled": True})
    assert convert(old, NEW)["spec"]["partition"] == {"enabled": True}


def test_pins_of_workers_to_nodes_survive_a_write_in_the_old_version():
    pins = {"nodeSetHash": "h", "selector": "a=b", "ordinalToNode": {"0": "n1"}, "desired": 1}
    new = {**make("NodeSet"), "status": pins}
    old = convert(new, OLD)
    assert old["status"] == {"nodeSetHash": "h", "selector": "a=b"}
    assert convert(old, NEW)["status"] == pins


def test_an_object_of_the_wanted_version_is_left_alone():
    obj = make("Token")
    assert convert(obj, NEW) is obj


@pytest.mark.parametrize("version", ["v1", "v2alpha1"])
def test_an_unknown_version_is_refused_with_those_that_there_are(version):
    with pytest.raises(ValueError, match="use v1alpha1 or v1beta1"):
        convert(make("Token"), version)
