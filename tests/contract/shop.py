"""A namespace in which objects of slinky.slurm.net are made, checked and converted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from shoal.controllers.webhooks import Asking, table
from shoal.controllers.world import World, stores
from shoal.dialects.slinky.crds import USUAL, definitions
from shoal.dialects.slinky.read import references
from shoal.dialects.slinky.types import KINDS, TYPES
from shoal.kube import kinds
from shoal.kube.crds import Endpoint
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import ApiError, InvalidError, NotFoundError
from shoal.kubeapi.server import Server
from shoal.runtime.webhook import routes

from .harbour import HERE, Harbour
from .real import NAMES, asked, client_in_namespace

DATA = Path(__file__).parents[1] / "data/slinky"
KIND = {kind.kind: kind for kind in KINDS}
OLD = {name: replace(kind, version="v1alpha1") for name, kind in KIND.items()}
KEY = {"name": "keys", "key": "slurm.key"}
SPECS: dict[str, Object] = {
    "Controller": {"slurmKeyRef": KEY, "jwtKeyRef": KEY},
    "NodeSet": {"controllerRef": {"name": "slurm"}},
    "LoginSet": {"controllerRef": {"name": "slurm"}, "sssdConfRef": KEY},
    "Accounting": {
        "slurmKeyRef": KEY,
        "jwtKeyRef": KEY,
        "storageConfig": {"host": "mariadb", "passwordKeyRef": KEY},
    },
    "RestApi": {"controllerRef": {"name": "slurm"}},
    "Token": {"jwtKeyRef": KEY, "username": "alice"},
}


def cases(file: str) -> list[Object]:
    """Return the cases that the unit tests have too."""
    found: list[Object] = yaml.safe_load((DATA / file).read_text())
    return found


@dataclass
class Shop:
    """Where objects are made."""

    access: Access
    client: Client
    namespace: str

    def object(self, kind: Kind, name: str, **spec: Any) -> Object:
        """Return a simple object with `spec` on top; None takes a field away."""
        whole = {**SPECS[kind.kind], **spec}
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {key: value for key, value in whole.items() if value is not None},
        }

    async def make(self, kind: Kind, name: str, **spec: Any) -> Object:
        """Create an object and return it."""
        made: Object = await self.client.create(kind, self.object(kind, name, **spec), dict)
        return made

    async def tried(self, kind: Kind, name: str = "workers", **spec: Any) -> tuple[str, Object]:
        """Return the warnings and the answer to an object that is not kept."""
        path = f"{kind.path(self.namespace)}?dryRun=All"
        headers, body = await asked(self.access, "POST", path, self.object(kind, name, **spec))
        told = headers.getall("Warning", ())  # type: ignore[attr-defined]
        return " ".join(told), body

    async def refused(self, kind: Kind, name: str = "workers", **spec: Any) -> InvalidError:
        """Return what is said against an object."""
        with pytest.raises(InvalidError) as refusal:
            await self.make(kind, name, **spec)
        return refusal.value

    async def change(self, kind: Kind, name: str, **spec: Any) -> Object:
        """Change fields of a spec."""
        where = Ref(kind, self.namespace, name)
        changed: Object = await self.client.patch(where, {"spec": spec}, dict)
        return changed

    async def read(self, kind: Kind, name: str) -> Object:
        """Return an object in the version that `kind` has."""
        found: Object = await self.client.get(Ref(kind, self.namespace, name), dict)
        return found


class Live(Asking):
    """Asks the API server for everything."""

    def every(self, kind: Kind, namespace: str) -> Sequence[Object]:
        asked = self.client.every(Which(kind, namespace), TYPES[kind.kind])
        found = asyncio.run_coroutine_threadsafe(asked, self.loop).result(5)
        return [msgspec.to_builtins(obj) for obj in found]


async def until(what: Callable[[], Awaitable[object]], limit_s: float = 20.0) -> None:
    """Wait until `what` holds."""
    async with asyncio.timeout(limit_s):
        while not await what():  # noqa: ASYNC110 - the API server tells nobody
            await asyncio.sleep(0.05)  # noqa: TID251


@asynccontextmanager
async def open_shop(access: Access, endpoint: Endpoint = USUAL) -> AsyncIterator[Shop]:
    """Give the kinds as their schemas have them."""
    async with client_in_namespace(access) as (client, namespace):
        await defined(client, endpoint)
        yield Shop(access, client, namespace)


async def defined(client: Client, endpoint: Endpoint) -> None:
    """Make the kinds, and wait until they are served as the newest version has them."""
    for definition in definitions(endpoint):
        await client.apply(kinds.CUSTOM_RESOURCE_DEFINITION, definition, dict)

    async def there() -> bool:
        with suppress(NotFoundError):
            for kind in KINDS:
                await client.every(Which(kind), Resource)
            return True
        return False

    await until(there)


GUARDED = "sea.example/guarded"


@dataclass
class Guard:
    """Checks and converts what is made in namespaces with our label."""

    access: Access
    client: Client

    async def shop(self, *, guarded: bool = True) -> Shop:
        """Return a new namespace."""
        name = f"shop-{next(NAMES)}"
        meta = {"name": name, "labels": {GUARDED: "yes"} if guarded else {}}
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
        await self.client.create(kinds.NAMESPACE, space, dict)
        return Shop(self.access, self.client, name)


@asynccontextmanager
async def guarding(access: Access) -> AsyncIterator[Guard]:
    """Give the kinds with everything that the operator says about them."""
    async with client_in_namespace(access) as (client, namespace):
        harbour, guard = Harbour(access, client, namespace), Guard(access, client)
        world = World(stores({kind: TYPES[kind.kind] for kind in KINDS}, references))
        ask = Live(world, client, asyncio.get_running_loop())
        selected = {"namespaceSelector": {"matchLabels": {GUARDED: "yes"}}}
        rows = table(ask, selected, bindings=True)
        async with Server(routes(rows), HERE, harbour.tls) as server:
            harbour.port = server.port
            await defined(client, harbour.endpoint)
            await harbour.configure(rows)
            async with harbour.kept(harbour.tls, harbour.self_signed(), rows):
                shop = await guard.shop()
                await until(lambda: awake(shop))
                yield guard
        for kind in (kinds.VALIDATING_WEBHOOK, kinds.MUTATING_WEBHOOK):
            await client.delete(Ref(kind, "", namespace), Resource)


async def awake(shop: Shop) -> bool:
    """Say whether the API server calls us for every kind, to check and to convert."""
    for kind in KINDS:
        # Its name is too long for all of them.
        _, body = await shop.tried(kind, "a" * 250)
        if not body.get("message", "").startswith(f'admission webhook "{kind.kind.lower()}.slinky'):
            return False
    with suppress(ApiError):
        for kind in KINDS:
            await shop.client.apply(kind, shop.object(kind, "probe"), dict)
            await shop.read(OLD[kind.kind], "probe")
        return True
    return False
