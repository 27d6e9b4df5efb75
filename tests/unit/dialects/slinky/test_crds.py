import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from shoal.dialects.slinky import crds
from shoal.dialects.slinky.types import KINDS
from shoal.kube.crds import InCluster, Outside

from ..tables import at, sort_of
from .fields import HEAD, SEED

ROOT = Path(__file__).parents[4]
DEFINITIONS = {d["spec"]["names"]["kind"]: d for d in crds.definitions()}
NEWEST = {table.kind: table for table in HEAD}
OLDER = [table for table in SEED if table.version == "v1beta1"]
OLD = [table for table in SEED if table.version == "v1alpha1"]
# What the tables write as the name of a Kubernetes type is written out in ours.
KUBERNETES = {
    "k8s:PersistentVolumeClaimSpec": ("object", {"accessModes", "resources", "storageClassName"}),
    "k8s:ResourceRequirements": ("object", {"claims", "limits", "requests"}),
    "array<k8s:metav1.Condition>": ("array<object>", {"type", "status", "lastTransitionTime"}),
}


def version_of(table):
    versions = DEFINITIONS[table.kind]["spec"]["versions"]
    return next(v for v in versions if v["name"] == table.version)


def schema_of(table):
    return version_of(table)["schema"]["openAPIV3Schema"]


def check_type(row, schema):
    wanted, inside = KUBERNETES.get(row.type, (row.type, set()))
    assert sort_of(schema) == wanted, row.path
    assert inside <= set(schema.get("items", schema).get("properties", {})), row.path


def check(row, schema, required):
    """Hold a field against all that the table says of it."""
    check_type(row, schema)
    assert required is row.required, row.path
    assert schema.get("default") == row.default, row.path
    assert {key: schema.get(key) for key in row.constraints} == row.constraints, row.path
    assert tuple(r["message"] for r in schema.get("x-kubernetes-validations", ())) == row.rules
    for word in ("enum", "pattern", "nullable", "minimum"):
        assert (word in schema) is (word in row.constraints), f"{row.path}: {word}"


@pytest.mark.parametrize("table", [*HEAD, *OLD], ids=str)
def test_every_field_is_what_users_know(table):
    for row in table.rows:
        check(row, *at(schema_of(table), row.path))


@pytest.mark.parametrize("table", OLDER, ids=str)
def test_a_field_of_an_older_release_is_still_accepted(table):
    for row in table.rows:
        schema, required = at(schema_of(table), row.path)
        if row.path in NEWEST[table.kind].paths:
            check_type(row, schema)
        else:
            check(row, schema, required)


@pytest.mark.parametrize("table", [*HEAD, *OLDER], ids=str)
def test_nothing_is_asked_for_that_older_objects_lack(table):
    """What an object of an older release has is enough, but for defaults that are filled in."""
    known = {row.path: row for row in (*table.rows, *NEWEST[table.kind].rows)}
    for row in known.values():
        schema, required = at(schema_of(table), row.path)
        assert not required or row.required or "default" in schema, row.path


def every_path(schema, path=""):
    for name, below in schema.get("properties", {}).items():
        yield f"{path}{name}"
        yield from every_path(below, f"{path}{name}.")
        yield from every_path(below.get("items", {}), f"{path}{name}[].")


ADDED = {
    "Controller": {"status.observedGeneration"},
    "NodeSet": set(),
    "LoginSet": {"status.observedGeneration", "status.readyReplicas"},
    "Accounting": {"status.observedGeneration"},
    "RestApi": {"status.observedGeneration"},
    "Token": {"status.observedGeneration"},
}


@pytest.mark.parametrize("table", HEAD, ids=str)
def test_what_we_add_is_known_and_optional(table):
    older = next(other for other in OLDER if other.kind == table.kind)
    told = {*table.paths, *older.paths}
    within = tuple(
        f"{path}{mark}"
        for path, row in {**older.paths, **table.paths}.items()
        if row.type in KUBERNETES
        for mark in (".", "[].")
    )
    every = set(every_path(schema_of(table))) - {"apiVersion", "kind", "metadata"}
    added = {path for path in every - told if not path.startswith(within)}
    assert added == ADDED[table.kind]
    assert not any(at(schema_of(table), path)[1] for path in added)


@pytest.mark.parametrize("table", [*HEAD, *OLD], ids=str)
def test_names_and_subresources_are_what_users_know(table):
    assert tuple(DEFINITIONS[table.kind]["spec"]["names"]["shortNames"]) == table.short
    assert version_of(table)["subresources"] == table.subresources


@pytest.mark.parametrize("table", [*HEAD, *SEED], ids=str)
def test_columns_are_what_users_know_and_in_that_order(table):
    ours = [
        (c["name"], c["type"], c["jsonPath"], c.get("priority", 0))
        for c in version_of(table)["additionalPrinterColumns"]
    ]
    assert [column for column in ours if column in table.columns] == table.columns


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_column_says_whether_it_is_ready(kind):
    columns = DEFINITIONS[kind.kind]["spec"]["versions"][0]["additionalPrinterColumns"]
    asked = [
        c for c in columns if c["jsonPath"].startswith('.status.conditions[?(@.type=="Ready")]')
    ]
    assert any(c.get("priority", 0) == 0 for c in asked)
    assert columns[-1]["name"] == "AGE"
    assert len({c["name"] for c in columns}) == len(columns)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_v1beta1_is_stored_and_v1alpha1_is_served_with_a_warning(kind):
    new, old = DEFINITIONS[kind.kind]["spec"]["versions"]
    assert (new["name"], new["storage"], new["served"]) == ("v1beta1", True, True)
    assert (old["name"], old["storage"], old["served"]) == ("v1alpha1", False, True)
    assert f"{kind.kind} is deprecated" in old["deprecationWarning"]


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (
            InCluster("ours", "hooks"),
            {"service": {"namespace": "ours", "name": "hooks", "port": 443, "path": "/convert"}},
        ),
        (Outside("https://here:1"), {"url": "https://here:1/convert"}),
    ],
    ids=["service", "url"],
)
def test_the_api_server_is_told_who_converts(endpoint, expected):
    for definition in crds.definitions(endpoint):
        conversion = definition["spec"]["conversion"]
        assert conversion["strategy"] == "Webhook"
        assert conversion["webhook"]["clientConfig"] == expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_field_of_a_spec_is_described(kind):
    schema = DEFINITIONS[kind.kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = schema["properties"]["spec"]["properties"]
    assert [name for name, field in spec.items() if not field.get("description")] == []


def test_the_files_are_what_the_types_say(tmp_path):
    subprocess.run([sys.executable, ROOT / "deploy/generate.py", tmp_path], check=True)
    made = {path.name: path.read_text() for path in (tmp_path / "slinky").iterdir()}
    kept = {path.name: path.read_text() for path in (ROOT / "deploy/crds/slinky").iterdir()}
    assert kept == made, "run make generate"
    loaded = [yaml.safe_load(text) for text in made.values()]
    assert sorted(loaded, key=str) == sorted(crds.definitions(), key=str)
