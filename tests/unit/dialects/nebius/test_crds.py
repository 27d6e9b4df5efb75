import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from shoal.dialects.nebius import crds
from shoal.dialects.nebius.types import KINDS

from ..tables import PRESERVE, at, sort_of
from .deviations import DEVIATIONS
from .fields import HEAD, NEW, OLD, SEED

ROOT = Path(__file__).parents[4]
DEFINITIONS = {d["spec"]["names"]["kind"]: d for d in crds.definitions()}
# What Kubernetes defines itself is kept as it is written.
KEPT = "object (schemaless)"
WORDS = (
    "enum", "pattern", "nullable", "minimum", "maximum", "minLength", "minItems",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
)  # fmt: skip


def version_of(table):
    (version,) = DEFINITIONS[table.kind]["spec"]["versions"]
    return version


def schema_of(table):
    return version_of(table)["schema"]["openAPIV3Schema"]


def wanted_sort(row):
    """Return the type of a row as ours says it."""
    if row.type == "array<k8s:metav1.Condition>":
        return "array<object>"
    if row.type.startswith("k8s:"):
        return KEPT
    return f"array<{KEPT}>" if row.type.startswith("array<k8s:") else row.type


def differences(row, schema):
    """Return the words in which our definition differs from a row."""
    try:
        ours, required = at(schema, row.path)
    except KeyError:
        return ["missing"]
    rules = [(r["rule"], r["message"]) for r in ours.get("x-kubernetes-validations", ())]
    pairs = {
        "type": (sort_of(ours), wanted_sort(row)),
        "required": (required, row.required),
        "default": (ours.get("default"), row.default),
        "rules": (rules, list(zip(row.expressions, row.rules, strict=True))),
        **{word: (ours.get(word), row.constraints.get(word)) for word in WORDS},
    }
    assert set(row.constraints) <= set(WORDS), row.path
    return [word for word, (mine, theirs) in pairs.items() if mine != theirs]


def found(tables):
    return {
        f"{table.name.split()[0]} {row.path} {word}"
        for table in tables
        for row in table.rows
        for word in differences(row, schema_of(table))
    }


EXPECTED = [line for lines in DEVIATIONS.values() for line in lines]


def matches(line, pattern):
    return fnmatchcase(line, pattern.replace("[", "[[]"))


@pytest.mark.parametrize("tables", [SEED, HEAD], ids=["seed", "head"])
def test_every_field_is_what_users_know_or_a_deviation_with_its_reason(tables):
    unknown = {line for line in found(tables) if not any(matches(line, p) for p in EXPECTED)}
    assert unknown == set()


def test_every_deviation_that_is_listed_is_one():
    real = found([*SEED, *HEAD])
    assert [p for p in EXPECTED if not any(matches(line, p) for line in real)] == []


def parents(schema, path):
    """Return the schemas on the way to `path`, as far as there are any."""
    words, way = path.split("."), []
    for count in range(1, len(words)):
        try:
            way.append(at(schema, ".".join(words[:count]))[0])
        except KeyError:
            break
    return way


@pytest.mark.parametrize("table", [*SEED, *HEAD], ids=str)
def test_what_is_not_described_is_kept(table):
    missing = [r for r in table.rows if differences(r, schema_of(table)) == ["missing"]]
    assert all(parents(schema_of(table), row.path)[-1].get(PRESERVE) for row in missing)


def every_path(schema, path=""):
    for name, below in schema.get("properties", {}).items():
        yield f"{path}{name}"
        if not below.get(PRESERVE):
            yield from every_path(below, f"{path}{name}.")
            if not below.get("items", {}).get(PRESERVE):
                yield from every_path(below.get("items", {}), f"{path}{name}[].")


