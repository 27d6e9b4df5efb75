"""Keep the webhooks' certificate good: know it, have the API server trust it, serve with it.

In that order, so that no certificate is met before it is trusted. Every replica does this, leader
or not, as every replica serves.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import structlog

from ..host.certificates import Pair
from ..kube import kinds
from ..kube.objects import Object, Resource
from ..kubeapi.client import Client, Ref, Which
from ..kubeapi.errors import ApiError, ConflictError, ExistsError
from ..kubeapi.server import Tls
from . import clock
from .certificates import Do, Held, Lifetimes, carry_out, decide, read, write
from .reflector import Reflector
from .store import Store, Synced
from .trust import Bundle, Target, changes

LOOK_S = 10.0  # how often a mounted folder is read
RETRY_S = 2.0
SETTLE_S = 2.0  # in which every API server has seen a new bundle
LONGEST_S = 3600.0
log = structlog.get_logger()


@dataclass(frozen=True)
class Offer:
    """What to serve with, and what the API server shall trust, if that is ours to say."""

    pair: Pair
    bundle: Bundle | None


class Source(Protocol):
    """Where certificates come from."""

    def connect(self, changed: Callable[[], None]) -> "Sequence[tuple[Store[Any], Which]]":
        """Call `changed` when there is something new; return what has to be watched for that."""
        ...

    def look(self) -> Offer | None:
        """Return what there is."""
        ...

    async def advance(self) -> float:
        """Take a step, now that what was offered is trusted; return the seconds to the next."""
        ...


class Secret(Resource, frozen=True, gc=False):
    """A Secret as it is read."""

    data: dict[str, bytes] = {}  # noqa: RUF012 - a Struct copies it


@dataclass
class SelfSigned:
    """Certificates of our own in a Secret, made by whichever replica is first."""

    client: Client  # of a replica that need not lead
    namespace: str
    name: str
    hosts: tuple[str, ...]
    lasts: Lifetimes = field(default_factory=Lifetimes)
    now: Callable[[], datetime] = clock.now
    _store: Store[Secret] = field(default_factory=lambda: Store(kinds.SECRET, Secret))
    _seen: Secret | None = None
    _held: Held | None = None
    _lost: bool = False

    def connect(self, changed: Callable[[], None]) -> Sequence[tuple[Store[Any], Which]]:
        """Watch the Secret."""
        self._store.listen(lambda _before, _after: changed())
        only = f"metadata.name={self.name}"
        return [(self._store, Which(kinds.SECRET, self.namespace, fields=only))]

    def look(self) -> Offer | None:
        """Return what the Secret holds."""
        self._seen = self._store.get((self.namespace, self.name))
        found = read(self._seen.data) if self._seen else None
        # What somebody deleted or spoiled is written again as it was: it is in use.
        self._lost = found is None and self._held is not None
        self._held = found or self._held
        if self._held is None:
            return None
        return Offer(self._held.serving, Bundle(self._held.trusted))

    async def advance(self) -> float:
        """Make what is due; another replica may be faster, and then the Secret will change."""
        now = self.now()
        action = decide(self._held, self.hosts, now, self.lasts)
        if isinstance(action, Do):
            made = carry_out(action.step, self._held, self.hosts, now, self.lasts)
            step, why = action.step.value, action.why
        elif self._lost and self._held is not None:
            made, step, why = self._held, "restore", "the Secret lost it"
        else:
            return min((action.until - now).total_seconds(), LONGEST_S)
        with suppress(ConflictError, ExistsError):
            self._store.put(await self._write(made))
            log.info("certificates", step=step, why=why, secret=self.name)
            return 0.0
        return RETRY_S

    async def _write(self, held: Held) -> Secret:
        # The version that was looked at, not the newest: by now another replica may have written.
        secret, data = self._seen, write(held)
        metadata: Object = {"name": self.name, "namespace": self.namespace}
        if secret is not None:
            metadata["resourceVersion"] = secret.metadata.resource_version
            change = {"metadata": metadata, "data": data}
            where = Ref(kinds.SECRET, self.namespace, self.name)
            return await self.client.patch(where, change, Secret)
        made = {
            "apiVersion": kinds.SECRET.api_version,
            "kind": kinds.SECRET.kind,
            "type": "kubernetes.io/tls",
            "metadata": metadata,
            "data": {key: value for key, value in data.items() if value is not None},
        }
        return await self.client.create(kinds.SECRET, made, Secret)


@dataclass
class Mounted:
    """Certificates that cert-manager or the user puts into a folder: tls.crt, tls.key, ca.crt.

    Without ca.crt the API server's trust is not ours to say.
    """

    folder: Path
    look_s: float = LOOK_S
    _failed: str = ""

    def connect(self, _changed: Callable[[], None]) -> Sequence[tuple[Store[Any], Which]]:
        """Watch nothing: a folder is read now and then."""
        return []

    def look(self) -> Offer | None:
        """Return what the folder holds; while that is not readable, what was there is kept."""
        try:
            pair = Pair(*((self.folder / name).read_bytes() for name in ("tls.crt", "tls.key")))
            authority = self.folder / "ca.crt"
            trusted = authority.read_bytes() if authority.exists() else b""
        except OSError as error:
            self._complain(f"{error.filename}: {error.strerror}")
            return None
        self._failed = ""
        return Offer(pair, Bundle(trusted, only=False) if trusted else None)

    async def advance(self) -> float:
        """Leave it to whoever fills the folder."""
        return self.look_s

    def _complain(self, why: str) -> None:
        if why != self._failed:
            log.warning("certificate not readable", why=why)
        self._failed = why


class Keeper:
    """Has `tls` serve with what `source` offers, and `targets` trust it."""

    def __init__(
        self, client: Client, source: Source, tls: Tls, targets: Sequence[Target] = ()
    ) -> None:
        self._client = client
        self._source = source
        self._tls = tls
        self._stores = [(target, Store(target.kind, target.type)) for target in targets]
        self._changed = asyncio.Event()
        self._serving: Pair | None = None
        self._refused: Pair | None = None
        self.ready = asyncio.Event()  # set once there is a certificate to serve with

    async def run(self) -> None:
        """Keep it good until cancelled."""
        watched = list(self._source.connect(self._changed.set))
        for target, store in self._stores:
            store.listen(lambda _before, _after: self._changed.set())
            watched.append((store, Which(target.kind, fields=f"metadata.name={target.name}")))
        synced = Synced(len(watched))
        async with asyncio.TaskGroup() as tasks:
            for store, which in watched:
                tasks.create_task(Reflector(store, which, synced.one).run(self._client))
            await synced.wait()
            while True:
                self._changed.clear()
                again_s = await self._pass()
                with suppress(TimeoutError):
                    async with asyncio.timeout(again_s):
                        await self._changed.wait()

    async def _pass(self) -> float:
        try:
            if offer := self._source.look():
                trusted = offer.bundle is not None and await self._trust(offer.bundle)
                if offer.pair != self._serving:
                    if trusted and self._serving:
                        await clock.sleep(SETTLE_S)
                    self._serve(offer.pair)
            return await self._source.advance()
        except ApiError as error:
            log.warning("certificates not kept", error=str(error))
            return RETRY_S

    async def _trust(self, bundle: Bundle) -> bool:
        """Give the targets the bundle; say whether one of them had another."""
        changed = False
        for target, store in self._stores:
            for found in store:
                if patch := changes(found, bundle, clock.now()):
                    where = Ref(target.kind, "", target.name)
                    store.put(await self._client.patch(where, patch, target.type))
                    log.info("CA bundle", kind=target.kind.kind, name=target.name)
                    changed = True
        return changed

    def _serve(self, pair: Pair) -> None:
        try:
            self._tls.load(pair.certificate, pair.key)
        except ValueError as error:
            # A folder may be read while it changes; the certificate in use stays.
            if pair != self._refused:
                log.warning("certificate not loaded", error=str(error))
            self._refused = pair
            return
        self._serving = pair
        self.ready.set()
        log.info("serving with a new certificate", ends=pair.ends.isoformat())
