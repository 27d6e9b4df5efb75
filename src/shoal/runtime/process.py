"""A process of controllers: what starts when, who leads, and how it ends.

Caches first, on every replica: a standby is warm and serves webhooks. Then the Lease; only its
holder runs controllers. On a stop no new pass begins, those under way end, the Lease is released.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from ..kube.kinds import Kind
from ..kubeapi.access import Access
from ..kubeapi.client import Client, Observe, Through, Which, directly
from . import clock, logs
from .controller import Controller, Several
from .events import Complaints, Recorder
from .lease import Election, Terms
from .metrics import Metrics
from .port import Fence, Fenced, Port
from .reflector import Reflector
from .store import Store, Synced

GRACE_S = 20.0
MANAGER = "shoal"
log = structlog.get_logger()

Service = Callable[[], Awaitable[None]]  # runs until cancelled, on standbys too
Connect = Callable[[Access, str, Through, Observe], Client]


@dataclass(frozen=True)
class Setup:
    """What a process is made of."""

    stores: Sequence[Store[Any]]
    namespaces: Sequence[str] = ()  # none: all
    metadata_only: frozenset[Kind] = frozenset()
    optional: frozenset[Kind] = frozenset()  # that the API server need not know
    terms: Terms | None = None  # none: lead without a Lease
    grace_s: float = GRACE_S
    labels: Mapping[Kind, str] = field(default_factory=dict)  # of kinds of which not all are seen
    awaited: frozenset[Kind] = frozenset()  # that it need not know yet, but then for good


@dataclass
class Process:
    """Runs a process. `controllers` get the client that only a leader can write with."""

    access: Access
    setup: Setup
    controllers: Callable[[Client, Mapping[Kind, Store[Any]]], Sequence[Controller]]
    services: Sequence[Service] = ()
    port: Callable[[Fence], Port] = Fenced
    connect: Connect = Client
    recorder: Recorder = field(default_factory=Recorder)
    metrics: Metrics = field(default_factory=Metrics)
    fence: Fence = field(default_factory=Fence)
    leading: asyncio.Event = field(default_factory=asyncio.Event)
    reflectors: Sequence[Reflector[Any]] = ()
    running: Sequence[Controller] = ()  # none on a standby
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _synced: Synced | None = None

    def __post_init__(self) -> None:
        self.metrics.attend(self)

    def stop(self) -> None:
        """Ask the process to end well; SIGTERM does."""
        self._stop.set()

    @property
    def ready(self) -> bool:
        """Say whether the caches hold the world."""
        return self._synced is not None and self._synced.all

    @property
    def stores(self) -> Sequence[Store[Any]]:
        """Return the caches."""
        return self.setup.stores

    @property
    def events(self) -> Mapping[str, int]:
        """Return how many events were recorded, sent and dropped."""
        return self.recorder.tally

    async def run(self) -> bool:
        """Run until `stop` (True) or until we are deposed (False)."""
        logs.set_up_if_nobody_has()
        observe, gate = self.metrics.request, self.metrics.counted(self.port(self.fence))
        fenced = self.connect(self.access, MANAGER, gate, observe)
        fenced.may_send = self.fence.check
        unfenced = self.connect(self.access, MANAGER, directly, observe)
        async with unfenced as free, fenced as client:
            background: list[asyncio.Future[None]] = []
            background += [asyncio.ensure_future(s()) for s in self.services]
            background += self._reflect(free)
            try:
                return await self._until_stopped(self._serve(free, client), background)
            finally:
                await _end(background)

    def _reflect(self, client: Client) -> "list[asyncio.Future[None]]":
        wanted = [
            (store, self._which(store.kind, space))
            for store in self.setup.stores
            for space in (self.setup.namespaces if store.kind.namespaced else ()) or ("",)
        ]
        synced = self._synced = Synced(len(wanted))
        self.reflectors = [
            Reflector(store, which, synced.one, optional=store.kind in self.setup.optional)
            for store, which in wanted
        ]
        for reflector in self.reflectors:
            reflector.awaited = reflector.kind in self.setup.awaited
        return [asyncio.ensure_future(r.run(client)) for r in self.reflectors]

    def _which(self, kind: Kind, namespace: str) -> Which:
        labels, brief = self.setup.labels.get(kind, ""), kind in self.setup.metadata_only
        return Which(kind, namespace, labels, metadata_only=brief)

    async def _serve(self, free: Client, client: Client) -> bool:
        assert self._synced is not None
        await self._synced.wait()
        terms = self.setup.terms
        if terms is None:
            self.fence.extend(float("inf"))
            return await self._control(client, asyncio.create_task(asyncio.Event().wait()))
        election = Election(free, terms, self.fence)
        await election.win()
        try:
            return await self._control(client, asyncio.create_task(election.keep()))
        finally:
            await election.release()

    async def _control(self, client: Client, reigning: "asyncio.Task[Any]") -> bool:
        """Run the controllers while we reign; say whether they ended because they were asked to."""
        stores = {store.kind: store for store in self.setup.stores}
        self.running = list(self.controllers(client, stores))
        for controller in self.running:
            self._overhear(controller, stores)
            controller.connect(stores)
        working = [asyncio.create_task(c.run(), name=c.name) for c in self.running]
        recording = asyncio.create_task(self.recorder.run(client))
        stopping = asyncio.create_task(self._stop.wait())
        self.leading.set()
        try:
            ends = [reigning, stopping, *working]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            asked = stopping.done()
            if asked:
                await self._drain()  # we reign on while the last passes end
                await self.recorder.flush(client)
            return asked
        finally:
            self.leading.clear()
            await _end([reigning, stopping, recording, *working])
            self.running = ()

    def _overhear(self, controller: Controller, stores: Mapping[Kind, Store[Any]]) -> None:
        """Let metrics and events be made of how the passes go."""
        named = {controller.name: stores[controller.kind]} if controller.kind else {}
        complaints = Complaints(self.recorder, named)
        controller.observer = Several((controller.observer, self.metrics, complaints))

    async def _drain(self) -> None:
        """Begin no pass, and wait for those under way."""
        for controller in self.running:
            controller.stop()
        deadline = clock.ticks() + self.setup.grace_s
        while any(c.busy for c in self.running) and clock.ticks() < deadline:
            await clock.sleep(0.02)

    async def _until_stopped(
        self, serving: Awaitable[bool], background: Sequence["asyncio.Future[None]"]
    ) -> bool:
        """Run `serving`; a stop before we ever led ends it at once, a dead service always."""
        task = asyncio.ensure_future(serving)
        stop = asyncio.create_task(self._stop.wait())
        left: set[asyncio.Future[Any]] = {task, stop, *background}
        try:
            while not task.done():
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for ended in done.intersection(background):
                    # We would work on with an old picture of the world: better begin anew.
                    ended.result()
                if stop in done and not self.leading.is_set():
                    return True
            return task.result()
        finally:
            await _end([task, stop])


async def _end(tasks: Sequence["asyncio.Future[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            log.error("ended badly", error=str(result))
