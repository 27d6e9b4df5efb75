"""Webhooks: a table of paths and plain functions, served to the API server."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import structlog

from ..kube import kinds
from ..kube.crds import Endpoint
from ..kube.kinds import Kind
from ..kube.objects import Object
from ..kubeapi.server import Answer, Handler, plain
from .admission import Mutate, ReviewError, Validate, mutation, validation
from .conversion import Convert, conversion

TIMEOUT_S = 10  # after which the API server gives a call up
LIMIT_S = 8.0  # earlier, so that the user reads our words
THREADS = 4
log = structlog.get_logger()


@dataclass(frozen=True)
class Validating:
    """A check of what is written; `settings` are more fields of its configuration."""

    name: str  # what users read when it says no; with two dots at least
    path: str
    kind: Kind
    validate: Validate
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, body: bytes) -> bytes:
        """Return the answer to a review."""
        return validation(body, self.validate)


@dataclass(frozen=True)
class Mutating:
    """A change of what is written, before it is checked."""

    name: str
    path: str
    kind: Kind
    mutate: Mutate
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, body: bytes) -> bytes:
        """Return the answer to a review."""
        return mutation(body, self.mutate)


@dataclass(frozen=True)
class Converting:
    """A conversion between the versions of a kind; its definition names the path."""

    path: str
    kind: Kind
    convert: Convert

    def answer(self, body: bytes) -> bytes:
        """Return the answer to a review."""
        return conversion(body, self.convert)


Webhook = Validating | Mutating | Converting


def routes(table: Sequence[Webhook], limit_s: float = LIMIT_S) -> dict[str, Handler]:
    """Return the paths to serve."""
    # In threads: a large review or a slow handler must not hold the loop up, where the Lease is
    # renewed, and a call that never ends is answered all the same.
    pool = ThreadPoolExecutor(THREADS, "webhook")
    return {webhook.path: _handler(webhook, pool, limit_s) for webhook in table}


def _handler(webhook: Webhook, pool: ThreadPoolExecutor, limit_s: float) -> Handler:
    async def handle(body: bytes, _: Mapping[str, str]) -> Answer:
        call = asyncio.get_running_loop().run_in_executor(pool, webhook.answer, body)
        try:
            async with asyncio.timeout(limit_s):
                return Answer(body=await call)
        except ReviewError as error:
            return plain(400, str(error))
        except TimeoutError:
            log.warning("webhook too slow", path=webhook.path, limit_s=limit_s)
            # Not a 504: the API server would replace our words by its own, which name nobody.
            return plain(500, f"{webhook.path}: no answer in {limit_s:g} s")

    return handle


def configurations(name: str, table: Sequence[Webhook], endpoint: Endpoint) -> list[Object]:
    """Return the configurations that make the API server call the table; they lack a CA bundle."""
    groups: Sequence[tuple[Kind, Sequence[Validating | Mutating]]] = [
        (kinds.VALIDATING_WEBHOOK, [row for row in table if isinstance(row, Validating)]),
        (kinds.MUTATING_WEBHOOK, [row for row in table if isinstance(row, Mutating)]),
    ]
    return [
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name},
            "webhooks": [_configuration(row, endpoint) for row in rows],
        }
        for kind, rows in groups
        if rows
    ]


def _configuration(row: Validating | Mutating, endpoint: Endpoint) -> Object:
    rule = {
        "apiGroups": [row.kind.group],
        "apiVersions": [row.kind.version],
        "resources": [row.kind.plural],
        "operations": list(row.operations),
        "scope": "Namespaced" if row.kind.namespaced else "Cluster",
    }
    return {
        "name": row.name,
        "clientConfig": endpoint.client_config(row.path),
        "rules": [rule],
        "admissionReviewVersions": ["v1", "v1beta1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": TIMEOUT_S,
        **row.settings,
    }
