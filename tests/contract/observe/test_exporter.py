"""A real Prometheus and the exporter itself, on a fake of Slurm."""

import asyncio
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from observe.known import TARGET, exporter

from ..slurm.places import NEW, OLD, Slurm, fake
from .programs import CLUSTER, OFTEN, UPSTREAM, complaints, free_port, running

pytestmark = pytest.mark.usefixtures("programs")
GOLDEN = sorted((Path(__file__).parents[2] / "golden/exporter").glob("metrics-*.txt"))
SHOAL = Path(sys.executable).with_name("shoal")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_promtool_finds_no_fault_with_what_a_real_cluster_is_told_as(path):
    # V is a value that differs from run to run.
    assert complaints(path.read_text().replace(" V\n", " 1\n")) <= UPSTREAM


def test_there_is_such_a_text_of_each_series():
    assert [path.stem.removeprefix("metrics-") for path in GOLDEN] == [OLD, NEW]


@asynccontextmanager
async def exporting(slurm: Slurm, log: Path) -> AsyncIterator[tuple[int, int]]:
    """Give the two ports of an exporter, a process of its own."""
    ports = free_port(), free_port()
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(SHOAL, "exporter", "--cluster-name=slurm", f"--slurm-api-server={slurm.url}"),
            *(f"--static-token={slurm.token('root')}", "--collectors=nodes,jobs,diag"),
            *("--collection-interval=1s", "--log-level=warn"),
            f"--metrics-bind-address=127.0.0.1:{ports[0]}",
            f"--monitoring-bind-address=127.0.0.1:{ports[1]}",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield ports
    finally:
        process.terminate()
        await process.wait()


def page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return answer.read().decode()


async def test_prometheus_scrapes_the_exporter_without_a_warning(tmp_path):
    async with fake(NEW) as slurm, exporting(slurm, tmp_path / "exporter.log") as ports:
        await slurm.running()
        configuration = {
            "global": OFTEN,
            "scrape_configs": [
                {
                    "job_name": "exporter",
                    "static_configs": [
                        {"targets": [f"127.0.0.1:{port}" for port in ports], "labels": CLUSTER}
                    ],
                }
            ],
        }
        with running(tmp_path, configuration) as prometheus:
            # Both pages, with a job among them: the numbers have come all the way.
            seen = 'slurm_job_info{job_state="RUNNING"} and on (job) min by (job) (up) == 1'
            await asyncio.to_thread(prometheus.wait_for, seen)
            found = await asyncio.to_thread(
                prometheus.ask, "series", **{"match[]": '{__name__=~"slurm_.+"}'}
            )
            assert prometheus.log.read_text() == ""
        pages = [await asyncio.to_thread(page, port) for port in ports]
    named = {one.pop("__name__"): frozenset(one) for one in found}
    unknown = {name: labels - exporter().get(name, frozenset()) for name, labels in named.items()}
    assert {name: labels - TARGET for name, labels in unknown.items() if labels - TARGET} == {}
    assert set(named) <= set(exporter())
    assert all(complaints(text) <= UPSTREAM for text in pages)
