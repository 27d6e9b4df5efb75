"""What deploy/observe ships: dashboards, rules, monitors, the notifier."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "deploy/observe"
RULES = sorted((SHIPPED / "rules").glob("*.yaml"))
DASHBOARDS = sorted((SHIPPED / "dashboards").glob("*.json"))
NOTIFIER = SHIPPED / "notifier/alertmanager.yaml"
Json = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """A dashboard as Grafana gets it."""

    name: str
    model: Json

    def __str__(self) -> str:
        return self.name

    @property
    def panels(self) -> list[Json]:
        """Return the panels that show something."""
        return [panel for panel in self.model["panels"] if panel["type"] != "row"]

    @property
    def variables(self) -> list[Json]:
        """Return what is to choose, less the data source."""
        return [one for one in self.model["templating"]["list"] if one["type"] == "query"]

    def queries(self) -> Iterator[tuple[str, Json]]:
        """Yield every query and the panel that it is in."""
        for panel in self.panels:
            for target in panel["targets"]:
                yield panel["title"], target


def boards() -> list[Board]:
    """Return all dashboards."""
    return [Board(path.stem, json.loads(path.read_text())) for path in DASHBOARDS]


def rules() -> list[Json]:
    """Return all alerts, those for users among them."""
    files = [yaml.safe_load(path.read_text()) for path in RULES]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


def objects(folder: str) -> list[Json]:
    """Return the objects of Kubernetes in the files of a folder."""
    texts = [path.read_text() for path in sorted((SHIPPED / folder).glob("*.yaml"))]
    return [obj for text in texts for obj in yaml.safe_load_all(text) if obj]
