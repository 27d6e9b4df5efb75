"""Write dashboards and alert rules: `python -m deploy.observe.generate FOLDER [RUNBOOKS]`.

RUNBOOKS is where docs/runbooks.md can be read; every alert links to its section there.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from . import alerts, grafana
from .boards import checks, cluster, controller, exporter, gpus, jobs, nodes, operator
from .groups import controller as controller_alerts
from .groups import exporter as exporter_alerts
from .groups import jobs as jobs_alerts
from .groups import nodes as nodes_alerts
from .groups import notices
from .groups import operator as operator_alerts

HEADER = "# Made by `make generate`. Do not edit.\n"
RUNBOOKS = "docs/runbooks.md"

DASHBOARDS = tuple(
    module.BOARD for module in (cluster, nodes, jobs, gpus, controller, checks, exporter, operator)
)
GROUPS = tuple(
    module.GROUP
    for module in (nodes_alerts, jobs_alerts, controller_alerts, exporter_alerts, operator_alerts)
)
# Goes to users and not to administrators, so nobody gets it who did not ask for it.
NOTICES = notices.GROUP


class _Text(yaml.SafeDumper):
    """Writes what appears twice twice, and not as an alias."""

    def ignore_aliases(self, _data: object) -> bool:
        """Say that there are none."""
        return True


def written(data: object) -> str:
    """Return data as a file of YAML."""
    return HEADER + yaml.dump(data, Dumper=_Text, sort_keys=False, width=100)


def files(runbooks: str = RUNBOOKS) -> Iterator[tuple[str, str]]:
    """Yield path and content of each file."""
    for dashboard in DASHBOARDS:
        text = json.dumps(grafana.model(dashboard), indent=2, ensure_ascii=False)
        yield f"dashboards/{dashboard.name}.json", text + "\n"
    for group in (*GROUPS, NOTICES):
        yield f"rules/{group.name}.yaml", written(alerts.file(group, runbooks))
    yield "kubernetes/rules.yaml", written(alerts.custom_resource(GROUPS, runbooks))


def main() -> None:
    """Write all files below the folder that the command line names; their folders are all ours."""
    folder, *rest = sys.argv[1:]  # noqa: TID251 - a program that people run
    made = {Path(folder) / path: content for path, content in files(*rest[:1])}
    for place in {path.parent for path in made}:
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            old.unlink()
    for path, content in made.items():
        path.write_text(content)


if __name__ == "__main__":
    main()
