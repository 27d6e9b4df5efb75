"""Structural schemas of custom resources, out of msgspec Structs. Pure.

A Struct says most of it by itself:

* A field without a default is required. A scalar default is the one that the API server fills in.
  Any other one (None, a container, a Struct) only says that the field may be left out;
  `default(...)` fills that in too.
* `T | None = None` is a field that may be left out, `T | None` without a default one that must be
  there and may be null. `NULLABLE` lets a field be both.
* `Literal` and `Enum` are enums, `int | str` is int-or-string, `dict[str, T]` has any keys,
  `Any` is anything.

The rest is said by `Annotated`: msgspec.Meta for lengths, bounds and patterns, and what is below.
A schema cannot contain itself: where types do, `UNTYPED` ends it.
"""

import enum
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Meta
from msgspec import inspect as info

from .objects import Object

DESCRIBED = 2  # levels with descriptions: the kind, its spec, the spec's fields
CHECKS = "x-kubernetes-validations"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
RULES = "RULES"  # the class variable that holds the rules of a Struct


class SchemaError(TypeError):
    """A type that has no structural schema; the message names the field."""


@dataclass(frozen=True)
class Rule:
    """A CEL rule that the API server checks; `field` is where it points to, such as ".replicas"."""

    expression: str
    message: str
    field: str = ""
    reason: str = ""

    def write(self) -> Object:
        """Return the rule as the API has it."""
        more = {"fieldPath": self.field, "reason": self.reason}
        kept = {key: value for key, value in more.items() if value}
        return {"rule": self.expression, "message": self.message, **kept}


def rules(*found: Rule) -> Meta:
    """Check a field; a Struct has rules of its own in the class variable RULES."""
    return Meta(extra_json_schema={CHECKS: [rule.write() for rule in found]})


def list_map(*keys: str) -> Meta:
    """Let a list be merged item by item, which `keys` tell apart."""
    return Meta(
        extra_json_schema={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": list(keys),
        }
    )


def default(value: Any) -> Meta:  # noqa: ANN401 - any JSON
    """Let the API server fill in `value`, where the Struct's own default does not say so."""
    return Meta(extra_json_schema={"default": value})


SET = Meta(extra_json_schema={"x-kubernetes-list-type": "set"})
ATOMIC = Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})
NULLABLE = Meta(extra_json_schema={"nullable": True})
# Check what the Struct knows, and keep what it does not.
OPEN = Meta(extra_json_schema={PRESERVE: True})
# Keep all and check nothing, whatever Struct it is read as.
UNTYPED = Meta(extra={"untyped": True})


def schema(type_: type[msgspec.Struct], described: int = DESCRIBED) -> Object:
    """Return the schema of `type_`, with descriptions down to level `described`."""
    return _schema(info.type_info(type_), _Place(type_.__name__, described))


@dataclass(frozen=True)
class _Place:
    """Where in a type we are."""

    path: str
    described: int  # levels below that have descriptions; negative: not even this one
    inside: tuple[type, ...] = ()

    def field(self, name: str) -> "_Place":
        return replace(self, path=f"{self.path}.{name}", described=self.described - 1)

    def item(self, mark: str) -> "_Place":
        return replace(self, path=f"{self.path}{mark}", described=self.described - 1)

    def within(self, cls: type) -> "_Place":
        if cls in self.inside:
            raise SchemaError(
                f"{self.path}: {cls.__name__} contains itself; end it with Annotated[..., UNTYPED]"
            )
        return replace(self, inside=(*self.inside, cls))


@dataclass(frozen=True)
class _Bare:
    """A type without None and without what was said about it."""

    types: tuple[info.Type, ...]
    said: Object
    untyped: bool
    none: bool


def _bare(node: info.Type) -> _Bare:
    if isinstance(node, info.Metadata):
        inner = _bare(node.type)
        said = {**inner.said, **(node.extra_json_schema or {})}
        untyped = inner.untyped or bool((node.extra or {}).get("untyped"))
        return replace(inner, said=said, untyped=untyped)
    if isinstance(node, info.UnionType):
        parts = [_bare(one) for one in node.types]
        said = {key: value for part in parts for key, value in part.said.items()}
        types = tuple(one for part in parts for one in part.types)
        untyped = any(part.untyped for part in parts)
        return _Bare(types, said, untyped, any(part.none for part in parts))
    if isinstance(node, info.NoneType):
        return _Bare((), {}, untyped=False, none=True)
    return _Bare((node,), {}, untyped=False, none=False)


def _schema(node: info.Type, place: _Place) -> Object:
    bare = _bare(node)
    made = _untyped(bare) if bare.untyped else _typed(bare.types, place)
    whole = {**made, **bare.said}
    if checks := [*made.get(CHECKS, ()), *bare.said.get(CHECKS, ())]:
        whole[CHECKS] = checks
    if place.described < 0:
        whole.pop("description", None)
    return whole


