"""Prometheus and its tools: Debian's, installed where they are missing."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from shoal.local.packages import Need

NEEDS = (
    Need("prometheus", ("prometheus", "promtool")),
    Need("prometheus-alertmanager", ("prometheus-alertmanager", "amtool")),
)
# Names that upstream's dashboards use, so not ours to change; promtool would have them otherwise.
UPSTREAM = {
    ("slurm_node_cpus_total", 'non-counter metrics should not have "_total" suffix'),
    (
        "slurm_controller_server_thread_count",
        'non-histogram and non-summary metrics should not have "_count" suffix',
    ),
}
PATIENCE_S = 90.0
# As docs/monitoring.md wants targets to be labelled.
CLUSTER = {"namespace": "hpc", "slurm_cluster": "slurm"}
TOLD = {"namespace": "hpc", "slurm_cluster": "told"}
OPERATOR = {"namespace": "slinky"}
OFTEN = {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"}


def said(*words: str | Path, stdin: str = "") -> tuple[int, str]:
    """Return how a program ends and all that it says."""
    done = subprocess.run(
        [*map(str, words)],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def complaints(page: str) -> set[tuple[str, ...]]:
    """Return what promtool finds fault with in a page of metrics: names and words."""
    _, out = said("promtool", "check", "metrics", stdin=page)
    return {tuple(line.split(" ", 1)) for line in out.splitlines() if line}


@dataclass(frozen=True)
class Prometheus:
    """One that runs."""

    address: str
    log: Path

    def ask(self, path: str, **words: str | Sequence[str]) -> Any:
        """Return what it answers, or raise with what it says."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(words, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{words}: {json.load(error)['error']}") from error

    def query(self, text: str) -> list[dict[str, Any]]:
        """Return the series of an answer."""
        return self.ask("query", query=text)["result"]

    def wait_for(self, text: str) -> None:
        """Wait until it has begun and a query has an answer."""
        until(lambda: ready(self.address) and bool(self.query(text)), self.log.read_text)


@contextmanager
def running(folder: Path, configuration: Mapping[str, Any]) -> Iterator[Prometheus]:
    """Give a Prometheus that has been started; it says nothing but warnings."""
    file, log = folder / "prometheus.yml", folder / "log"
    file.write_text(yaml.safe_dump(configuration))
    address = f"127.0.0.1:{free_port()}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                *("prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}/data"),
                *(f"--web.listen-address={address}", "--log.level=warn"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield Prometheus(address, log)
    finally:
        process.terminate()
        process.wait()


def scraped(page: str, target: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return what tells Prometheus of a page."""
    return {
        "job_name": page,
        "metrics_path": f"/{page}",
        "static_configs": [{"targets": [target], "labels": dict(labels)}],
    }


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def ready(address: str) -> bool:
    """Say whether such a server has begun; before that it refuses all questions."""
    try:
        with urllib.request.urlopen(f"http://{address}/-/ready", timeout=5):
            return True
    except OSError:
        return False


def until(seen: Callable[[], bool], said: Callable[[], str]) -> None:
    """Wait for something to be seen, or fail with what was said meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < deadline, said()
        time.sleep(0.1)
