"""The webhooks of slinky.slurm.net: the dialect's pure functions, and whom they ask."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..dialects.nebius import types as nebius
from ..dialects.slinky import admission
from ..dialects.slinky.convert import convert
from ..dialects.slinky.crds import CONVERT
from ..dialects.slinky.types import GROUP, KINDS
from ..kube import kinds
from ..kube.findings import Answer, Lookups, Unknown, Verdict
from ..kube.kinds import Kind
from ..kube.objects import Object
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import ApiError, NotFoundError
from ..runtime.admission import Allowed, Cause, Denied, Mutate, Review, Validate
from ..runtime.webhook import Converting, Mutating, Validating, Webhook
from .world import World

# Of one question; there are few, and all of them must fit into what the API server waits.
PATIENCE_S = 2.0
GROUPS = (GROUP, nebius.GROUP)  # whose objects are in the stores


@dataclass(frozen=True)
class Asking:
    """What webhooks ask: the stores, and the API server itself for what they do not hold.

    A store may be a moment behind, so that something is not there is for the API server to say.
    """

    world: World
    client: Client
    loop: asyncio.AbstractEventLoop  # of the client; webhooks run in threads

    def find(self, kind: Kind, namespace: str, name: str) -> Answer:
        """Return an object; None only if it certainly is not there."""
        if kind in (kinds.POD, kinds.CONFIG_MAP) or kind.group in GROUPS:
            held = self.world.get(kind, (namespace, name))
            if held is not None:
                return _plain(held)
        asked = self.client.get(Ref(kind, namespace, name), dict)
        answer = asyncio.run_coroutine_threadsafe(asked, self.loop)
        try:
            return answer.result(PATIENCE_S)
        except NotFoundError:
            return None
        except (ApiError, TimeoutError):
            answer.cancel()
            return Unknown.UNKNOWN

    def every(self, kind: Kind, namespace: str) -> Sequence[Object]:
        """Return those of a namespace that are known."""
        return [_plain(obj) for obj in self.world.every(kind, namespace)]


def _plain(obj: msgspec.Struct) -> Object:
    plain: Object = msgspec.json.decode(msgspec.json.encode(obj))
    return plain


def table(
    ask: Lookups, settings: Mapping[str, Any] | None = None, *, bindings: bool = False
) -> list[Webhook]:
    """Return the webhooks; `settings` are more fields of each of their configurations.

    Those who want it have `bindings` tell workers their place in the topology before they start.
    """
    more = dict(settings or {})
    checks: list[Webhook] = [
        Validating(f"{kind.kind.lower()}.{GROUP}", path, kind, _validate(kind, ask), settings=more)
        for path, kind in admission.PATHS.items()
    ]
    # All pods of the cluster pass through it: none may wait for us.
    lenient = {"failurePolicy": "Ignore", "timeoutSeconds": 3, **more}
    topology = Mutating(
        f"binding.{GROUP}",
        admission.BIND,
        admission.BINDING,
        _mutate(ask),
        operations=("CREATE",),
        settings=lenient,
    )
    versions = [Converting(CONVERT, kind, convert) for kind in KINDS]
    return [*checks, *([topology] if bindings else []), *versions]


def _validate(kind: Kind, ask: Lookups) -> Validate:
    def validate(review: Review) -> Allowed | Denied:
        return answer(admission.review(kind, review.operation, review.object, review.old, ask))

    return validate


def answer(verdict: Verdict) -> Allowed | Denied:
    """Return what a dialect says of a write, as the API server is answered."""
    if not verdict.errors:
        return Allowed(verdict.warnings)
    causes = tuple(Cause(error.field, error.message) for error in verdict.errors)
    return Denied(verdict.message, causes)


def _mutate(ask: Lookups) -> Mutate:
    return lambda review: admission.bind(review.object, ask)
