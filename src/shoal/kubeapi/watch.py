"""Watch events out of a stream of bytes."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from ..kube.objects import Meta, Resource
from .client import Client, ListMeta, Which
from .errors import ApiError, Status, UnreadableError, refusal

R = TypeVar("R", bound=Resource)

# Bookmarks come about once a minute: more silence than this is a line that is dead.
SILENCE_S = 150.0


class Event(msgspec.Struct, Generic[R], frozen=True, gc=False):
    """Something that happened to an object: ADDED, MODIFIED, DELETED, or only a BOOKMARK.

    A bookmark's object is a plain Resource that has nothing but a version.
    """

    type: str
    object: R


class _Loose(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _Marked(msgspec.Struct, frozen=True):
    metadata: ListMeta = ListMeta()


async def watch(
    client: Client, which: Which, type_: type[R], version: str, silence_s: float = SILENCE_S
) -> AsyncIterator[list[Event[R]]]:
    """Yield the events since `version`, as many at a time as the line delivers together."""
    decoder = msgspec.json.Decoder(Event[type_])  # type: ignore[valid-type]
    call, rest = f"watch {which.kind.plural}", b""
    async for chunk in client.stream(which, version, silence_s):
        whole = rest + chunk if rest else chunk
        batch: list[Event[R]] = []
        try:
            for line in _lines(whole):
                batch.append(_read(line, decoder, call))
        except ApiError:
            if batch:
                yield batch
            raise
        rest = whole[whole.rfind(b"\n") + 1 :]
        if batch:
            yield batch


def _lines(whole: bytes) -> Iterator[memoryview]:
    """Yield the lines that are complete, where they are: a copy would cost a third of decoding."""
    view, start = memoryview(whole), 0
    while (end := whole.find(b"\n", start)) >= 0:
        if end > start:
            yield view[start:end]
        start = end + 1


def _read(line: memoryview, decoder: "msgspec.json.Decoder[Event[Any]]", call: str) -> Event[Any]:
    try:
        event = decoder.decode(line)
    except msgspec.DecodeError as error:
        # In a bookmark fields are null that every object has; a Status is no object at all.
        return _read_loosely(line, error, call)
    return event if event.type not in ("BOOKMARK", "ERROR") else _read_loosely(line, None, call)


def _read_loosely(line: memoryview, unfit: Exception | None, call: str) -> Event[Any]:
    try:
        loose = msgspec.json.decode(line, type=_Loose)
        if loose.type == "BOOKMARK":
            version = msgspec.json.decode(loose.object, type=_Marked).metadata.resource_version
            return Event("BOOKMARK", Resource(Meta(resource_version=version)))
        if loose.type == "ERROR":
            status = msgspec.json.decode(loose.object, type=Status)
            raise refusal(call, status.code, bytes(loose.object))
    except msgspec.DecodeError as error:
        raise UnreadableError(f"{call}: {error}") from error
    raise UnreadableError(f"{call}: {unfit}") from unfit
