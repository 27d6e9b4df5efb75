"""Events out of bytes, however the line cuts them."""

from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.loop import VirtualLoop, run
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import GoneError, UnreadableError
from shoal.kubeapi.watch import watch

LOOP = VirtualLoop
WHICH = Which(kinds.POD)


class Line:
    """A client that only streams, and what it streams is given."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks

    async def stream(self, *_) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


def event(kind: str, name: str, version: int, **more) -> bytes:
    meta = {"name": name, "resourceVersion": str(version)}
    return msgspec.json.encode({"type": kind, "object": {"metadata": meta, **more}}) + b"\n"


async def told(*chunks: bytes, type_: type = Resource) -> list[list[tuple[str, str]]]:
    return [
        [(e.type, e.object.metadata.name) for e in batch]
        async for batch in watch(Line(*chunks), WHICH, type_, "1")
    ]


async def test_what_the_line_delivers_together_comes_together():
    chunk = event("ADDED", "a", 2) + event("MODIFIED", "a", 3)
    assert await told(chunk, event("DELETED", "a", 4)) == [
        [("ADDED", "a"), ("MODIFIED", "a")],
        [("DELETED", "a")],
    ]


async def test_an_event_cut_in_the_middle_waits_for_its_rest():
    whole = event("ADDED", "a", 2)
    assert await told(whole[:17], whole[17:30], whole[30:]) == [[("ADDED", "a")]]


async def test_half_an_event_at_the_end_is_not_told():
    assert await told(event("ADDED", "a", 2) + event("ADDED", "b", 3)[:20]) == [[("ADDED", "a")]]


async def test_what_came_before_an_error_is_still_told():
    gone = {"kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "message": "m"}
    line = msgspec.json.encode({"type": "ERROR", "object": gone}) + b"\n"
    batches = watch(Line(event("ADDED", "a", 2) + line), WHICH, Resource, "1")
    assert [e.object.metadata.name for e in await anext(batches)] == ["a"]
    with pytest.raises(GoneError, match="watch pods: m"):
        await anext(batches)


class Spec(msgspec.Struct, frozen=True):
    containers: list[int]


class Typed(Resource, frozen=True, gc=False, kw_only=True):
    spec: Spec
    status: Spec | None = None


async def test_a_bookmark_needs_nothing_but_a_version():
    empty = {"metadata": {"resourceVersion": "77", "creationTimestamp": None}}
    bookmark = {"type": "BOOKMARK", "object": {**empty, "spec": {"containers": None}}}
    line = msgspec.json.encode(bookmark) + b"\n"
    ((mark,),) = [batch async for batch in watch(Line(line), WHICH, Typed, "1")]
    assert (mark.type, mark.object.version) == ("BOOKMARK", 77)


async def test_gone_is_understood_whatever_the_type_says_of_a_status():
    gone = {"kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "spec": 1}
    with pytest.raises(GoneError):
        await told(msgspec.json.encode({"type": "ERROR", "object": gone}) + b"\n", type_=Typed)
    assert gone["code"] == 410


@pytest.mark.parametrize(
    "line", [event("ADDED", "a", 2, spec={"containers": "no list"}), b"<html>\n", b'{"type": 1}\n']
)
async def test_what_makes_no_sense_is_an_error_that_names_the_watch(line):
    with pytest.raises(UnreadableError, match="watch pods: ") as caught:
        await told(line, type_=Typed)
    assert caught.value.__cause__ is not None


@given(st.data())
def test_however_the_line_is_cut_the_events_are_the_same(data):
    names = data.draw(st.lists(st.text("abc", min_size=1, max_size=40), max_size=6))
    whole = b"".join(event("ADDED", name, n + 2) for n, name in enumerate(names))
    at = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[a:b] for a, b in zip([0, *at], [*at, len(whole)], strict=True)]
    batches = run(told(*chunks))
    assert [name for batch in batches for _, name in batch] == names
