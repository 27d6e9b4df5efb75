"""Tables of the fields that users count on, as the folders of tests/data list them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One field."""

    path: str
    type: str
    required: bool
    default: Any  # None: there is none
    constraints: dict[str, Any]
    rules: tuple[str, ...]  # the messages of its CEL rules
    expressions: tuple[str, ...] = ()  # the rules themselves

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Table:
    """One kind in one version."""

    name: str
    version: str
    kind: str
    short: tuple[str, ...]
    subresources: dict[str, Any]
    columns: list[tuple[str, str, str, int]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name

    @property
    def paths(self) -> dict[str, Row]:
        return {row.path: row for row in self.rows}


def table(path: Path) -> Table:
    lines = path.read_text().splitlines()
    head = dict(word.split("=", 1) for word in lines[0].split(" subresources=")[0][2:].split())
    made = Table(
        f"{path.parent.name} {path.stem}",
        head["version"],
        head["kind"],
        tuple(filter(None, head["shortNames"].split(","))),
        json.loads(lines[0].split(" subresources=")[1]),
    )
    for line in lines[1:]:
        if line.startswith("# column "):
            name, sort, where, priority = line.removeprefix("# column ").split()
            made.columns.append((name, sort, where, int(priority.removeprefix("priority="))))
        elif not line.startswith("path\t"):
            made.rows.append(row(line))
    return made


def row(line: str) -> Row:
    path, sort, required, default, said = (line + "\t" * 4).split("\t")[:5]
    words = [word for word in said.split("; ") if word]
    rules = [word for word in words if word.startswith("CEL: ")]
    facts = dict(word.split("=", 1) for word in words if not word.startswith("CEL: "))
    return Row(
        path,
        sort,
        required == "yes",
        json.loads(default) if default else None,
        {key: json.loads(value) for key, value in facts.items()},
        tuple(rule.split("  (", 1)[1].removesuffix(")") for rule in rules),
        tuple(rule.split("  (", 1)[0].removeprefix("CEL: ") for rule in rules),
    )


def at(schema: dict[str, Any], path: str) -> tuple[dict[str, Any], bool]:
    """Return the schema of the field at `path`, and whether the API server insists on it."""
    required = False
    for word in path.split("."):
        name = word.removesuffix("[]")
        required = name in schema.get("required", ())
        schema = schema["properties"][name]
        if word.endswith("[]"):
            schema = schema["items"]
    return schema, required


PRESERVE = "x-kubernetes-preserve-unknown-fields"
PLAIN = ("string", "integer", "boolean")


def sort_of(schema: dict[str, Any]) -> str:
    """Return the type of a field in the words of the tables."""
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    if schema.get(PRESERVE):
        return f"{schema.get('type', 'any')} (schemaless)"
    match schema["type"]:
        case "array":
            return f"array<{sort_of(schema['items'])}>"
        case "object" if "additionalProperties" in schema:
            return f"map<{sort_of(schema['additionalProperties'])}>"
        case word:
            return word
