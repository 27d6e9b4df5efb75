"""Dashboards as data, and as Grafana reads them. Pure.

A dashboard is rows of panels, a panel is queries and a look. Where a panel stands, which number it
has and what Grafana wants to hear besides follows from that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

SCHEMA = 39  # of Grafana 10 and 11; later ones read it and bring it up to date
COLUMNS = 24
TAG = "shoal"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True)
class Query:
    """One question to Prometheus; `legend` names its series by their labels: `{{partition}}`."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Look:
    """How Grafana draws a panel."""

    kind: str
    options: Mapping[str, Any]
    custom: Mapping[str, Any]
    format: str = "time_series"
    instant: bool = False


@dataclass(frozen=True)
class Step:
    """A colour from a value on."""

    value: float
    colour: str


_LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_DRAWN = {"lineWidth": 1, "showPoints": "never", "spanNulls": False, "drawStyle": "line"}
_ONE = {"calcs": ["lastNotNull"], "fields": "", "values": False}

LINES = Look(
    "timeseries",
    {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    {**_DRAWN, "fillOpacity": 5, "stacking": {"mode": "none", "group": "A"}},
)
STACKED = Look(
    "timeseries",
    LINES.options,
    {**_DRAWN, "fillOpacity": 60, "stacking": {"mode": "normal", "group": "A"}},
)
NUMBER = Look(
    "stat",
    {"reduceOptions": _ONE, "colorMode": "value", "graphMode": "area", "textMode": "auto"},
    {},
)
BARS = Look(
    "bargauge",
    {
        "reduceOptions": _ONE, "orientation": "horizontal", "displayMode": "basic",
        "showUnfilled": True,
    },
    {},
    instant=True,
)  # fmt: skip
TABLE = Look(
    "table",
    {"showHeader": True, "cellHeight": "sm"},
    {"align": "auto", "filterable": True, "inspect": False},
    format="table",
    instant=True,
)
HEAT = Look(
    "heatmap",
    {
        "calculate": False, "cellGap": 1,
        "color": {
            "mode": "scheme", "scheme": "Blues", "steps": 32, "exponent": 0.5, "fill": "blue",
            "reverse": False,
        },
        "tooltip": {"mode": "single", "yHistogram": False},
        "legend": {"show": True},
    },
    {},
    format="heatmap",
)  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """One picture. `unit` is a name of Grafana's: short, percentunit, s, bytes, reqps."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    look: Look = LINES
    width: int = 8
    height: int = 8
    steps: tuple[Step, ...] = ()


def number(title: str, words: str, unit: str, expr: str, *steps: Step) -> Panel:
    """Return a panel with one number, coloured by `steps`."""
    return Panel(title, words, unit, (Query(expr),), NUMBER, 4, 5, steps)


def lines(title: str, words: str, unit: str, *queries: Query) -> Panel:
    """Return a panel with a line for each series."""
    return Panel(title, words, unit, queries)


def stacked(title: str, words: str, unit: str, *queries: Query) -> Panel:
    """Return a panel with series on top of each other, for parts of a whole."""
    return Panel(title, words, unit, queries, STACKED)


def bars(title: str, words: str, unit: str, *queries: Query) -> Panel:
    """Return a panel with a bar for each series as it is now."""
    return Panel(title, words, unit, queries, BARS)


def heat(title: str, words: str, unit: str, *queries: Query) -> Panel:
    """Return a panel that shows how the buckets of a histogram fill."""
    return Panel(title, words, unit, queries, HEAT)


def table(title: str, words: str, unit: str, *queries: Query) -> Panel:
    """Return a panel with a line of text for each series as it is now."""
    return Panel(title, words, unit, queries, TABLE, COLUMNS, 10)


@dataclass(frozen=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Choice:
    """Something to choose above the panels: the values that a label of a metric has."""

    name: str
    label: str
    metric: str


@dataclass(frozen=True)
class Dashboard:
    """A page. In its queries `$here` stands for what is chosen of `place`."""

    name: str
    title: str
    description: str
    place: tuple[Choice, ...]
    rows: tuple[Row, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def panels(self) -> list[Panel]:
        """Return its panels, from the top."""
        return [panel for row in self.rows for panel in row.panels]

    def asked(self, query: Query) -> str:
        """Return a query as Grafana has it, variables and all."""
        return " ".join(query.expr.split()).replace("$here", selected(self.place))

    def offered(self, choice: Choice) -> str:
        """Return the question for the values of a choice, of the clusters chosen before it."""
        before = self.place[: self.place.index(choice)] if choice in self.place else self.place
        where = "{" + selected(before) + "}" if before else ""
        return f"label_values({choice.metric}{where}, {choice.label})"


def selected(place: Sequence[Choice]) -> str:
    """Return the part of a selector that keeps to a place."""
    return ", ".join(f'{choice.label}=~"${choice.name}"' for choice in place)


def model(dashboard: Dashboard) -> Json:
    """Return what Grafana stores and exports."""
    return {
        "uid": f"shoal-{dashboard.name}",
        "title": f"Slurm / {dashboard.title}",
        "description": dashboard.description,
        "tags": [TAG, "slurm"],
        "annotations": {"list": []},
        "editable": True,
        "fiscalYearStartMonth": 0,
        "graphTooltip": 1,
        "id": None,
        "links": [_beside()],
        "liveNow": False,
        "panels": list(_placed(dashboard)),
        "refresh": "1m",
        "schemaVersion": SCHEMA,
        "templating": {"list": [_source(), *_variables(dashboard)]},
        "time": {"from": "now-6h", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "version": 1,
        "weekStart": "",
    }


def _beside() -> Json:
    """Link to the other dashboards, with the same clusters and times."""
    return {
        "asDropdown": True, "icon": "external link", "includeVars": True, "keepTime": True,
        "tags": [TAG], "targetBlank": False, "title": "Slurm", "tooltip": "", "type": "dashboards",
        "url": "",
    }  # fmt: skip


def _source() -> Json:
    return {
        "current": {"selected": True, "text": "default", "value": "default"}, "hide": 0,
        "includeAll": False, "label": "Prometheus", "multi": False,
        "name": "datasource", "options": [], "query": "prometheus", "refresh": 1, "regex": "",
        "skipUrlSync": False, "type": "datasource",
    }  # fmt: skip


def _variables(dashboard: Dashboard) -> Iterator[Json]:
    for choice in (*dashboard.place, *dashboard.choices):
        query = dashboard.offered(choice)
        yield {
            # Takes series without the label too: there is none where Prometheus knows one cluster.
            "allValue": ".*", "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
            "datasource": SOURCE, "definition": query, "hide": 0, "includeAll": True,
            "label": choice.name.capitalize(), "multi": True, "name": choice.name, "options": [],
            "query": {"query": query, "refId": f"{choice.name}-values"},
            "refresh": 2, "regex": "", "skipUrlSync": False, "sort": 1, "type": "query",
        }  # fmt: skip


def _placed(dashboard: Dashboard) -> Iterator[Json]:
    """Yield rows and panels from left to right and from top to bottom."""
    number, top = 0, 0
    for row in dashboard.rows:
        number += 1
        yield _heading(row, number, top)
        top += 1
        left = tallest = 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            at = {"x": left, "y": top, "w": panel.width, "h": panel.height}
            yield {"id": number, "gridPos": at, **_drawn(dashboard, panel)}
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _heading(row: Row, number: int, top: int) -> Json:
    at = {"x": 0, "y": top, "w": COLUMNS, "h": 1}
    return {
        "id": number, "gridPos": at, "type": "row", "title": row.title, "collapsed": False,
        "panels": [],
    }  # fmt: skip


def _drawn(dashboard: Dashboard, panel: Panel) -> Json:
    look = panel.look
    steps: list[Json] = [{"color": "green", "value": None}]
    steps += [{"color": step.colour, "value": step.value} for step in panel.steps]
    mode = "thresholds" if look in (NUMBER, BARS) else "palette-classic"
    return {
        "type": look.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "targets": [
            _target(query, dashboard.asked(query), look) | {"refId": letter(number)}
            for number, query in enumerate(panel.queries)
        ],
        "fieldConfig": {
            "defaults": {
                # The unit of a heat map is that of its axis; its colours are counts.
                "unit": "short" if look is HEAT else panel.unit,
                "min": 0,
                "color": {"mode": mode},
                "thresholds": {"mode": "absolute", "steps": steps},
                "mappings": [],
                "custom": dict(look.custom),
            },
            "overrides": [],
        },
        "options": {**look.options, **(_axis(panel) if look is HEAT else {})},
        "transformations": _columns(panel.queries) if look is TABLE else [],
    }


def _axis(panel: Panel) -> Json:
    return {"yAxis": {"axisPlacement": "left", "unit": panel.unit}}


def _target(query: Query, expr: str, look: Look) -> Json:
    return {
        "datasource": SOURCE,
        "editorMode": "code",
        "expr": expr,
        "legendFormat": query.legend or "__auto",
        "format": look.format,
        "instant": look.instant,
        "range": not look.instant,
    }


def _columns(queries: Sequence[Query]) -> list[Json]:
    """Make one table of all queries: a column for each value, headed by the query's legend."""
    values = [f"Value #{letter(number)}" for number in range(len(queries))]
    if len(queries) == 1:
        values = ["Value"]
    heads = {value: query.legend for value, query in zip(values, queries, strict=True)}
    told = {value: head for value, head in heads.items() if head}
    # A value without a heading is the 1 of an info metric.
    hidden = {name: True for name in ("Time", *(heads.keys() - told.keys()))}
    tidy = {"excludeByName": dict(sorted(hidden.items())), "indexByName": {}, "renameByName": told}
    merged: list[Json] = [{"id": "merge", "options": {}}] if len(queries) > 1 else []
    return [*merged, {"id": "organize", "options": tidy}]


def letter(number: int) -> str:
    """Return what Grafana calls the query of that number, from 0."""
    return chr(ord("A") + number)
