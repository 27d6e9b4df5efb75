"""An exporter of a cluster, with both of its servers, that collects when it is told to."""

import asyncio
import gzip
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from prometheus_client.parser import text_string_to_metric_families

from shoal.exporter import serve
from shoal.exporter.catalogue import Collector
from shoal.exporter.collect import Collecting
from shoal.exporter.health import Health
from shoal.exporter.process import Clients, collectors
from shoal.exporter.settings import Settings
from shoal.exporter.text import CONTENT_TYPE
from shoal.kubeapi.server import Listening, Server
from shoal.slurmapi.client import Access, Client
from shoal.slurmapi.tokens import Tokens

SLURMS = (Collector.NODES, Collector.JOBS, Collector.DIAG, Collector.ACCOUNTING)
PLAIN = Settings("lab", collectors=SLURMS)


@dataclass(frozen=True)
class Exporting:
    """A running exporter."""

    collecting: Collecting
    metrics: Server
    monitoring: Server

    async def collect(self) -> None:
        """Let every collector run once."""
        await self.collecting.once()

    async def scrape(self, *, packed: bool = True) -> str:
        """Return Slurm's metrics."""
        return await asyncio.to_thread(_fetched, self.metrics.port, packed=packed)

    async def own(self) -> str:
        """Return the exporter's own."""
        return await asyncio.to_thread(_fetched, self.monitoring.port, packed=False)

    async def failing(self) -> dict[str, str]:
        """Return the collectors that fail, and why."""
        told = samples(await self.own(), "slurm_exporter_collector_failing")
        return {labels["collector"]: labels["cause"] for labels, _ in told}


def samples(text: str, name: str) -> list[tuple[dict[str, str], float]]:
    """Return the series of one metric."""
    families = text_string_to_metric_families(text)
    found = (sample for family in families for sample in family.samples)
    return [(sample.labels, sample.value) for sample in found if sample.name == name]


def _fetched(port: int, *, packed: bool) -> str:
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/metrics", headers={"Accept-Encoding": "gzip"} if packed else {}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        body = answer.read()
    assert answer.headers["Content-Type"] == CONTENT_TYPE
    assert (answer.headers["Content-Encoding"] == "gzip") is packed
    return (gzip.decompress(body) if packed else body).decode()


@asynccontextmanager
async def exporting(
    url: str, tokens: Tokens, settings: Settings = PLAIN
) -> AsyncIterator[Exporting]:
    """Give an exporter."""
    chosen = replace(settings, url=url)
    health = Health.of(chosen.collectors)
    here = Listening("127.0.0.1")
    async with Client(Access(url, tokens), observe=health.requested) as client:
        made = collectors(chosen, Clients(client), health)
        collecting = Collecting(made, health, chosen.pace)
        page = collecting.page
        async with (
            Server(serve.metrics(page, health), here) as metrics,
            Server(serve.monitoring(page, health), here) as monitoring,
        ):
            yield Exporting(collecting, metrics, monitoring)
        await collecting.close()
