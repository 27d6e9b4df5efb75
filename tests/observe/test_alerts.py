"""Alerts ask only for what there is, and each has a runbook."""

import re

import pytest
import yaml

from .known import TARGET, everything
from .promql import named
from .shipped import ROOT, SHIPPED, objects, rules

RULES = rules()
every_alert = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
RUNBOOKS = ROOT / "docs/runbooks.md"
# A section of the runbooks, up to the next one.
SECTION = re.compile(r"^### (?P<name>\w+)\n(?P<body>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
PARTS = ("**It means**", "**Look at**", "**Cure**")
TOLD = re.compile(r"\$labels\.(\w+)")


@every_alert
def test_an_alert_names_only_metrics_and_labels_that_are_there(rule):
    found = named(rule["expr"])
    assert found.metrics
    for metric, labels in found.metrics:
        assert metric in everything(), f"there is no {metric}"
        assert labels <= everything()[metric] | TARGET, metric
    there = TARGET.union(*(everything()[metric] for metric, _ in found.metrics))
    assert found.labels <= there


@every_alert
def test_an_alert_tells_only_labels_that_it_keeps(rule):
    told = {label for text in rule["annotations"].values() for label in TOLD.findall(text)}
    found = named(rule["expr"])
    kept = found.labels or TARGET.union(*(everything()[metric] for metric, _ in found.metrics))
    assert told <= kept


@every_alert
def test_an_alert_says_which_cluster_it_is_about(rule):
    if rule["expr"].startswith("absent("):
        return  # nobody is there to be about
    assert "namespace" in named(rule["expr"]).labels or " by (" not in rule["expr"]


@every_alert
def test_an_alert_says_what_is_wrong_how_bad_it_is_and_where_to_read_on(rule):
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert re.fullmatch(r"\d+[mhd]", rule["for"])
    notes = rule["annotations"]
    assert set(notes) == {"summary", "description", "runbook_url"}
    assert not notes["summary"].endswith(".")
    assert notes["description"].endswith(".")
    assert "$where" not in str(notes)
    assert "$place" not in rule["expr"]
    assert notes["runbook_url"] == f"docs/runbooks.md#{rule['alert'].lower()}"


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    sections = [match["name"] for match in SECTION.finditer(RUNBOOKS.read_text())]
    assert sorted(sections) == sorted(rule["alert"] for rule in RULES)


@pytest.mark.parametrize(
    "section", [*SECTION.finditer(RUNBOOKS.read_text())], ids=lambda match: match["name"]
)
def test_a_runbook_says_what_it_means_where_to_look_and_what_to_do(section):
    places = [section["body"].find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)


def test_names_of_alerts_are_told_apart():
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))


def test_the_prometheus_operator_gets_the_same_rules():
    (made,) = objects("kubernetes")
    files = [yaml.safe_load(path.read_text()) for path in (SHIPPED / "rules").glob("*.yaml")]
    groups = {group["name"]: group for file in files for group in file["groups"]}
    # Those that go to users are for who wants them.
    del groups["shoal-notices"]
    assert made["kind"] == "PrometheusRule"
    assert {group["name"]: group for group in made["spec"]["groups"]} == groups
