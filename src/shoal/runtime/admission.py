"""Admission reviews: what the API server asks before it writes, and what we answer. Pure.

Handlers have no side effects, so a dry run needs no care.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from ..kube.objects import Object

VERSIONS = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")


class ReviewError(ValueError):
    """The body is no review that we understand."""


@dataclass(frozen=True)
class Review:
    """One write that somebody wants to do; `object` is empty on DELETE, `old` on CREATE."""

    operation: str
    object: Object
    old: Object
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True)
class Allowed:
    """Go ahead; the user sees the warnings."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """What is wrong with one field, such as spec.nodes[0].name."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


@dataclass(frozen=True)
class Denied:
    """Don't; `causes` name the fields that are wrong."""

    message: str
    causes: tuple[Cause, ...] = ()

    def status(self) -> Object:
        """Return it as the Status that the user gets."""
        code, reason = (422, "Invalid") if self.causes else (403, "Forbidden")
        told: Object = {
            "status": "Failure",
            "message": self.message,
            "reason": reason,
            "code": code,
        }
        if self.causes:
            causes = [
                {"reason": c.reason, "message": c.message, "field": c.field} for c in self.causes
            ]
            told["details"] = {"causes": causes}
        return told


Validate = Callable[[Review], Allowed | Denied]
Mutate = Callable[[Review], Object]


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    groups: tuple[str, ...] = ()


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    uid: str
    operation: str
    object: Raw = Raw(b"null")
    old_object: Raw = Raw(b"null")
    namespace: str = ""
    name: str = ""
    sub_resource: str = ""
    user_info: _User = _User()
    dry_run: bool | None = None


class _Asked(msgspec.Struct, frozen=True, rename="camel"):
    request: _Request
    api_version: str = ""
    kind: str = ""


_asked = msgspec.json.Decoder(_Asked)


def validation(body: bytes, validate: Validate) -> bytes:
    """Return the answer to the review `body`, as `validate` has it."""
    asked = _read(body)
    match validate(_review(asked.request)):
        case Allowed(warnings=warnings):
            said = {"warnings": list(warnings)} if warnings else {}
            return _answer(asked, allowed=True, **said)
        case Denied() as denied:
            return _answer(asked, allowed=False, status=denied.status())


def mutation(body: bytes, mutate: Mutate) -> bytes:
    """Return the answer to the review `body`: what makes its object the one of `mutate`."""
    asked = _read(body)
    after = mutate(_review(asked.request))
    # Decoded anew: the handler may have changed the object that it was given.
    changes = patch(_object(asked.request.object), after)
    if not changes:
        return _answer(asked, allowed=True)
    return _answer(asked, allowed=True, patchType="JSONPatch", patch=msgspec.json.encode(changes))


def patch(before: Object, after: Object, at: str = "") -> list[Object]:
    """Return the JSON patch from `before` to `after`; a list that differs is replaced whole."""
    changes: list[Object] = [
        {"op": "remove", "path": _path(at, key)} for key in before if key not in after
    ]
    for key, value in after.items():
        path = _path(at, key)
        if key not in before:
            changes.append({"op": "add", "path": path, "value": value})
        elif isinstance(value, dict) and isinstance(before[key], dict):
            changes += patch(before[key], value, path)
        elif not _same(before[key], value):
            changes.append({"op": "replace", "path": path, "value": value})
    return changes


def _path(at: str, key: str) -> str:
    return f"{at}/{key.replace('~', '~0').replace('/', '~1')}"


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 - any JSON
    # Python holds 1, 1.0 and True for equal, JSON does not.
    return one == other and _encoded(one) == _encoded(other)


def _encoded(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    return msgspec.json.encode(value, order="sorted")


def _read(body: bytes) -> _Asked:
    try:
        asked = _asked.decode(body)
    except msgspec.DecodeError as error:
        raise ReviewError(f"no AdmissionReview: {error}") from error
    if asked.api_version not in VERSIONS:
        raise ReviewError(f"no AdmissionReview of v1 or v1beta1: {asked.api_version!r}")
    return asked


def _review(asked: _Request) -> Review:
    return Review(
        operation=asked.operation,
        object=_object(asked.object),
        old=_object(asked.old_object),
        namespace=asked.namespace,
        name=asked.name,
        subresource=asked.sub_resource,
        user=asked.user_info.username,
        groups=asked.user_info.groups,
        dry_run=bool(asked.dry_run),
    )


def _object(raw: Raw) -> Object:
    found: Object | None = msgspec.json.decode(raw)
    return found or {}


def _answer(asked: _Asked, *, allowed: bool, **said: Any) -> bytes:  # noqa: ANN401 - any JSON
    response = {"uid": asked.request.uid, "allowed": allowed, **said}
    # The version of the question: the API server speaks the one that the configuration asked for.
    review = {"apiVersion": asked.api_version, "kind": asked.kind, "response": response}
    return msgspec.json.encode(review)
