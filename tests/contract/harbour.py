"""Webhooks of ours that the real API server calls on this machine."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from shoal.kube import kinds
from shoal.kube.crds import Outside
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref
from shoal.kubeapi.errors import NotFoundError
from shoal.kubeapi.server import Answer, Handler, Listening, Server, Tls
from shoal.runtime.admission import Allowed, Denied, Review
from shoal.runtime.certificates import Lifetimes
from shoal.runtime.keeper import Keeper, SelfSigned, Source
from shoal.runtime.trust import targets
from shoal.runtime.webhook import (
    Converting,
    Mutating,
    Validating,
    Webhook,
    configurations,
    routes,
)

from .real import NAMES, asked

HERE = Listening("127.0.0.1")
SERVICE = "hooks"


class Noted(Tls):
    """Knows what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[bytes] = []

    def load(self, certificate: bytes, key: bytes) -> None:
        super().load(certificate, key)
        self.loaded.append(certificate)


@dataclass
class Harbour:
    """A namespace whose config maps our webhooks see."""

    access: Access
    client: Client
    namespace: str
    tls: Noted = field(default_factory=Noted)
    port: int = 0

    @property
    def settings(self) -> Object:
        """Only this test's namespace, so that tests do not meet."""
        return {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}
        }

    def validating(self, validate: Callable[[Review], Allowed | Denied], **more: Any) -> Validating:
        return Validating(
            "check.sea.example",
            "/validate",
            kinds.CONFIG_MAP,
            validate,
            settings={**self.settings, **more},
        )

    def mutating(self, mutate: Callable[[Review], Object]) -> Mutating:
        return Mutating(
            "fill.sea.example", "/mutate", kinds.CONFIG_MAP, mutate, settings=self.settings
        )

    def self_signed(self, lasts: Lifetimes | None = None) -> SelfSigned:
        return SelfSigned(
            self.client, self.namespace, SERVICE, ("127.0.0.1",), lasts or Lifetimes()
        )

    def config_map(self, **data: str) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"m-{next(NAMES)}", "namespace": self.namespace},
            "data": data,
        }

    async def make(self, **data: str) -> Object:
        made: Object = await self.client.create(kinds.CONFIG_MAP, self.config_map(**data), dict)
        return made

    async def configure(self, table: Sequence[Webhook]) -> None:
        """Let the API server call the table."""
        for obj in configurations(self.namespace, table, self.endpoint):
            await self.client.apply(kinds.Kinds().of(obj), obj, dict)

    @property
    def endpoint(self) -> Outside:
        """Where the API server finds us."""
        return Outside(f"https://127.0.0.1:{self.port}")

    async def bundle(self) -> bytes:
        """Return what the API server trusts."""
        where = Ref(kinds.VALIDATING_WEBHOOK, "", self.namespace)
        found = await self.client.get(where, dict)
        return base64.b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", ""))

    @asynccontextmanager
    async def serving(
        self, *table: Webhook, source: Source | None = None, limit_s: float = 5.0
    ) -> AsyncIterator[None]:
        """Serve the table, with certificates, until the block ends."""
        called: set[str] = set()
        paths = {
            path: _noted(path, handler, called) for path, handler in routes(table, limit_s).items()
        }
        async with Server(paths, HERE, self.tls) as server:
            self.port = server.port
            await self.configure(table)
            async with self.kept(self.tls, source or self.self_signed(), table):
                wanted = {row.path for row in table if not isinstance(row, Converting)}
                # The API server sees configurations and bundles a moment later.
                path = f"{kinds.CONFIG_MAP.path(self.namespace)}?dryRun=All"
                async with asyncio.timeout(20):
                    while not wanted <= called:
                        await asked(self.access, "POST", path, self.config_map())
                        await asyncio.sleep(0.05)  # noqa: TID251
                yield
        for kind in (kinds.VALIDATING_WEBHOOK, kinds.MUTATING_WEBHOOK):
            with suppress(NotFoundError):
                await self.client.delete(Ref(kind, "", self.namespace), Resource)

    @asynccontextmanager
    async def kept(
        self, tls: Tls, source: Source, table: Sequence[Webhook] = ()
    ) -> AsyncIterator[None]:
        """Keep the certificate of `tls` until the block ends."""
        keeper = Keeper(self.client, source, tls, targets(self.namespace, table))
        keeping = asyncio.create_task(keeper.run())
        ready = asyncio.create_task(keeper.ready.wait())
        await asyncio.wait([keeping, ready], return_when=asyncio.FIRST_COMPLETED)
        assert ready.done(), keeping.exception()
        yield
        assert not keeping.done(), keeping.exception()
        keeping.cancel()
        await asyncio.wait([keeping])


def _noted(path: str, handler: Handler, called: set[str]) -> Handler:
    async def handle(body: bytes, headers: Mapping[str, str]) -> Answer:
        called.add(path)
        return await handler(body, headers)

    return handle
