"""Leader election by a Lease, with client-go's rules, and a fence that closes in time.

A candidate takes the Lease when its holder has not renewed it for the whole duration, by the
candidate's own clock: clocks are never compared. A leader that could not renew it until the renew
deadline gives up, well before the duration ends, and its fence closes on the same clock, even if
the process was frozen meanwhile. So there is no moment with two that write.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
import structlog

from ..kube import kinds
from ..kube.objects import Object, Resource
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import ApiError, ConflictError, ExistsError, NotFoundError
from . import clock
from .port import Fence

log = structlog.get_logger()


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    """A Lease's content."""

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: int = 0


class Lease(Resource, frozen=True, gc=False):
    """A Lease as it is read."""

    spec: Spec = Spec()


@dataclass(frozen=True)
class Terms:
    """Who we are and how long a Lease lasts; client-go's defaults."""

    namespace: str
    name: str
    identity: str
    duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not self.duration_s > self.renew_deadline_s > self.retry_s > 0:
            raise ValueError("a lease needs duration > renew deadline > retry period > 0")


class Election:
    """One candidate. `client` must not be fenced: the Lease itself is written before we lead."""

    def __init__(self, client: Client, terms: Terms, fence: Fence) -> None:
        self._client = client
        self._terms = terms
        self._fence = fence
        self._seen: Lease | None = None
        self._seen_at = float("-inf")
        self._renewed_at = float("-inf")

    async def win(self) -> None:
        """Return once we lead."""
        while not await self._try(clock.ticks()):
            await clock.sleep(self._terms.retry_s)
        log.info("leading", lease=self._terms.name, identity=self._terms.identity)

    async def keep(self) -> None:
        """Renew; return only when we no longer lead."""
        while self._renewed_at + self._terms.renew_deadline_s > clock.ticks():
            await clock.sleep(self._terms.retry_s)
            began = clock.ticks()
            if not await self._try(began) and self._held_by_another():
                break
        self._fence.close()
        log.error("deposed", lease=self._terms.name, identity=self._terms.identity)

    async def release(self) -> None:
        """Let the next candidate in at once; whoever is deposed writes nothing, not even this."""
        deposed = self._fence.left_s <= 0
        self._fence.close()
        if deposed or self._seen is None or self._seen.spec.holder_identity != self._terms.identity:
            return
        freed = self._written(self._seen, "", clock.now(), 1)
        try:
            await self._client.replace(kinds.LEASE, freed, Lease)
        except ApiError as error:
            log.warning("lease not released", error=str(error))

    async def _try(self, began: float) -> bool:
        """Take or renew the Lease; say whether it is ours. Its time counts from `began`."""
        try:
            # Two tries fit into the deadline: one request that hangs must not cost the Lease.
            async with asyncio.timeout(self._terms.renew_deadline_s / 2):
                if not await self._take():
                    return False
        except (ConflictError, ExistsError):
            return False  # another candidate was faster
        except (ApiError, TimeoutError) as error:
            log.warning("lease not renewed", error=str(error) or "no answer")
            return False
        self._renewed_at = began
        self._fence.extend(began + self._terms.renew_deadline_s)
        return True

    async def _take(self) -> bool:
        found = await self._look()
        if found is None:
            obj = self._written(None, self._terms.identity, clock.now(), None)
            self._see(await self._client.create(kinds.LEASE, obj, Lease))
        elif self._free(found):
            obj = self._written(found, self._terms.identity, clock.now(), None)
            self._see(await self._client.replace(kinds.LEASE, obj, Lease))
        else:
            return False
        return True

    async def _look(self) -> Lease | None:
        where = Ref(kinds.LEASE, self._terms.namespace, self._terms.name)
        try:
            found = await self._client.get(where, Lease)
        except NotFoundError:
            return None
        self._see(found)
        return found

    def _see(self, found: Lease) -> None:
        if self._seen is None or self._seen.spec != found.spec:
            self._seen_at = clock.ticks()
        self._seen = found

    def _free(self, found: Lease) -> bool:
        spec = found.spec
        lasts_s = spec.lease_duration_seconds or self._terms.duration_s
        return (
            spec.holder_identity in ("", self._terms.identity)
            or self._seen_at + lasts_s < clock.ticks()
        )

    def _held_by_another(self) -> bool:
        return self._seen is not None and self._seen.spec.holder_identity not in (
            "",
            self._terms.identity,
        )

    def _written(
        self, found: Lease | None, holder: str, now: datetime, duration_s: int | None
    ) -> Object:
        spec = found.spec if found else Spec()
        stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        ours = spec.holder_identity == holder
        metadata: Object = {"name": self._terms.name, "namespace": self._terms.namespace}
        if found:
            metadata["resourceVersion"] = found.metadata.resource_version
        return {
            "apiVersion": kinds.LEASE.api_version,
            "kind": kinds.LEASE.kind,
            "metadata": metadata,
            "spec": {
                "holderIdentity": holder,
                "leaseDurationSeconds": duration_s or round(self._terms.duration_s),
                "acquireTime": spec.acquire_time if ours and spec.acquire_time else stamp,
                "renewTime": stamp,
                "leaseTransitions": spec.lease_transitions + (0 if ours or not found else 1),
            },
        }


Elect = Callable[[Client, Fence], Election]
