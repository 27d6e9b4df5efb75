"""A real Prometheus takes what is exported, and has an answer to every query that is shipped."""

import math
import re
import time

import pytest

from observe.exposition import text
from observe.operator import Operator
from observe.shipped import Board, boards, rules

from .programs import TOLD, UPSTREAM, complaints

every_board = pytest.mark.parametrize("board", boards(), ids=str)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("port", [8080, 8081])
def test_promtool_finds_no_fault_with_the_exporters_metrics(port):
    assert complaints(text(port, 1)) <= UPSTREAM


@pytest.mark.usefixtures("programs")
def test_promtool_finds_no_fault_with_the_operators_metrics():
    assert complaints(Operator().text()) == set()


@pytest.mark.usefixtures("programs")
def test_promtool_finds_fault_where_there_is_one():
    assert complaints("# TYPE a_total gauge\na_total 1\n")


def test_prometheus_scrapes_without_a_warning(prometheus):
    targets = prometheus.ask("targets")["activeTargets"]
    assert {one["health"] for one in targets} == {"up"}
    assert [one["lastError"] for one in targets if one["lastError"]] == []
    assert prometheus.log.read_text() == ""


def asked(expr: str, chosen: str = ".*", cluster: str = "") -> str:
    """Return a query as Grafana sends it, with all that is to choose set to `chosen`."""
    named = expr.replace("$cluster", cluster or chosen)
    # What stands for nothing at all would hide that there is nothing.
    return re.sub(r"\$\w+", chosen, named).replace(" or vector(0)", "")


@every_board
def test_every_query_of_a_dashboard_has_an_answer(board: Board, prometheus):
    empty = [
        f"{title}: {expr}"
        for title, target in board.queries()
        if not prometheus.query(expr := asked(target["expr"]))
    ]
    assert empty == []


# Who has accounting is not without it.
NOT_AT_ONCE = {"Collectors with nothing to read"}
LOOKS = 8


@every_board
def test_every_query_has_an_answer_in_what_the_exporters_own_collectors_tell(
    board: Board, prometheus
):
    empty = {title for title, _ in board.queries()}
    # In every second look some nodes are well again: what one has no answer to, the next may have.
    for _ in range(LOOKS):
        empty -= {
            title
            for title, target in board.queries()
            if prometheus.query(asked(target["expr"], cluster=TOLD["slurm_cluster"]))
        }
        if empty <= NOT_AT_ONCE:
            break
        time.sleep(1)
    assert empty == {title for title, _ in board.queries()} & NOT_AT_ONCE


@every_board
def test_every_query_of_a_dashboard_gives_numbers(board: Board, prometheus):
    for title, target in board.queries():
        values = [float(one["value"][1]) for one in prometheus.query(asked(target["expr"]))]
        assert any(math.isfinite(value) for value in values), title


@every_board
def test_a_dashboard_shows_nothing_of_a_cluster_that_was_not_chosen(board: Board, prometheus):
    shown = [
        title
        for title, target in board.queries()
        if prometheus.query(asked(target["expr"], "elsewhere"))
    ]
    assert shown == []


@every_board
def test_every_choice_of_a_dashboard_has_values(board: Board, prometheus):
    for variable in board.variables:
        metric, label = re.fullmatch(
            r"label_values\((.+), (\w+)\)", variable["query"]["query"]
        ).groups()
        values = prometheus.ask(f"label/{label}/values", **{"match[]": asked(metric)})
        assert values, variable["name"]


@every_board
def test_a_legend_has_no_gaps(board: Board, prometheus):
    for title, target in board.queries():
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
            found = [one["metric"] for one in prometheus.query(asked(target["expr"]))]
            assert any(label in one for one in found), f"{title}: {label}"


def test_every_rule_can_be_evaluated_on_what_is_exported(prometheus):
    groups = prometheus.ask("rules")["groups"]
    seen = [rule for group in groups for rule in group["rules"]]
    assert len(seen) == len(rules())
    assert {rule["name"]: rule["lastError"] for rule in seen if rule.get("lastError")} == {}
    assert {rule["health"] for rule in seen} == {"ok"}


def test_what_an_alert_says_can_be_read(prometheus):
    groups = prometheus.ask("rules")["groups"]
    told = [
        (rule["name"], note)
        for group in groups
        for rule in group["rules"]
        for alert in rule["alerts"]
        for note in alert["annotations"].values()
    ]
    assert told
    assert [pair for pair in told if "<error" in pair[1] or "<no value>" in pair[1]] == []
