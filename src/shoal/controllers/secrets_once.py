"""Makes Secrets that a cluster needs and nobody brings: once, and never another in their place.

Daemons that run have read what is in them, and a database knows its passwords by heart. So one that
is gone is made anew only where nothing could still go by the one before.
"""

import secrets
from asyncio import to_thread
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..decide.conditions import Failed
from ..host.ssh_keys import host_keys
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Object, Resource, owner_reference
from ..kubeapi.errors import ExistsError
from ..model.part import Marks, Part
from .passes import Hands

# What munge's own tool makes.
MUNGE_BYTES = 1024
JWT_BYTES = 32
PASSWORD_BYTES = 24

Make = Callable[[], Mapping[str, bytes]]


@dataclass(frozen=True)
class Once:
    """A Secret that is made where there is none."""

    name: str
    part: Part
    make: Make
    there: bool
    marks: Marks = field(default_factory=Marks)
    stays: bool = False  # when its cluster goes: what it opens stays too
    lost: str = ""  # what still goes by the one before, and the cure; empty: nothing does


def munge_key(entry: str) -> Make:
    """Return what makes a key for munged."""
    return lambda: {entry: secrets.token_bytes(MUNGE_BYTES)}


def jwt_key(entry: str) -> Make:
    """Return what makes a key that signs tokens."""
    return lambda: {entry: secrets.token_bytes(JWT_BYTES)}


def password(entry: str) -> Make:
    """Return what makes a password, of characters that no file and no shell minds."""
    return lambda: {entry: secrets.token_urlsafe(PASSWORD_BYTES).encode()}


ssh_host_keys: Make = host_keys


async def make(hands: Hands, kind: Kind, obj: Resource, wanted: Sequence[Once]) -> bool:
    """Make those that are missing, for `obj`; say whether any was."""
    missing = [one for one in wanted if not one.there and not one.lost]
    for one in missing:
        await _make(hands, kind, obj, one)
    return bool(missing)


def lost(wanted: Sequence[Once]) -> Failed | None:
    """Fail as `KeyLost` when a Secret is gone that must not be made anew."""
    for one in wanted:
        if one.lost and not one.there:
            return Failed("KeyLost", f"Secret {one.name} is gone, and {one.lost}")
    return None


async def _make(hands: Hands, kind: Kind, obj: Resource, one: Once) -> None:
    store = hands.world.stores[kinds.SECRET]
    files = await to_thread(one.make)
    part = one.part
    # It may be protected from deletion as long as its owner is there: it must not block that.
    owner = owner_reference(kind.identity(obj), block=False)
    meta: Object = {
        "namespace": part.namespace,
        "name": one.name,
        "labels": {**one.marks.labels, **part.labels},
        "annotations": dict(one.marks.annotations),
        "ownerReferences": [] if one.stays else [owner],
    }
    secret = {
        "apiVersion": kinds.SECRET.api_version,
        "kind": kinds.SECRET.kind,
        "metadata": {key: value for key, value in meta.items() if value},
        "type": "Opaque",
        "immutable": True,
        "data": {name: b64encode(held).decode() for name, held in files.items()},
    }
    with suppress(ExistsError):  # the store does not know it yet, or it lacks what we look for
        store.put(await hands.client.create(kinds.SECRET, secret, store.type))
