"""Each alert fires when it should and is quiet when it should, before a real Prometheus."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from observe.shipped import NOTIFIER, RULES, SHIPPED, rules

from .cases import CASES
from .programs import said

pytestmark = pytest.mark.usefixtures("programs")
every_file = pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
NAMES = [rule["alert"] for rule in rules()]


@every_file
def test_promtool_takes_a_file_of_rules(path):
    code, out = said("promtool", "check", "rules", "--lint-fatal", path)
    assert code == 0, out


def test_every_alert_is_tried():
    assert sorted(CASES) == sorted(NAMES)


def tried(series: Sequence[str], minute: int, name: str, firing: int) -> dict[str, Any]:
    """Return a trial as promtool reads it: after so many minutes so many alerts fire."""
    lines = [line.rpartition("} ") for line in series]
    query = f'count(ALERTS{{alertname="{name}", alertstate="firing"}})'
    return {
        "interval": "1m",
        "input_series": [{"series": f"{head}}}", "values": tail} for head, _, tail in lines],
        "promql_expr_test": [
            {
                "expr": query,
                "eval_time": f"{minute}m",
                "exp_samples": [{"labels": "{}", "value": firing}] if firing else [],
            }
        ],
    }


def outcome(folder: Path, rule_file: Path, *trials: dict[str, Any]) -> tuple[int, str]:
    file = folder / "trial.yaml"
    head = {"rule_files": [str(rule_file)], "evaluation_interval": "1m"}
    file.write_text(yaml.safe_dump({**head, "tests": list(trials)}))
    return said("promtool", "test", "rules", file)


def alerts(path: Path) -> list[str]:
    groups = yaml.safe_load(path.read_text())["groups"]
    return [rule["alert"] for group in groups for rule in group["rules"]]


# A file at a time, as each start of promtool takes a second; what it says names the alert.
@every_file
def test_each_alert_fires_when_it_should(path, tmp_path):
    cases = {name: CASES[name] for name in alerts(path)}
    trials = [tried(case.fires, case.minute, name, 1) for name, case in cases.items()]
    code, out = outcome(tmp_path, path, *trials)
    assert code == 0, out


@every_file
def test_each_alert_is_quiet_while_all_is_well_enough(path, tmp_path):
    cases = {name: CASES[name] for name in alerts(path)}
    trials = [tried(case.quiet, case.minute, name, 0) for name, case in cases.items()]
    code, out = outcome(tmp_path, path, *trials)
    assert code == 0, out


def test_a_trial_can_fail(tmp_path):
    case = CASES["SlurmctldBusy"]
    trial = tried(case.quiet, case.minute, "SlurmctldBusy", 1)
    code, out = outcome(tmp_path, SHIPPED / "rules/controller.yaml", trial)
    assert code != 0
    assert "SlurmctldBusy" in out


def test_alertmanager_takes_the_example():
    code, out = said("amtool", "check-config", NOTIFIER)
    assert code == 0, out


@pytest.mark.parametrize(
    ("labels", "receivers"),
    [
        (("alertname=SlurmctldBusy", "severity=warning"), "administrators"),
        (("alertname=SlurmctldUnreachable", "severity=critical"), "on-call,administrators"),
        (("alertname=SlurmNodeDrainsLong", "severity=info"), "nobody"),
        (
            ("alertname=SlurmJobEnded", "severity=info", "user_mail=ada@example.com"),
            "owner",
        ),
    ],
)
def test_an_alert_reaches_whom_it_is_for(labels, receivers):
    route = ("config", "routes", "test", f"--config.file={NOTIFIER}")
    code, out = said("amtool", *route, f"--verify.receivers={receivers}", *labels)
    assert code == 0, out


def test_what_the_notifier_names_is_there():
    routes = NOTIFIER.read_text()
    words = set(re.findall(r"(?:Slurm|Shoal)\w+", routes))
    assert words <= {*NAMES, "SlurmNode"}


def test_promtool_takes_the_example_for_a_prometheus_outside_of_kubernetes(tmp_path):
    file = tmp_path / "prometheus.yml"
    file.write_text((SHIPPED / "monitors/prometheus.yaml").read_text())
    (tmp_path / "rules").symlink_to(SHIPPED / "rules")
    code, out = said("promtool", "check", "config", file)
    assert code == 0, out
