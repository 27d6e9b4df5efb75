import enum
import json
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import pytest
from msgspec import Meta, Raw, Struct, defstruct

from shoal.kube.schema import (
    ATOMIC,
    NULLABLE,
    OPEN,
    SET,
    UNTYPED,
    Rule,
    SchemaError,
    default,
    list_map,
    rules,
    schema,
)

PRESERVE = "x-kubernetes-preserve-unknown-fields"


class Mode(enum.Enum):
    FAST = "fast"
    SAFE = "safe"


class Item(Struct, frozen=True, rename="camel"):
    """One thing."""

    item_name: str
    count: int = 1


class Loop(Struct):
    children: "list[Loop]" = []


class Ended(Struct):
    children: "Annotated[Ended | None, UNTYPED]" = None


class Ruled(Struct):
    RULES: ClassVar[tuple[Rule, ...]] = (Rule("self.a < self.b", "a is below b", field=".a"),)

    a: int
    b: int


def of(type_):
    """Return the schema of a field of `type_`."""
    return schema(defstruct("Whole", [("x", type_)]))["properties"]["x"]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict[str, Any], {"type": "object", PRESERVE: True}),
        (Any, {PRESERVE: True}),
        (Raw, {PRESERVE: True}),
        (int | str, {"x-kubernetes-int-or-string": True}),
        (Literal["b", "a"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[2, 1], {"type": "integer", "enum": [1, 2]}),
        (Mode, {"type": "string", "enum": ["fast", "safe"]}),
    ],
    ids=str,
)
def test_a_type_has_its_schema(type_, expected):
    assert of(type_) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (
            Annotated[str, Meta(min_length=1, max_length=9, pattern="^a")],
            {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
        ),
        (Annotated[int, Meta(ge=0, le=9)], {"type": "integer", "minimum": 0, "maximum": 9}),
        (
            Annotated[float, Meta(gt=0, lt=1)],
            {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "exclusiveMinimum": True,
                "exclusiveMaximum": True,
            },
        ),
        (
            Annotated[list[int], Meta(min_length=1)],
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        ),
        (
            Annotated[dict[str, int], Meta(max_length=4)],
            {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 4},
        ),
        (
            int | Annotated[str, Meta(pattern="^[0-9]+%$")],
            {"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+%$"},
        ),
        (
            Annotated[list[str], SET],
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        ),
        (
            Annotated[list[str], ATOMIC, Meta(max_length=3)],
            {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 3,
                "x-kubernetes-list-type": "atomic",
            },
        ),
        (Annotated[str, Meta(extra_json_schema={"format": "ipv4"})],
         {"type": "string", "format": "ipv4"}),
    ],
)  # fmt: skip
def test_what_is_said_about_a_field_is_in_its_schema(type_, expected):
    assert of(type_) == expected


def test_a_list_is_merged_by_its_keys():
    made = of(Annotated[list[Item], list_map("itemName", "count")])
    assert made["x-kubernetes-list-type"] == "map"
    assert made["x-kubernetes-list-map-keys"] == ["itemName", "count"]


def test_only_fields_without_a_default_are_required_and_by_their_api_name():
    assert schema(Item)["required"] == ["itemName"]


@pytest.mark.parametrize(
    ("type_", "value", "filled"),
    [
        (int, 0, {"default": 0}),
        (str, "", {"default": ""}),
        (bool, False, {"default": False}),
        (Mode, Mode.SAFE, {"default": "safe"}),
        (list[int], [], {}),
        (dict[str, str], {}, {}),
        (Item, Item("a"), {}),
        (Annotated[list[int], default([1])], [], {"default": [1]}),
    ],
    ids=str,
)
def test_the_api_server_fills_in_scalars_and_what_is_said_so(type_, value, filled):
    made = schema(defstruct("Whole", [("x", type_, value)]))
    assert {k: v for k, v in made["properties"]["x"].items() if k == "default"} == filled
    assert "required" not in made


def test_a_field_that_may_be_left_out_is_not_nullable_by_that():
    class Whole(Struct):
        null: str | None
        left_out: str | None = None
        both: Annotated[str | None, NULLABLE] = None

    made = schema(Whole)
    assert made["required"] == ["null"]
    assert [name for name, field in made["properties"].items() if field.get("nullable")] == [
        "null",
        "both",
    ]


def test_rules_of_a_type_and_of_a_field_are_both_checked():
    more = rules(Rule("self.a > 0", "a is positive", reason="FieldValueInvalid"))
    assert of(Annotated[Ruled, more])["x-kubernetes-validations"] == [
        {"rule": "self.a < self.b", "message": "a is below b", "fieldPath": ".a"},
        {"rule": "self.a > 0", "message": "a is positive", "reason": "FieldValueInvalid"},
    ]


def test_an_open_type_checks_what_it_knows_and_keeps_the_rest():
    made = of(Annotated[Item, OPEN])
    assert made[PRESERVE] is True
    assert made["properties"]["itemName"] == {"type": "string"}


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (Annotated[Item, UNTYPED], {"type": "object", PRESERVE: True}),
        (Annotated[dict[str, Item], UNTYPED], {"type": "object", PRESERVE: True}),
        (Annotated[bool | Item, UNTYPED], {PRESERVE: True}),
    ],
    ids=str,
)
def test_an_untyped_field_is_kept_as_it_is(type_, expected):
    assert of(type_) == expected


def test_a_type_that_contains_itself_is_refused_and_named():
    with pytest.raises(SchemaError, match=r"^Loop\.children\[\]: Loop contains itself; .*UNTYPED"):
        schema(Loop)


def test_an_untyped_field_ends_a_type_that_contains_itself():
    assert schema(Ended)["properties"]["children"] == {"type": "object", PRESERVE: True}


def test_a_type_may_be_used_twice():
    class Whole(Struct):
        one: Item
        other: Item

    made = schema(Whole)["properties"]
    assert made["one"] == made["other"]


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (bytes, r"Whole\.x: a schema has no bytes; use str"),
        (list[dict[str, bytes]], r"Whole\.x\[\]\{\}: a schema has no bytes"),
        (bool | Item, r"Whole\.x: a schema cannot say bool \| struct"),
        (dict[int, str], r"Whole\.x: the keys of a mapping are str"),
        (Literal["a", 1], r"Whole\.x: an enum is all str or all int"),
        (None, r"Whole\.x: a schema has no type for None alone"),
    ],
    ids=str,
)
def test_a_type_without_a_schema_is_refused_and_the_field_named(type_, words):
    with pytest.raises(SchemaError, match=f"^{words}"):
        of(type_)


class Deep(Struct):
    """The deep one."""

    deepest: Annotated[str, Meta(description="never shown")]


class Spec(Struct):
    """What is wanted,
    in two lines.

    And more about it.
    """

    deep: Deep
    told: Annotated[str, Meta(description="shown")]


class Kind(Struct):
    """A kind."""

    spec: Spec


def test_descriptions_stand_at_the_top_levels_only():
    made = schema(Kind)
    spec = made["properties"]["spec"]
    assert made["description"] == "A kind."
    assert spec["description"] == "What is wanted, in two lines."
    assert spec["properties"]["told"]["description"] == "shown"
    deep = spec["properties"]["deep"]
    assert deep["description"] == "The deep one."
    assert deep["properties"]["deepest"] == {"type": "string"}
    assert "description" not in schema(Kind, described=0)["properties"]["spec"]


def test_the_same_type_gives_the_same_bytes():
    assert json.dumps(schema(Kind)) == json.dumps(schema(Kind))
    assert list(schema(Spec)["properties"]) == ["deep", "told"]