WORKER = "spec.slurmNodes.worker"
# Of the cluster's own workers, which the newer release does not have, all that login nodes have
# there: their containers are of one type.
ADDED = {
    f"{WORKER}.hostUsers",
    *(
        path.replace("spec.slurmNodes.login.munge", f"{WORKER}.{container}")
        for path in NEW["SlurmCluster"].paths
        for container in ("slurmd", "munge")
        if path.startswith("spec.slurmNodes.login.munge.")
    ),
}


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
def test_there_is_no_field_that_neither_release_has(kind):
    ours = set(every_path(schema_of(NEW[kind]))) - {"apiVersion", "kind", "metadata"}
    known = {*OLD[kind].paths, *NEW[kind].paths, *ADDED}
    assert {p for p in ours - known if not p.startswith("status.conditions[]")} == set()


@pytest.mark.parametrize("table", [*SEED, *HEAD], ids=str)
def test_nothing_is_asked_for_that_objects_of_either_release_lack(table):
    for row in (*OLD[table.kind].rows, *NEW[table.kind].rows):
        try:
            schema, required = at(schema_of(table), row.path)
        except KeyError:
            continue
        known = table.paths.get(row.path)
        if known is None and row.path.rpartition(".")[0] not in table.paths:
            continue  # a part that this release does not have may ask for what it likes
        assert not required or "default" in schema or (known and known.required), row.path


@pytest.mark.parametrize("table", [*SEED, *HEAD], ids=str)
def test_columns_are_what_users_know_and_in_that_order(table):
    ours = [
        (c["name"], c["type"], c["jsonPath"], c.get("priority", 0))
        for c in version_of(table)["additionalPrinterColumns"]
    ]
    assert [column for column in ours if column in table.columns] == table.columns
    assert ours[-1][0] == "Age"


@pytest.mark.parametrize("table", HEAD, ids=str)
def test_names_and_subresources_are_what_users_know(table):
    names = DEFINITIONS[table.kind]["spec"]["names"]
    assert tuple(names.get("shortNames", ())) == table.short
    assert version_of(table)["subresources"] == table.subresources


def test_a_node_set_can_be_scaled_by_what_finds_its_pods():
    scale = version_of(NEW["NodeSet"])["subresources"]["scale"]
    assert scale["labelSelectorPath"] == ".status.labelSelector"
    assert at(schema_of(NEW["NodeSet"]), "status.labelSelector")[0] == {"type": "string"}


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
def test_every_field_of_a_spec_is_described(kind):
    spec = schema_of(NEW[kind])["properties"]["spec"]["properties"]
    assert [name for name, field in spec.items() if not field.get("description")] == []


# -- what the API server asks of a definition


def every_schema(schema, path=""):
    yield path, schema
    for name, below in schema.get("properties", {}).items():
        yield from every_schema(below, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from every_schema(schema[key], f"{path}[]")


SORTS = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}


def fits(value, schema):
    """Say whether a default is one that the API server takes."""
    if schema.get("x-kubernetes-int-or-string"):
        return isinstance(value, int | str)
    if not isinstance(value, SORTS[schema["type"]]):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return all(key in known and fits(inner, known[key]) for key, inner in value.items())
    return value in schema.get("enum", [value])


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
def test_every_schema_is_structural(kind):
    for path, schema in every_schema(schema_of(NEW[kind])):
        free = schema.get(PRESERVE) or schema.get("x-kubernetes-int-or-string")
        assert "type" in schema or free, path
        assert "default" not in schema or fits(schema["default"], schema), path
        assert set(schema.get("required", ())) <= set(schema.get("properties", {})), path
        if keys := schema.get("x-kubernetes-list-map-keys"):
            assert set(keys) <= set(schema["items"]["required"]), path


def test_the_files_are_what_the_types_say(tmp_path):
    subprocess.run([sys.executable, ROOT / "deploy/generate.py", tmp_path], check=True)
    made = {path.name: path.read_text() for path in (tmp_path / "nebius").iterdir()}
    kept = {path.name: path.read_text() for path in (ROOT / "deploy/crds/nebius").iterdir()}
    assert kept == made, "run make generate"
    loaded = [yaml.safe_load(text) for text in made.values()]
    assert sorted(loaded, key=str) == sorted(crds.definitions(), key=str)
