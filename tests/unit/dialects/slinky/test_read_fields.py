"""Every field of every kind reaches the model, and every reference is known."""

import re
import types as python
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import pytest

from shoal.dialects import contents
from shoal.dialects.slinky import read
from shoal.dialects.slinky.parts import KeyReference, LocalReference
from shoal.dialects.slinky.types import TYPES

from .objects import KEY, SPECS, make
from .readings import understood

# -- every field


def inside(kind: Any) -> Iterator[Any]:
    """Yield the types of which a field's type is made."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from inside(get_args(kind)[0])
    elif origin in (Union, python.UnionType):
        for one in get_args(kind):
            yield from inside(one)
    else:
        yield kind


def leaves(struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the type of every field below `struct`; [] is an item of a list."""
    for field in msgspec.structs.fields(struct):
        here = f"{path}.{field.encode_name}" if path else field.encode_name
        (kind,) = [one for one in inside(field.type) if one is not type(None)][:1]
        if get_origin(kind) is tuple:
            (kind,) = list(inside(get_args(kind)[0]))[:1]
            here += "[]"
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from leaves(kind, here)
        else:
            yield here, kind


EVERY = [
    (kind, path, sort)
    for kind, whole in TYPES.items()
    for path, sort in leaves(next(inside(msgspec.structs.fields(whole)[1].type)))
]

# Fields that change nothing, and why.
ONLY_OURS = "of older releases, which let other namespaces be named; only the object's own is"
ALWAYS = "what is named is always needed: without it the part waits and says so"
NO_EFFECT = {
    "NodeSet taintKubeNodes": "of older releases: a right to taint nodes was one too many",
}
NEVER = {"namespace": ONLY_OURS, "optional": ALWAYS}


def effect(kind: str, path: str) -> str:
    """Say why a field has no effect; empty: it has."""
    parent, _, last = path.rpartition(".")
    # A volume may well be filled from another namespace.
    referring = parent.endswith(("Ref", "Refs[]")) and not parent.startswith("persistence.")
    return NO_EFFECT.get(f"{kind} {path}", "") or (NEVER.get(last, "") if referring else "")


# Where a field counts: what has to stand beside it.
CONTEXTS: dict[str, dict[str, Any]] = {
    "Controller externalConfig": {"external": True},
    "Accounting externalConfig": {"external": True},
    "Controller external": {"externalConfig": {"host": "h", "port": 1}},
    "Accounting external": {"externalConfig": {"host": "h", "port": 1}},
    "Controller ha.backups": {"ha": {"enabled": True}},
    "Controller metrics.serviceMonitor": {
        "metrics": {"enabled": True, "serviceMonitor": {"enabled": True}}
    },
    "Controller metrics.serviceMonitor.endpoints[]": {
        "metrics": {
            "enabled": True,
            "serviceMonitor": {"enabled": True, "endpoints": [{"path": "/a"}]},
        }
    },
    "NodeSet ssh": {"ssh": {"enabled": True, "sssdConfRef": KEY}},
    "NodeSet updateStrategy.scheduledUpdate": {
        "updateStrategy": {
            "type": "ScheduledUpdate",
            "scheduledUpdate": {"startTime": "2030-01-31T20:00:00Z"},
        }
    },
    "NodeSet partition.config": {"partition": {"enabled": True}},
    # The older name counts where the newer one is not used.
    "Controller jwtHs256KeyRef": {"jwtKeyRef": None},
    "Accounting jwtHs256KeyRef": {"jwtKeyRef": None},
    "Token jwtHs256KeyRef": {"jwtKeyRef": None},
}
VALUES: dict[str, tuple[Any, Any]] = {
    "Token lifetime": ("1h", "2h"),
    "NodeSet scalingMode": ("StatefulSet", "DaemonSet"),
    "NodeSet updateStrategy.type": ("RollingUpdate", "OnDelete"),
    "NodeSet updateStrategy.scheduledUpdate.startTime": (
        "2030-01-31T20:00:00Z",
        "2030-01-31T20:00:00+01:00",
    ),
    "NodeSet updateStrategy.scheduledUpdate.duration": ("1h", "2h"),
    "NodeSet persistentVolumeClaimRetentionPolicy.whenDeleted": ("Retain", "Delete"),
    "NodeSet persistentVolumeClaimRetentionPolicy.whenScaled": ("Retain", "Delete"),
    "NodeSet pruneSlurmNodeRecords": ("Never", "NodeNotFound"),
    "NodeSet volumeClaimTemplates": ([{"metadata": {"name": "a"}}], []),
}
BY_TYPE: dict[Any, tuple[Any, Any]] = {
    str: ("a", "b"),
    int: (1, 2),
    bool: (True, False),
    dict: ({"x": "1"}, {"x": "2"}),
    Any: ([], {}),
}


