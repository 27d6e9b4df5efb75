"""An exporter's process: its collectors and its two servers, from start to end."""

import asyncio
import gc
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass

import structlog

from ..kubeapi.access import Access
from ..kubeapi.client import Client as Kubernetes
from ..kubeapi.server import Server
from ..runtime import clock, probes
from ..slurmapi.client import Access as SlurmAccess
from ..slurmapi.client import Client as Slurm
from . import programs, serve
from .accounting import AccountingCollector
from .catalogue import Collector
from .collect import Collecting, Collects
from .diag import DiagCollector
from .ended import EndedJobs
from .health import Health
from .identity import tokens
from .jobs import JobsCollector
from .nodes import NodesCollector
from .settings import Origin, Settings
from .shared import Shared
from .sources import ControllerJobs, JobSource, QueueJobs, RecordedJobs
from .topology import TopologyCollector, Workers

NAME = "shoal-exporter"
log = structlog.get_logger()


@dataclass(frozen=True)
class Clients:
    """Whom the collectors ask."""

    slurm: Slurm
    kubernetes: Kubernetes | None = None


async def run(settings: Settings, access: Access | None) -> None:
    """Collect and serve until SIGTERM; `access` is for Kubernetes, where that is asked."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    health = Health.of(settings.collectors)
    async with AsyncExitStack() as open_:
        clients = await _connected(settings, access, health, open_)
        collecting = Collecting(collectors(settings, clients, health), health, settings.pace)
        open_.push_async_callback(collecting.close)
        for server in _servers(settings, collecting):
            await open_.enter_async_context(server)
            log.info("serving", port=server.port)
        # What is here now stays: looking through it again and again would hold up scrapes.
        gc.collect()
        gc.freeze()
        working = asyncio.create_task(collecting.run())
        asked = asyncio.create_task(stop.wait())
        await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
        for task in (working, asked):
            task.cancel()
        await asyncio.gather(working, asked, return_exceptions=True)


async def _connected(
    settings: Settings, access: Access | None, health: Health, open_: AsyncExitStack
) -> Clients:
    kubernetes = None
    if access is not None:
        kubernetes = await open_.enter_async_context(Kubernetes(access, NAME))
    who = tokens(settings.identity, settings.user, kubernetes)
    client = Slurm(SlurmAccess(settings.url, who), observe=health.requested)
    return Clients(await open_.enter_async_context(client), kubernetes)


def collectors(settings: Settings, clients: Clients, health: Health) -> list[Collects]:
    """Return the collectors that are asked for."""
    shared = Shared()
    made: list[Collects] = []
    for name in settings.collectors:
        match name:
            case Collector.NODES:
                made.append(NodesCollector(clients.slurm, shared))
            case Collector.JOBS:
                source = source_of(settings, clients.slurm)
                made.append(JobsCollector(source, shared, settings.sampling, health))
            case Collector.DIAG:
                made.append(DiagCollector(clients.slurm))
            case Collector.TOPOLOGY:
                made.append(_topology(settings, clients, shared))
            case Collector.ACCOUNTING:
                ended = EndedJobs(clients.slurm, steps=True)
                made.append(AccountingCollector(ended, _now))
            case Collector.ITSELF:
                raise ValueError("the exporter's own metrics need no collector")
    return made


def source_of(settings: Settings, client: Slurm) -> JobSource:
    """Return where jobs come from."""
    live: JobSource = (
        QueueJobs(programs.printed, settings.squeue)
        if settings.squeue
        else ControllerJobs(client, settings.budget)
    )
    if settings.origin is Origin.CONTROLLER:
        return live
    return RecordedJobs(live, EndedJobs(client), int(settings.lookback.total_seconds()), _now)


def _topology(settings: Settings, clients: Clients, shared: Shared) -> TopologyCollector:
    if clients.kubernetes is None:
        raise ValueError(
            "the collector topology asks Kubernetes: name a kubeconfig, or leave it out"
        )
    workers = Workers(
        settings.namespace, settings.selector, settings.nodeset_label, settings.group_label
    )
    return TopologyCollector(clients.kubernetes, workers, shared)


def _servers(settings: Settings, collecting: Collecting) -> list[Server]:
    page, health = collecting.page, collecting.health
    found = [
        (settings.metrics, serve.metrics(page, health)),
        (settings.monitoring, serve.monitoring(page, health)),
    ]
    places = [(probes.listening(address), routes) for address, routes in found]
    return [Server(routes, where) for where, routes in places if where is not None]


def _now() -> float:
    return clock.now().timestamp()
