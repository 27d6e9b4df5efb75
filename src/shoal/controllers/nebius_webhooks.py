"""The webhooks of slurm.nebius.ai: the dialect's pure functions."""

from collections.abc import Mapping
from typing import Any

from ..dialects.nebius import admission
from ..dialects.nebius.types import GROUP
from ..kube import kinds
from ..kube.findings import Lookups, Verdict
from ..kube.kinds import Kind
from ..runtime.admission import Allowed, Denied, Review, Validate
from ..runtime.webhook import Validating, Webhook
from .webhooks import answer

ALWAYS = ("CREATE", "UPDATE", "DELETE")


def table(ask: Lookups, settings: Mapping[str, Any] | None = None) -> list[Webhook]:
    """Return the webhooks; `settings` are more fields of each of their configurations."""
    more = dict(settings or {})
    checks: list[Webhook] = [
        Validating(f"{kind.kind.lower()}.{GROUP}", path, kind, _validate(kind, ask), settings=more)
        for path, kind in admission.PATHS.items()
    ]
    secrets = Validating(
        f"secret.{GROUP}",
        admission.SECRET_PATH,
        kinds.SECRET,
        _protect(ask),
        operations=ALWAYS,
        # No other Secret of the cluster is our business.
        settings={"objectSelector": admission.SECRET_SELECTOR, **more},
    )
    return [*checks, secrets]


def _validate(kind: Kind, ask: Lookups) -> Validate:
    def validate(review: Review) -> Allowed | Denied:
        return answer(admission.review(kind, review.operation, review.object, review.old, ask))

    return validate


def _protect(ask: Lookups) -> Validate:
    def validate(review: Review) -> Allowed | Denied:
        found: Verdict = admission.secret(review.operation, review.object, review.old, ask)
        return answer(found)

    return validate