def context(kind: str, path: str) -> dict[str, Any]:
    fits = [key for key in CONTEXTS if f"{kind} {path}".startswith(key)]
    return SPECS[kind] | (CONTEXTS[max(fits, key=len)] if fits else {})


def values(kind: str, path: str, sort: Any) -> tuple[Any, Any]:
    return VALUES.get(f"{kind} {path}") or BY_TYPE[get_origin(sort) or sort]


def with_field(spec: Any, words: list[str], value: Any) -> Any:
    """Return `spec` with the field at `words` set."""
    if not words:
        return value
    word, name = words[0], words[0].removesuffix("[]")
    before = spec.get(name) if isinstance(spec, dict) else None
    if word.endswith("[]"):
        item = before[0] if before else {}
        return {**(spec or {}), name: [with_field(item, words[1:], value)]}
    return {**(spec or {}), name: with_field(before or {}, words[1:], value)}


def pair(kind: str, path: str, sort: Any) -> list[object]:
    base = context(kind, path)
    return [
        understood(kind, make(kind, **with_field(base, path.split("."), value)))
        for value in values(kind, path, sort)
    ]


@pytest.mark.parametrize(("kind", "path", "sort"), EVERY, ids=lambda one: str(one)[:60])
def test_a_field_reaches_the_model_unless_it_is_said_why_not(kind, path, sort):
    one, other = pair(kind, path, sort)
    assert (one == other) is bool(effect(kind, path))


def test_no_field_that_is_said_to_have_no_effect_is_a_field_of_old():
    fields = {f"{kind} {path}" for kind, path, _ in EVERY}
    assert set(NO_EFFECT) <= fields
    assert {key for key in CONTEXTS if not any(f.startswith(key) for f in fields)} == set()
    assert set(VALUES) <= fields


ROW = re.compile(
    r"^\| (?P<kind>\w+) \| `(?P<field>[\w.]+)`(?P<of>[^|]*) \| (?P<why>[^|]+) \|$", re.M
)


def told() -> dict[str, str]:
    """Return what the guide says of fields without effect, by kind and field."""
    guide = (Path(__file__).parents[4] / "docs/slinky.md").read_text()
    table = guide.partition("## Fields without effect")[2].partition("\n## ")[0]
    return {f"{row['kind']} {row['field']}": row["why"] for row in ROW.finditer(table)}


def test_the_guide_has_each_field_without_effect_and_says_why():
    one_kind = {f"{key.replace(' ', ' spec.', 1)}": why for key, why in NO_EFFECT.items()}
    wanted = one_kind | {f"all {field}": why for field, why in NEVER.items()}
    assert set(told()) == set(wanted)
    assert {key for key, why in wanted.items() if not told()[key].startswith(why[:30])} == set()


# -- references


def references_of(struct: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """Yield the path of every reference below `struct`."""
    for field in msgspec.structs.fields(struct):
        here = f"{path}.{field.encode_name}" if path else field.encode_name
        for kind in inside(field.type):
            many = get_origin(kind) is tuple
            one = next(inside(get_args(kind)[0])) if many else kind
            if not isinstance(one, type) or not issubclass(one, msgspec.Struct):
                continue
            place = f"{here}[]" if many else here
            if issubclass(one, LocalReference | KeyReference):
                yield place
            else:
                yield from references_of(one, place)


REFERENCES = [
    (kind, path)
    for kind, whole in TYPES.items()
    for path in references_of(next(inside(msgspec.structs.fields(whole)[1].type)))
]
KINDS = {
    "controllerRef": "Controller",
    "accountingRef": "Accounting",
    "jwksKeyRef": "ConfigMap",
    "configFileRefs[]": "ConfigMap",
    "prologScriptRefs[]": "ConfigMap",
    "epilogScriptRefs[]": "ConfigMap",
    "prologSlurmctldScriptRefs[]": "ConfigMap",
    "epilogSlurmctldScriptRefs[]": "ConfigMap",
}


@pytest.mark.parametrize(("kind", "path"), REFERENCES)
def test_whatever_an_object_refers_to_it_can_be_found_by(kind, path):
    spec = with_field(SPECS[kind], f"{path}.name".split("."), "there")
    if path.endswith("KeyRef") and "." not in path:
        spec[path] |= {"key": "k"}
    obj = msgspec.convert(make(kind, **spec), TYPES[kind])
    sort = KINDS.get(path, "Secret")
    assert f"prod/{sort}/there" in list(read.references(obj))
    assert contents.reference("prod", sort, "there") == f"prod/{sort}/there"


def test_there_are_references_to_find():
    assert len(REFERENCES) > 20


def test_what_refers_to_nothing_is_found_by_nothing():
    obj = make("Controller", slurmKeyRef=None, jwtKeyRef=None)
    assert list(read.references(msgspec.convert(obj, TYPES["Controller"]))) == []
