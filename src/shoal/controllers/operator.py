"""The operator's process: its stores, controllers, webhooks, probes and numbers."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..kube import kinds
from ..kube.findings import Lookups
from ..kube.kinds import Kind, Kinds
from ..kube.objects import Resource
from ..kubeapi.access import Access
from ..kubeapi.client import Client
from ..kubeapi.server import Answer, Handler, Server, Tls
from ..runtime import probes, profile
from ..runtime.apply import Applier
from ..runtime.controller import Controller
from ..runtime.events import Recorder
from ..runtime.keeper import Keeper, Mounted, SelfSigned, Source
from ..runtime.lease import Terms
from ..runtime.probes import Check
from ..runtime.process import MANAGER, Process, Service, Setup
from ..runtime.store import Store
from ..runtime.trust import targets
from ..runtime.webhook import Webhook, routes
from ..slurmapi.client import Client as Slurmrestd
from . import nebius, nebius_webhooks, slinky, webhooks
from .owned import Own, Owned
from .passes import Hands
from .slinky_reader import Settings
from .slurms import Slurms
from .webhooks import Asking
from .world import IN_BRIEF, LABELS, OPTIONAL, READ, READ_TOO, TOO_IN_BRIEF, World, stores

NAME = "slurm-operator"


@dataclass(frozen=True)
class Dialect:
    """An API that users ask for clusters in."""

    own: Mapping[Kind, type[Resource]]
    references: Callable[[Any], Iterable[str]]
    controllers: Callable[[Hands, Slurms, Settings], Sequence[Controller]]
    webhooks: Callable[[Lookups], Sequence[Webhook]]
    read: Mapping[Kind, type[Resource]]  # of the kinds of others


DIALECTS: Mapping[str, Dialect] = {
    "slinky": Dialect(
        slinky.OWN,
        slinky.references,
        slinky.controllers,
        partial(webhooks.table, bindings=True),
        READ,
    ),
    "nebius": Dialect(
        nebius.OWN,
        nebius.references,
        nebius.controllers,
        nebius_webhooks.table,
        {**READ, **READ_TOO},
    ),
}


@dataclass(frozen=True)
class Webhooks:
    """Where webhooks are served, and with whose certificate."""

    address: str = "0"  # 0: nowhere
    service: str = "slurm-operator-webhook"  # by which the API server finds them
    namespace: str = ""  # of the service; none: the operator's
    configuration: str = NAME  # the name of the objects that register them
    secret: str = "slurm-operator-webhook-ca"  # that holds a certificate of our own
    folder: Path | None = None  # where somebody else puts one


@dataclass(frozen=True)
class Options:
    """What the operator is told."""

    access: Access
    identity: str
    namespace: str  # that it runs in
    namespaces: tuple[str, ...] = ()  # that it looks after; none: all
    lead: bool = True  # by a Lease
    health: str = ":8081"
    metrics: str = ":8080"
    metrics_secure: bool = False
    profile: str = "0"
    webhooks: Webhooks = field(default_factory=Webhooks)
    settings: Settings = field(default_factory=Settings)
    dialects: tuple[str, ...] = ()  # none: all whose kinds the API server knows, now or later

    @property
    def spoken(self) -> Sequence[Dialect]:
        """Return the dialects."""
        return [DIALECTS[name] for name in self.dialects or DIALECTS]


async def run(options: Options) -> bool:
    """Run until SIGTERM; say whether it ended because it was asked to."""
    made = _stores(options.spoken)
    world, recorder = World(made), Recorder(NAME)
    # Each has its own: clusters of two dialects may have one name.
    slurms = [Slurms() for _ in options.spoken]

    def controllers(client: Client, _: Mapping[Kind, Store[Any]]) -> Sequence[Controller]:
        own = [kind for dialect in options.spoken for kind in dialect.own]
        hands = Hands(client, world, Applier(client, made, Kinds(*own)), recorder)
        found: list[Controller] = []
        for dialect, several in zip(options.spoken, slurms, strict=True):
            several.through = client.through
            found += dialect.controllers(hands, several, options.settings)
        return found

    connect = partial(Owned, own=_own(options))
    process = Process(
        options.access, _setup(options, made), controllers, connect=connect, recorder=recorder
    )
    for several in slurms:
        several.connect = partial(Slurmrestd, observe=process.metrics.calls("slurmrestd"))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stop)
    async with connect(options.access, MANAGER) as free:  # of a standby, too
        process.services = _services(options, process, world, free)
        try:
            return await process.run()
        finally:
            for several in slurms:
                await several.close()


def _stores(dialects: Sequence[Dialect]) -> dict[Kind, Store[Any]]:
    made: dict[Kind, Store[Any]] = {}
    for dialect in dialects:
        for kind, store in stores(dialect.own, dialect.references, dialect.read).items():
            made.setdefault(kind, store)
    return made


def _setup(options: Options, made: Mapping[Kind, Store[Any]]) -> Setup:
    terms = Terms(options.namespace, NAME, options.identity) if options.lead else None
    own = frozenset(kind for dialect in options.spoken for kind in dialect.own)
    return Setup(
        tuple(made.values()),
        options.namespaces,
        IN_BRIEF | TOO_IN_BRIEF,
        OPTIONAL,
        terms,
        labels=LABELS,
        # Whoever names a dialect wants to hear that its kinds are not there.
        awaited=frozenset() if options.dialects else own,
    )


def _own(options: Options) -> frozenset[Own]:
    """Return what the operator makes for itself."""
    return frozenset({(kinds.LEASE, NAME), (kinds.SECRET, options.webhooks.secret)})


def _services(options: Options, process: Process, world: World, free: Client) -> list[Service]:
    """Return what is served: probes, numbers, webhooks and profiles."""
    served: list[Service] = []
    tls, wanted = Tls(), []
    if where := probes.listening(options.metrics):
        guard = probes.Guard(free) if options.metrics_secure else None
        numbers = probes.metrics(process.metrics, guard)
        served.append(Server(numbers, where, tls if guard else None).run)
    table: list[Webhook] = []
    if where := probes.listening(options.webhooks.address):
        asking = Asking(world, free, asyncio.get_running_loop())
        table = [row for dialect in options.spoken for row in dialect.webhooks(asking)]
        served.append(Server(routes(table), where, tls).run)
    if table or options.metrics_secure:
        trusting = targets(options.webhooks.configuration, table)
        keeper = Keeper(free, _certificates(options, free), tls, trusting)
        served.append(keeper.run)
        wanted.append(keeper.ready)
    if where := probes.listening(options.health):
        served.append(Server(_probes(process, wanted), where).run)
    if where := probes.listening(options.profile):
        served.append(Server(profile.paths(), where).run)
    return served


def _probes(process: Process, wanted: Sequence[asyncio.Event]) -> Mapping[str, Handler]:
    """Return the paths that the kubelet asks; who cannot answer the API server is not ready."""

    async def readyz(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        served = all(event.is_set() for event in wanted)
        certificate = Check("certificate", "" if served else "there is none to serve with yet")
        return probes.answer("readyz", [*probes.ready(process), certificate])

    return {**probes.probes(process), "/readyz": readyz}


def _certificates(options: Options, free: Client) -> Source:
    asked = options.webhooks
    if asked.folder is not None:
        return Mounted(asked.folder)
    host = f"{asked.service}.{asked.namespace or options.namespace}.svc"
    hosts = (host, f"{host}.{options.settings.domain}")
    return SelfSigned(free, options.namespace, asked.secret, hosts)
