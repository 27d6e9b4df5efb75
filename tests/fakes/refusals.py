"""How the API server says no."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.kube.objects import Object

from .shapes import Served

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass
class Refusal(Exception):  # noqa: N818 - an answer of the server, no error of ours
    """An answer that is not the one that was asked for."""

    code: int
    reason: str
    message: str
    causes: tuple[Mapping[str, str], ...] = ()
    retry_after_s: int = 0
    more: tuple[tuple[str, Any], ...] = ()  # of the list's metadata

    def body(self) -> Object:
        """Return the Status that tells it."""
        details: Object = {"causes": list(self.causes)} if self.causes else {}
        if self.retry_after_s:
            details["retryAfterSeconds"] = self.retry_after_s
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.more),
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            **({"details": details} if details else {}),
            "code": self.code,
        }


def not_found(served: Served, name: str) -> Refusal:
    """Say that there is no such object."""
    return Refusal(404, "NotFound", f'{served.resource} "{name}" not found')


def exists(served: Served, name: str) -> Refusal:
    """Say that there is one already."""
    return Refusal(409, "AlreadyExists", f'{served.resource} "{name}" already exists')


def modified(served: Served, name: str) -> Refusal:
    """Say that it is another version."""
    what = f'Operation cannot be fulfilled on {served.resource} "{name}"'
    return Refusal(409, "Conflict", f"{what}: {MODIFIED}")


def precondition(served: Served, name: str, what: str, wanted: str, found: str) -> Refusal:
    """Say that it is not the object that was meant."""
    return Refusal(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {served.kind_name} "{name}": the {what} in the '
        f"precondition ({wanted}) does not match the {what} in record ({found}).",
    )


def invalid(served: Served, name: str, field: str, message: str) -> Refusal:
    """Say that the object is wrong."""
    reason = "FieldValueForbidden" if message.startswith("Forbidden") else "FieldValueInvalid"
    cause = {"reason": reason, "message": message, "field": field}
    words = f'{served.kind_name} "{name}" is invalid: {field}: {message}'
    return Refusal(422, "Invalid", words, causes=(cause,))


def bad_request(message: str) -> Refusal:
    """Say that the request is wrong."""
    return Refusal(400, "BadRequest", message)


def forbidden(user: str, verb: str, served: Served, subresource: str = "") -> Refusal:
    """Say that the rights are missing."""
    what = "/".join(part for part in (served.kind.plural, subresource) if part)
    return Refusal(
        403,
        "Forbidden",
        f'{served.resource} is forbidden: User "{user}" cannot {verb} resource "{what}" in API '
        f'group "{served.kind.group}"',
    )


def expired(message: str, **more: Any) -> Refusal:
    """Say that so far back nothing is known."""
    return Refusal(410, "Expired", message, more=tuple(more.items()))
