"""A status is written when it says something new."""

import msgspec

from shoal.kube.kinds import POD
from shoal.kube.objects import Meta, Object, Resource
from shoal.runtime.status import report
from shoal.runtime.store import Store


class Ship(Resource, frozen=True, gc=False):
    status: dict[str, int] = msgspec.field(default_factory=dict)


class Typed(msgspec.Struct, omit_defaults=True):
    crew: int = 0
    guns: int = 0


class Wire:
    """Takes statuses as the API server does."""

    def __init__(self) -> None:
        self.written: list[tuple[Object, bool, str]] = []

    async def apply(self, _kind, obj, type_, *, force, subresource):
        self.written.append((obj, force, subresource))
        meta = Meta(**obj["metadata"], resource_version=str(10 + len(self.written)))
        return type_(metadata=meta, status=obj["status"])


def ship() -> Ship:
    meta = Meta(name="a", namespace="ns", uid="u", resource_version="1")
    return Ship(metadata=meta, status={"crew": 3})


async def test_a_status_that_is_so_already_is_not_written():
    wire, store = Wire(), Store(POD, Ship)
    assert await report(wire, store, ship(), ship().status, {"crew": 3}) is False
    assert wire.written == []


async def test_a_new_status_is_applied_to_that_very_object():
    wire, store = Wire(), Store(POD, Ship)
    assert await report(wire, store, ship(), ship().status, {"crew": 4}) is True
    ((obj, force, subresource),) = wire.written
    assert obj == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "ns", "uid": "u"},
        "status": {"crew": 4},
    }
    assert (force, subresource) == (True, "status")


async def test_the_next_pass_sees_the_status_that_was_written():
    wire, store = Wire(), Store(POD, Ship)
    store.put(ship())
    await report(wire, store, ship(), ship().status, {"crew": 4})
    assert store.get(("ns", "a")).status == {"crew": 4}


async def test_a_typed_status_is_compared_by_what_it_says():
    wire, store = Wire(), Store(POD, Ship)
    assert await report(wire, store, ship(), Typed(crew=3), {"crew": 3}) is False
