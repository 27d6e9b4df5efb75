"""A real Prometheus that scrapes two small clusters: one with every metric, one that is told."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import pytest

from observe.exposition import text
from observe.operator import Operator
from observe.shipped import RULES
from observe.told import Told
from shoal.cli.environment import settings
from shoal.local import packages
from shoal.local.bar import progress

from .programs import CLUSTER, NEEDS, OFTEN, OPERATOR, TOLD, Prometheus, running, scraped


@pytest.fixture(scope="session")
def programs() -> None:
    """Have Prometheus, Alertmanager and their tools."""
    packages.ensure(settings(), progress(sys.stderr), NEEDS)


class Targets(BaseHTTPRequestHandler):
    """Serves two exporters' pages and an operator's one, a little later each time."""

    times = count(1)
    operator: Operator
    told: Told

    def do_GET(self) -> None:
        """Answer a scrape."""
        now = next(self.times)
        page = {
            "/exporter": lambda: text(8080, now),
            "/itself": lambda: text(8081, now),
            "/told": lambda: self.told.text(8080),
            "/told-itself": lambda: self.told.text(8081),
            "/operator": self.operator.text,
        }[self.path]()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def targets() -> Iterator[str]:
    """Give the address of exporters and an operator."""
    Targets.operator, Targets.told = Operator(), Told()
    with ThreadingHTTPServer(("127.0.0.1", 0), Targets) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def prometheus(
    programs: None, targets: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Give a Prometheus that has scraped everything several times."""
    configuration = {
        "global": OFTEN,
        "rule_files": [str(path) for path in RULES],
        "scrape_configs": [
            scraped("exporter", targets, CLUSTER),
            scraped("itself", targets, CLUSTER),
            scraped("told", targets, TOLD),
            scraped("told-itself", targets, TOLD),
            scraped("operator", targets, OPERATOR),
        ],
    }
    with running(tmp_path_factory.mktemp("prometheus"), configuration) as made:
        made.wait_for("min(count_over_time(up[1m])) >= 4")
        yield made
