import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dialects.slinky import types
from shoal.dialects.slinky.parts import KeyReference, Persistence
from shoal.dialects.slinky.types import KINDS, TYPES

from .objects import KEY, make, objects

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
    assert found.metadata.name == "a"
    assert found.status.conditions == ()


@pytest.mark.parametrize("kind", NAMES)
def test_fields_that_are_not_known_are_passed_over(kind):
    obj = make(kind, fromTheFuture={"a": [1]})
    obj["status"] = {"fromTheFuture": 1}
    assert decoded(obj) == decoded(make(kind))


@pytest.mark.parametrize("word", ["", "Sometimes"])
def test_a_word_that_an_older_definition_let_through_is_read(word):
    spec = decoded(make("NodeSet", scalingMode=word, updateStrategy={"type": word})).spec
    assert (spec.scaling_mode, spec.update_strategy.type) == (word, word)


def test_null_is_read_where_it_may_stand():
    found = decoded(
        {
            **make("Controller"),
            "spec": {
                "configFileRefs": None,
                "prologScriptRefs": None,
                "metrics": {"serviceMonitor": None},
                "template": {"metadata": {"labels": None, "annotations": None}},
            },
        }
    ).spec
    assert found.config_file_refs is None
    assert found.metrics.service_monitor is None
    assert found.template.metadata.labels is None
    monitor = {"enabled": True, "labels": None, "endpoints": None}
    spec = decoded(make("Controller", metrics={"serviceMonitor": monitor})).spec
    assert spec.metrics.service_monitor.endpoints is None
    assert (
        decoded({**make("NodeSet"), "status": {"ordinalToNode": None}}).status.ordinal_to_node
        is None
    )


@pytest.mark.parametrize(
    ("asked", "claims"),
    [
        (None, ()),
        ("text", ()),
        ({"a": 1}, ()),
        ([{"metadata": {"name": "a"}}, "text", None], ({"metadata": {"name": "a"}},)),
    ],
)
def test_only_what_is_a_claim_is_taken_for_one(asked, claims):
    assert types.NodeSetSpec(volume_claim_templates=asked).claims == claims


def test_the_claim_of_a_volume_is_what_was_written_beside_the_rest():
    asked = {
        "enabled": True,
        "existingClaim": "",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "4Gi"}},
        "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
        "dataSource": {
            "kind": "VolumeSnapshot",
            "name": "s",
            "apiGroup": "snapshot.storage.k8s.io",
        },
        "storageClassName": "",
    }
    claim = msgspec.convert(asked, Persistence).claim
    assert claim == {k: v for k, v in asked.items() if k not in ("enabled", "existingClaim")}
    assert Persistence().claim == {}


def test_keys_are_read_with_their_older_name_and_place():
    spec = decoded(make("Token", jwtHs256KeyRef={**KEY, "namespace": "other"})).spec
    assert spec.jwt_hs256_key_ref.namespace == "other"
    assert spec.jwt_key_ref == KeyReference("keys", "slurm.key")
    assert decoded(
        make("NodeSet", controllerRef={"name": "a", "namespace": "b"})
    ).spec.controller_ref == (types.LocalReference("a", "b"))
