"""Watch events out of a stream of bytes."""

from collections.abc import AsyncIterator
from typing import Generic, TypeVar

import msgspec

from ..kube.objects import Resource
from .client import Client, Which
from .errors import Status, refusal

R = TypeVar("R", bound=Resource)

# Bookmarks come about once a minute: more silence than this is a line that is dead.
SILENCE_S = 150.0


class Event(msgspec.Struct, Generic[R], frozen=True, gc=False):
    """Something that happened to an object: ADDED, MODIFIED, DELETED, or only a BOOKMARK."""

    type: str
    object: R


class _Failed(msgspec.Struct, frozen=True):
    object: Status


async def watch(
    client: Client, which: Which, type_: type[R], version: str, silence_s: float = SILENCE_S
) -> AsyncIterator[list[Event[R]]]:
    """Yield the events since `version`, as many at a time as the line delivers together."""
    decoder = msgspec.json.Decoder(Event[type_])  # type: ignore[valid-type]
    rest = b""
    async for chunk in client.stream(which, version, silence_s):
        *lines, rest = (rest + chunk).split(b"\n")
        batch: list[Event[R]] = [decoder.decode(line) for line in lines if line]
        if batch and batch[-1].type == "ERROR":
            status = msgspec.json.decode(
                next(line for line in reversed(lines) if line), type=_Failed
            )
            yield batch[:-1]
            body = msgspec.json.encode(status.object)
            raise refusal(f"watch {which.kind.plural}", status.object.code, body)
        if batch:
            yield batch
