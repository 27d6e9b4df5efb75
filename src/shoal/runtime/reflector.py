"""Keep a store equal to what the API server has: list, then watch, for ever."""

import random
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

from ..kube.objects import Key, Resource
from ..kubeapi.client import Client, Which
from ..kubeapi.errors import (
    ApiError,
    GoneError,
    NotFoundError,
    UnreachableError,
    UnreadableError,
)
from ..kubeapi.watch import SILENCE_S, Event, watch
from . import clock
from .store import Store

R = TypeVar("R", bound=Resource)

FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 30.0
ABSENT_S = 30.0  # between two looks whether a kind is served by now
STEP = 100
HASTE_S = 1.0  # a watch that ends sooner is asked for anew only after a pause
log = structlog.get_logger()


class Reflector(Generic[R]):
    """One list and watch; a store of several namespaces has one for each."""

    def __init__(
        self,
        store: Store[R],
        which: Which,
        synced: Callable[[], None],
        silence_s: float = SILENCE_S,
        *,
        optional: bool = False,  # a kind that the API server need not know
    ) -> None:
        self.kind = which.kind
        self._store = store
        self._which = which
        self._synced = synced
        self._silence_s = silence_s
        self._optional = optional
        self.awaited = False  # it need not know the kind yet: once it does, that stays so
        self._version = ""
        self._seen_once = False
        self._known = False  # the API server has shown it once
        self._wait_s = FIRST_WAIT_S
        self.failing = ""  # what the last try met, "" while all is well
        self.lists = 0
        self.failures = 0

    async def run(self, client: Client) -> None:
        """List and watch until cancelled."""
        while True:
            began = clock.ticks()
            try:
                if not self._version:
                    await self._list(client)
                await self._watch(client)
                ended: ApiError = UnreachableError("the watch ended as soon as it had begun")
            except NotFoundError as error:
                await (self._absent() if self._may_be_absent else self._pause(error))
                continue
            except GoneError as gone:
                log.info("history gone, listing anew", kind=self._which.kind.plural)
                self._version, ended = "", gone
            except ApiError as error:
                if isinstance(error, UnreadableError):
                    # The same event would come again; a new list may do without that object.
                    self._version = ""
                await self._pause(error)
                continue
            if clock.ticks() - began < HASTE_S:
                await self._pause(ended)
            else:
                self._well()

    @property
    def _may_be_absent(self) -> bool:
        # An API server that has just begun may not know a kind yet: of that nothing is gone.
        return self._optional or (self.awaited and not self._known)

    async def _list(self, client: Client) -> None:
        found: dict[Key, R] = {}
        version = "0"
        async for page in client.pages(self._which, self._store.type):
            found.update((item.key, item) for item in page.items)
            version = page.metadata.resource_version
            if not self._seen_once:
                # Ten thousand at the end would hold the loop up; and nobody looks before that.
                for item in page.items:
                    self._store.put(item)
        self._store.replace(found, self._which.namespace, int(version))
        self._version = version
        self._store.served = self._known = True
        self._listed()

    def _listed(self) -> None:
        self.lists += 1
        self._well()
        if not self._seen_once:
            self._seen_once = True
            self._synced()

    async def _absent(self) -> None:
        """Take note that there is no such kind, and of nothing more until there is."""
        self._store.served, self._version = False, ""
        for obj in self._store:
            self._store.remove(obj)
        self._listed()
        await clock.sleep(ABSENT_S)

    async def _watch(self, client: Client) -> None:
        events = watch(client, self._which, self._store.type, self._version, self._silence_s)
        taken = 0
        async for batch in events:
            self._well()
            for event in batch:
                self._take(event)
            # The line may deliver without a pause: others must get their turn. Not after each
            # batch, though: an event that comes alone would cost a third more.
            taken += len(batch)
            if taken >= STEP:
                await clock.sleep(0)
                taken = 0

    def _take(self, event: Event[R]) -> None:
        match event.type:
            case "ADDED" | "MODIFIED":
                self._store.put(event.object)
            case "DELETED":
                self._store.remove(event.object)
            case _:
                pass  # a bookmark only moves the version
        self._version = event.object.metadata.resource_version

    def _well(self) -> None:
        self._wait_s, self.failing = FIRST_WAIT_S, ""

    async def _pause(self, error: ApiError) -> None:
        if not self.failing:
            log.warning("watch lost", kind=self._which.kind.plural, error=str(error))
        self.failing = str(error)
        self.failures += 1
        await clock.sleep(self._wait_s * random.uniform(0.5, 1.5))
        self._wait_s = min(2 * self._wait_s, LONGEST_WAIT_S)
