"""Every call of the client, and everything that can go wrong on the way to the real API server.

What is known not to have happened is asked for again; what may have happened is asked for again
only where twice is once. The rest is an error, and the world has changed once or not at all.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from fakes.network import Delayed, Lost
from fakes.refusals import Refusal
from shoal.kube import kinds
from shoal.kube.objects import Object, Resource
from shoal.kubeapi import client as clients
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Demand, Ref, Which
from shoal.kubeapi.errors import (
    ApiError,
    BusyError,
    ConflictError,
    NotFoundError,
    ServerError,
    UnreachableError,
)

from .line import Line, line_to
from .real import client_in_namespace, eventually

TIMEOUT_S = 0.4
FAULTS: Mapping[str, Refusal | Lost | Delayed] = {
    "409": Refusal(409, "Conflict", "it is not what you think"),
    "429": Refusal(429, "TooManyRequests", "later"),
    "500": Refusal(500, "InternalError", "etcdserver: leader changed"),
    "503": Refusal(503, "ServiceUnavailable", "apiserver is shutting down"),
    "reset": Lost(),
    "reset after it was done": Lost(after=True),
    "silence": Lost(at_once=False),
    "silence after it was done": Lost(after=True, at_once=False),
    "slow": Delayed(TIMEOUT_S / 4),
}


@dataclass
class Desk:
    """A namespace with a ConfigMap `a`, and two ways to it: one that works, and over a line."""

    client: Client
    direct: Client
    namespace: str
    line: Line
    seen: Object

    def ref(self, name: str = "a") -> Ref:
        return Ref(kinds.CONFIG_MAP, self.namespace, name)

    def obj(self, name: str, **data: str) -> Object:
        meta = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}

    async def now(self, name: str = "a") -> Object:
        try:
            return await self.direct.get(self.ref(name), dict)
        except NotFoundError:
            return {}


Do = Callable[[Desk], Awaitable[Any]]


@dataclass(frozen=True)
class Call:
    """A call, and how often what it does was done, as the world shows."""

    do: Do
    count: Callable[[Desk], Awaitable[int]] | None = None
    again: bool = True  # twice is once
    lost: type[ApiError] | None = None  # what the second time meets when the first was done


async def once(_: Desk) -> int:
    return 1


async def changed(desk: Desk) -> int:
    return int((await desk.now())["data"]["x"])


async def made(desk: Desk) -> int:
    return len(await desk.now("new")) and 1


async def gone(desk: Desk) -> int:
    return int(not await desk.now())


async def held(desk: Desk) -> int:
    return len((await desk.now())["metadata"].get("finalizers", ())) - 1


async def evicted(desk: Desk) -> int:
    pods = await desk.direct.every(Which(kinds.POD, desk.namespace), Resource)
    return int(not [pod for pod in pods if not pod.deleting])


ONE = {"data": {"x": "1"}}
HOLD = [{"op": "add", "path": "/metadata/finalizers/-", "value": "x/again"}]
CALLS: Mapping[str, Call] = {
    "get": Call(lambda desk: desk.client.get(desk.ref(), dict)),
    "list": Call(lambda desk: desk.client.every(Which(kinds.CONFIG_MAP, desk.namespace), Resource)),
    "create": Call(
        lambda desk: desk.client.create(kinds.CONFIG_MAP, desk.obj("new"), dict), made, again=False
    ),
    "post": Call(
        lambda desk: desk.client.post(
            kinds.CONFIG_MAP.path(desk.namespace), desk.obj("new"), dict
        ), made, again=False,
    ),
    "apply": Call(
        lambda desk: desk.client.apply(kinds.CONFIG_MAP, desk.obj("a", x="1"), dict, force=True),
        changed,
    ),
    "merge patch": Call(lambda desk: desk.client.patch(desk.ref(), ONE, dict), changed),
    "JSON patch": Call(lambda desk: desk.client.patch(desk.ref(), HOLD, dict), held, again=False),
    "replace": Call(
        lambda desk: desk.client.replace(kinds.CONFIG_MAP, {**desk.seen, **ONE}, dict),
        changed, lost=ConflictError,
    ),
    "delete": Call(
        lambda desk: desk.client.delete(
            desk.ref(), Resource, Demand(uid=desk.seen["metadata"]["uid"])
        ),
        gone, lost=NotFoundError,
    ),
    "evict": Call(lambda desk: desk.client.evict(desk.namespace, "w"), evicted, again=False),
}  # fmt: skip


def expected(name: str, fault: str) -> type[ApiError] | None:
    """Return the error that a call ends with when one request meets `fault`."""
    call = CALLS[name]
    match fault:
        case "409":
            return ConflictError
        case "429":
            # Whoever evicts decides himself when to ask again.
            return BusyError if name == "evict" else None
        case "500" | "503":
            return None if call.again else ServerError
        case "reset" | "silence":
            return None if call.again else UnreachableError
        case "reset after it was done" | "silence after it was done":
            return call.lost if call.again else UnreachableError
        case _:
            return None


def happened(name: str, fault: str) -> int:
    """Return how often the world has seen the call."""
    return int("after" in fault or expected(name, fault) is None)


@pytest.fixture
async def desk(real: Access, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(clients, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(clients, "REQUEST_TIMEOUT_S", TIMEOUT_S)
    async with (
        client_in_namespace(real) as (direct, namespace),
        line_to(real) as line,
        Client(line.access, "test") as client,
    ):
        made = Desk(client, direct, namespace, line, {})
        obj = made.obj("a", x="0")
        obj["metadata"]["finalizers"] = ["x/y"]
        made.seen = await direct.create(kinds.CONFIG_MAP, obj, dict)
        yield made


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CALLS)
async def test_a_call_that_meets_a_fault_is_done_once_or_says_so(desk, name, fault):
    call, error = CALLS[name], expected(name, fault)
    if name == "delete":
        await desk.direct.patch(desk.ref(), {"metadata": {"finalizers": None}}, dict)
        desk.seen = await desk.now()
    if name == "evict":
        await a_pod(desk)
    desk.line.plan(FAULTS[fault])
    with pytest.raises(error) if error else contextlib.nullcontext():
        await call.do(desk)
    assert desk.line.arrived <= 2, "asked for more often than needed"
    if call.count:
        assert await call.count(desk) == happened(name, fault)


async def a_pod(desk: Desk) -> None:
    accounts = Which(kinds.SERVICE_ACCOUNT, desk.namespace)
    await eventually(lambda: desk.direct.every(accounts, Resource), bool)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "w", "namespace": desk.namespace},
        "spec": {"containers": [{"name": "main", "image": "x"}]},
    }
    await desk.direct.create(kinds.POD, pod, dict)


async def watch(desk: Desk) -> None:
    which = Which(kinds.CONFIG_MAP, desk.namespace)
    async for _ in desk.client.stream(which, "0", TIMEOUT_S):
        return


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("409", ConflictError),
        ("429", BusyError),
        ("500", ServerError),
        ("503", ServerError),
        ("reset", UnreachableError),
        ("silence", UnreachableError),
    ],
)
async def test_a_watch_that_meets_a_fault_says_so_and_the_next_one_is_good(desk, fault, error):
    # Twice: after a reset the HTTP library itself asks once more.
    desk.line.plan(FAULTS[fault], times=2)
    with pytest.raises(error):
        await watch(desk)
    assert desk.line.asked == []
    desk.line.mend()
    await watch(desk)
    assert len(desk.line.asked) == 1


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.again])
async def test_a_server_that_stays_broken_is_given_up_after_some_tries(desk, name, monkeypatch):
    monkeypatch.setattr(clients, "TRIES", 3)
    desk.line.plan(FAULTS["503"], times=99)
    with pytest.raises(ServerError, match="apiserver is shutting down"):
        await CALLS[name].do(desk)
    assert desk.line.arrived == 3
    assert desk.line.asked == []
