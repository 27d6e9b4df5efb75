"""A real Prometheus that scrapes a small cluster, told by numbers alone."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import pytest

from observe.exposition import text
from observe.operator import Operator
from observe.shipped import RULES
from shoal.cli.environment import settings
from shoal.local import packages
from shoal.local.bar import progress

from .programs import CLUSTER, NEEDS, OFTEN, OPERATOR, Prometheus, running, scraped


@pytest.fixture(scope="session")
def programs() -> None:
    """Have Prometheus, Alertmanager and their tools."""
    packages.ensure(settings(), progress(sys.stderr), NEEDS)


class Targets(BaseHTTPRequestHandler):
    """Serves an exporter's two pages and an operator's one, a little later each time."""

    times = count(1)
    operator: Operator

    def do_GET(self) -> None:
        """Answer a scrape."""
        now = next(self.times)
        page = {
            "/exporter": lambda: text(8080, now),
            "/itself": lambda: text(8081, now),
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
    """Give the address of an exporter and an operator."""
    Targets.operator = Operator()
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
            scraped("operator", targets, OPERATOR),
        ],
    }
    with running(tmp_path_factory.mktemp("prometheus"), configuration) as made:
        made.wait_for("min(count_over_time(up[1m])) >= 3")
        yield made
