"""Dashboards ask only for what there is, and explain themselves."""

import re
from collections import Counter

import pytest

from .known import TARGET, everything, exporter, operator
from .promql import named
from .shipped import Board, boards

BOARDS = boards()
every_board = pytest.mark.parametrize("board", BOARDS, ids=str)
PLACES = {"operator": {"namespace"}}  # the others are about a Slurm cluster
CLUSTER = {"namespace", "slurm_cluster"}
LEGEND = re.compile(r"{{(\w+)}}")
# Names of Grafana's, from its list of value formats.
UNITS = {"short", "percentunit", "s", "h", "bytes", "reqps", "ops"}
# What Grafana's own types (@grafana/schema 13) have for each kind of panel.
OPTIONS = {
    "timeseries": {"legend", "tooltip", "orientation", "timezone", "timeCompare", "annotations"},
    "stat": {
        "reduceOptions", "colorMode", "graphMode", "textMode", "justifyMode", "orientation", "text",
        "wideLayout", "percentChangeColorMode", "showPercentChange",
    },
    "bargauge": {
        "reduceOptions", "orientation", "displayMode", "showUnfilled", "legend", "maxVizHeight",
        "minVizHeight", "minVizWidth", "namePlacement", "sizing", "text", "valueMode",
    },
    "table": {"showHeader", "cellHeight", "sortBy", "frameIndex", "frozenColumns", "showTypeIcons"},
    "heatmap": {
        "calculate", "calculation", "cellGap", "cellRadius", "cellValues", "color", "exemplars",
        "filterValues", "legend", "rowsFrame", "selectionMode", "showValue", "tooltip", "yAxis",
    },
}  # fmt: skip
PANEL = {
    "id", "gridPos", "type", "title", "description", "datasource", "targets", "fieldConfig",
    "options", "transformations",
}  # fmt: skip


def test_there_is_a_dashboard_for_everything_that_can_go_wrong():
    names = {board.name for board in BOARDS}
    about = {"cluster", "nodes", "jobs", "gpus", "controller", "checks", "exporter", "operator"}
    assert names == about


@every_board
def test_a_query_names_only_metrics_and_labels_that_are_there(board: Board):
    for title, target in board.queries():
        found = named(target["expr"])
        assert found.metrics, f"{title}: {target['expr']}"
        for metric, labels in found.metrics:
            assert metric in everything(), f"{title}: there is no {metric}"
            unknown = labels - everything()[metric] - TARGET
            assert not unknown, f"{title}: {metric} has no {unknown}"


@every_board
def test_a_query_groups_and_names_by_labels_that_its_metrics_have(board: Board):
    for title, target in board.queries():
        found = named(target["expr"])
        there = TARGET.union(*(everything()[metric] for metric, _ in found.metrics))
        assert found.labels <= there, title
        assert set(LEGEND.findall(target["legendFormat"])) <= there, title


@every_board
def test_a_legend_names_only_what_the_query_keeps(board: Board):
    for title, target in board.queries():
        if " by (" not in target["expr"] and "{{" in target["legendFormat"]:
            continue  # nothing is summed up, so all labels are there
        told = set(LEGEND.findall(target["legendFormat"]))
        assert told <= named(target["expr"]).labels, title


@every_board
def test_every_metric_is_asked_for_in_the_clusters_that_are_chosen(board: Board):
    place = PLACES.get(board.name, CLUSTER)
    for title, target in board.queries():
        for metric, labels in named(target["expr"]).metrics:
            assert place <= labels, f"{title}: {metric} is of every cluster"
        assert "$here" not in target["expr"], title


@every_board
def test_every_variable_of_a_query_can_be_chosen(board: Board):
    there = {variable["name"] for variable in board.variables}
    used = {n for _, target in board.queries() for n in re.findall(r"\$(\w+)", target["expr"])}
    assert used == there


@every_board
def test_a_choice_offers_the_values_of_a_label_that_is_there(board: Board):
    for variable in board.variables:
        asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert asked, variable["query"]
        ((metric, labels),) = named(asked[1]).metrics
        assert {asked[2], *labels} <= everything()[metric] | TARGET
        # Everything, also where Prometheus knows only one cluster and gives it no label.
        assert variable["allValue"] == ".*"
        assert variable["current"]["value"] == ["$__all"]


@every_board
def test_a_panel_has_a_number_of_its_own_a_unit_and_an_explanation(board: Board):
    numbers = Counter(panel["id"] for panel in board.model["panels"])
    assert max(numbers.values()) == 1
    titles = Counter(panel["title"] for panel in board.panels)
    assert max(titles.values()) == 1, titles.most_common(1)
    for panel in board.panels:
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]
        assert panel["description"].endswith((".", ":")), panel["title"]
        assert panel["targets"], panel["title"]
        letters = [target["refId"] for target in panel["targets"]]
        assert letters == sorted(set(letters)), panel["title"]


@every_board
def test_a_panel_has_only_options_that_grafana_knows(board: Board):
    for panel in board.panels:
        assert set(panel) == PANEL, panel["title"]
        assert set(panel["options"]) <= OPTIONS[panel["type"]], panel["title"]


@every_board
def test_panels_do_not_lie_on_each_other(board: Board):
    taken: set[tuple[int, int]] = set()
    for panel in board.model["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24, panel["title"]
        assert not cells & taken, panel["title"]
        taken |= cells


@every_board
def test_a_dashboard_asks_the_prometheus_that_is_chosen(board: Board):
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert all(panel["datasource"] == source for panel in board.panels)
    assert all(target["datasource"] == source for _, target in board.queries())
    assert board.model["templating"]["list"][0]["name"] == "datasource"
    assert board.model["id"] is None  # Grafana gives it one


def test_dashboards_are_told_apart_and_link_to_each_other():
    assert len({board.model["uid"] for board in BOARDS}) == len(BOARDS)
    assert len({board.model["title"] for board in BOARDS}) == len(BOARDS)
    for board in BOARDS:
        (link,) = board.model["links"]
        assert set(link["tags"]) <= set(board.model["tags"])


# What a dashboard for people leaves out on purpose, and why.
NOT_SHOWN = {
    # In a join or a table of its own when somebody needs it.
    "slurm_node_partition", "slurm_node_job", "slurm_job_memory_bytes",
    # The numbers beside them say the same.
    "slurm_node_cpus_idle", "slurm_partition_memory_bytes",
    "slurm_partition_memory_allocated_bytes", "slurm_exporter_collection_duration_seconds",
    "process_start_time_seconds",
}  # fmt: skip


def stem(name: str) -> str:
    return re.sub(r"_(bucket|sum|count)$", "", name)


def test_every_metric_is_on_a_dashboard_or_is_left_out_on_purpose():
    shown = {
        stem(metric)
        for board in BOARDS
        for _, target in board.queries()
        for metric, _ in named(target["expr"]).metrics
    }
    ours = {stem(name) for name in exporter()}
    ours |= {stem(name) for name in operator() if name.startswith("shoal_")}
    assert ours - shown == NOT_SHOWN