def _untyped(bare: _Bare) -> Object:
    objects = all(isinstance(one, info.StructType | info.DictType) for one in bare.types)
    return {"type": "object", PRESERVE: True} if objects else {PRESERVE: True}


def _typed(types: tuple[info.Type, ...], place: _Place) -> Object:
    if {type(one) for one in types} == {info.IntType, info.StrType}:
        limits = {key: value for one in types for key, value in _limits(one).items()}
        return {"x-kubernetes-int-or-string": True, **limits}
    if len(types) != 1:
        raise _refused(types, place)
    match types[0]:
        case info.StructType() as struct:
            return _struct(struct, place)
        case info.LiteralType(values=values):
            return _enum(values, place)
        case info.EnumType(cls=cls):
            return _enum(tuple(member.value for member in cls), place)
        case one:
            return {**_plain(one, place), **_limits(one)}


def _plain(one: info.Type, place: _Place) -> Object:
    match one:
        case info.DictType(key_type=key, value_type=value):
            return _mapping(key, value, place)
        case info.ListType(item_type=item) | info.VarTupleType(item_type=item):
            return {"type": "array", "items": _schema(item, place.item("[]"))}
        case info.AnyType() | info.RawType():
            return {PRESERVE: True}
        case _ if type(one) in _SCALARS:
            return dict(_SCALARS[type(one)])
        case _:
            raise _refused((one,), place)


_SCALARS: Mapping[type[info.Type], Object] = {
    info.BoolType: {"type": "boolean"},
    info.IntType: {"type": "integer"},
    info.FloatType: {"type": "number"},
    info.StrType: {"type": "string"},
    info.DateTimeType: {"type": "string", "format": "date-time"},
}


def _refused(types: tuple[info.Type, ...], place: _Place) -> SchemaError:
    names = [type(one).__name__.removesuffix("Type").lower() for one in types]
    if len(names) > 1:
        words = f"a schema cannot say {' | '.join(names)}; use one type, or Annotated[..., UNTYPED]"
    else:
        words = f"a schema has no {names[0] if names else 'type for None alone'}; use str"
    return SchemaError(f"{place.path}: {words}")


def _struct(struct: info.StructType, place: _Place) -> Object:
    below = place.within(struct.cls)
    properties = {f.encode_name: _field(f, below.field(f.encode_name)) for f in struct.fields}
    required = sorted(f.encode_name for f in struct.fields if f.required)
    made: Object = {"type": "object"}
    # Not the doc of a parent class: it describes something else.
    if doc := struct.cls.__dict__.get("__doc__"):
        made["description"] = inspect.cleandoc(doc).partition("\n\n")[0].replace("\n", " ")
    if properties:
        made["properties"] = properties
    if required:
        made["required"] = required
    if found := getattr(struct.cls, RULES, ()):
        made[CHECKS] = [rule.write() for rule in found]
    return made


def _field(field: info.Field, place: _Place) -> Object:
    made = _schema(field.type, place)
    if field.required and _bare(field.type).none:
        made["nullable"] = True
    filled = field.default.value if isinstance(field.default, enum.Enum) else field.default
    if isinstance(filled, bool | int | float | str):
        made.setdefault("default", filled)
    return made


def _mapping(key: info.Type, value: info.Type, place: _Place) -> Object:
    if not isinstance(_bare(key).types[0], info.StrType):
        raise SchemaError(f"{place.path}: the keys of a mapping are str")
    if isinstance(value, info.AnyType):
        return {"type": "object", PRESERVE: True}
    return {"type": "object", "additionalProperties": _schema(value, place.item("{}"))}


def _enum(values: tuple[Any, ...], place: _Place) -> Object:
    named = [value for value in values if value is not None]
    for cls, word in ((str, "string"), (int, "integer")):
        if named and all(type(value) is cls for value in named):
            return {"type": word, "enum": named}
    raise SchemaError(f"{place.path}: an enum is all str or all int")


def _limits(node: info.Type) -> Object:
    """Return what msgspec.Meta bounds, in the words of OpenAPI 3.0."""
    lengths = {
        info.StrType: ("minLength", "maxLength"),
        info.DictType: ("minProperties", "maxProperties"),
    }
    least, most = lengths.get(type(node), ("minItems", "maxItems"))
    said = {
        least: getattr(node, "min_length", None),
        most: getattr(node, "max_length", None),
        "pattern": getattr(node, "pattern", None),
        "minimum": _first(node, "ge", "gt"),
        "maximum": _first(node, "le", "lt"),
        # Booleans in OpenAPI 3.0, where JSON Schema has numbers.
        "exclusiveMinimum": getattr(node, "gt", None) is not None or None,
        "exclusiveMaximum": getattr(node, "lt", None) is not None or None,
        "multipleOf": getattr(node, "multiple_of", None),
    }
    return {key: value for key, value in said.items() if value is not None}


def _first(node: info.Type, *names: str) -> float | None:
    found = (getattr(node, name, None) for name in names)
    return next((value for value in found if value is not None), None)
