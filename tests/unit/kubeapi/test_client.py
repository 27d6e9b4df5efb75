"""The client: what is sent again, what is not, and what passes the gate."""

import aiohttp
import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Delayed, Lost, Network
from fakes.refusals import Refusal
from fakes.wire import FakeClient
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import REQUEST_TIMEOUT_S, TRIES, Client, Demand, Ref, Request, Which
from shoal.kubeapi.errors import (
    BusyError,
    ConflictError,
    ExistsError,
    NotFoundError,
    ServerError,
    UnauthorizedError,
    UnreachableError,
    UnreadableError,
)
from shoal.runtime import clock

LOOP = VirtualLoop
BUSY = Refusal(429, "TooManyRequests", "later", retry_after_s=4)
BROKEN = Refusal(500, "InternalError", "etcdserver: leader changed")
WHERE = Ref(kinds.CONFIG_MAP, "default", "a")


def config_map(name: str = "a", **data: str):
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def make(**more) -> tuple[FakeClient, Network]:
    network = Network(FakeApi(), latency_s=(0, 0), lag_s=(0, 0))
    return FakeClient(network, **more), network


async def took_s(call) -> float:
    began = clock.ticks()
    await call
    return clock.ticks() - began


# -- again


async def test_a_busy_server_is_asked_again_but_not_before_it_said():
    client, network = make()
    network.plan(BUSY, times=2)
    assert 8 <= await took_s(client.create(kinds.CONFIG_MAP, config_map(), dict)) < 12
    assert len(network.api.objects(kinds.CONFIG_MAP)) == 1


async def test_a_server_that_stays_busy_is_given_up():
    client, network = make()
    network.plan(BUSY, times=99)
    with pytest.raises(BusyError):
        await client.get(WHERE, dict)
    assert network._planned[0].times == 99 - TRIES


async def test_pauses_grow():
    client, network = make()
    network.plan(BROKEN, times=TRIES - 1)
    began = clock.ticks()
    with pytest.raises(NotFoundError):
        await client.get(WHERE, dict)
    # 0.2 + 0.4 + 0.8 + 1.6, each with half of it more or less.
    assert 1.5 <= clock.ticks() - began <= 4.5


@pytest.mark.parametrize("fault", [BROKEN, Lost(), Lost(at_once=False)])
async def test_reads_are_sent_again_when_the_server_or_the_line_fails(fault):
    client, network = make()
    await client.create(kinds.CONFIG_MAP, config_map(x="1"), dict)
    network.plan(fault, "get", times=2)
    assert (await client.get(WHERE, dict))["data"] == {"x": "1"}


@pytest.mark.parametrize("fault", [BROKEN, Lost(after=True), Lost(after=True, at_once=False)])
async def test_an_application_is_sent_again_as_twice_is_once(fault):
    client, network = make()
    network.plan(fault, "apply")
    made = await client.apply(kinds.CONFIG_MAP, config_map(x="1"), dict)
    assert made["data"] == {"x": "1"}


@pytest.mark.parametrize("fault", [BROKEN, Lost(after=True), Lost(after=True, at_once=False)])
async def test_a_creation_is_not_sent_again_as_it_may_have_been_done(fault):
    client, network = make()
    network.plan(fault, "create")
    with pytest.raises(ServerError if fault is BROKEN else UnreachableError):
        await client.create(kinds.CONFIG_MAP, config_map(), dict)
    assert network.api.requests.count("create configmaps") <= 1


async def test_a_json_patch_is_not_sent_again_as_it_may_add_to_a_list_twice():
    client, network = make()
    await client.create(kinds.CONFIG_MAP, config_map(x="1"), dict)
    network.plan(Lost(after=True), "patch")
    with pytest.raises(UnreachableError):
        await client.patch(WHERE, [{"op": "add", "path": "/data/y", "value": "2"}], dict)
    assert network.api.objects(kinds.CONFIG_MAP)[0]["data"] == {"x": "1", "y": "2"}


async def test_a_deletion_sent_again_finds_nothing_and_says_so():
    client, network = make()
    await client.create(kinds.CONFIG_MAP, config_map(), dict)
    network.plan(Lost(after=True), "delete")
    with pytest.raises(NotFoundError):
        await client.delete(WHERE, Resource)
    assert network.api.objects(kinds.CONFIG_MAP) == []


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (Refusal(409, "Conflict", "m"), ConflictError),
        (Refusal(409, "AlreadyExists", "m"), ExistsError),
        (Refusal(404, "NotFound", "m"), NotFoundError),
    ],
)
async def test_a_no_that_will_stay_no_is_told_at_once(refused, kind):
    client, network = make()
    network.plan(refused, times=99)
    began = clock.ticks()
    with pytest.raises(kind):
        await client.get(WHERE, dict)
    assert clock.ticks() == began


async def test_an_eviction_that_is_refused_for_now_is_left_to_the_caller():
    client, network = make()
    network.plan(BUSY, "evict", times=99)
    began = clock.ticks()
    with pytest.raises(BusyError) as caught:
        await client.evict("default", "w")
    assert clock.ticks() == began
    assert caught.value.retry_after_s == 4


async def test_a_request_has_an_end():
    client, network = make()
    network.plan(Delayed(10_000), "create")
    began = clock.ticks()
    with pytest.raises(UnreachableError, match="TimeoutError"):
        await client.create(kinds.CONFIG_MAP, config_map(), dict)
    assert clock.ticks() - began == pytest.approx(REQUEST_TIMEOUT_S)


class Remembered(Fixed):
    forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1


async def test_credentials_that_are_not_accepted_are_renewed_once():
    client, network = make()
    client.access = Access("http://fake", Remembered())
    refused = Refusal(401, "Unauthorized", "Unauthorized")
    network.plan(refused)
    with pytest.raises(NotFoundError):
        await client.get(WHERE, dict)
    assert client.access.credentials.forgotten == 1
    network.plan(refused, times=99)
    with pytest.raises(UnauthorizedError):
        await client.get(WHERE, dict)
    assert client.access.credentials.forgotten == 3


async def test_an_answer_that_is_no_json_is_an_error_that_names_the_call():
    client, _ = make()

    async def once(request: Request) -> bytes:
        return b"<html>welcome</html>"

    client._once = once
    with pytest.raises(UnreadableError, match="GET /api/v1/namespaces/default/configmaps/a: "):
        await client.get(WHERE, dict)
    with pytest.raises(UnreadableError) as caught:
        await client.every(Which(kinds.POD), Resource)
    assert "malformed" in str(caught.value)


# -- the gate


async def test_every_write_passes_the_gate_and_no_read_does():
    passed = []

    async def gate(name, call):
        passed.append(name)
        return await call()

    client, _ = make(through=gate)
    made = await client.create(kinds.CONFIG_MAP, config_map(), dict)
    endless = config_map("")
    endless["metadata"]["generateName"] = "some-"
    await client.create(kinds.CONFIG_MAP, endless, dict)
    await client.apply(kinds.CONFIG_MAP, config_map(x="1"), dict, force=True)
    await client.patch(WHERE, {"data": {"y": "2"}}, dict)
    await client.get(WHERE, dict)
    await client.every(Which(kinds.CONFIG_MAP), Resource)
    await client.replace(kinds.CONFIG_MAP, config_map(z="3"), dict)
    await client.delete(WHERE, Resource, Demand(uid=made["metadata"]["uid"]))
    collection = "/api/v1/namespaces/default/configmaps"
    assert passed == [
        f"POST {collection}/a",
        f"POST {collection}/some-",
        f"PATCH {collection}/a",
        f"PATCH {collection}/a",
        f"PUT {collection}/a",
        f"DELETE {collection}/a",
    ]


async def test_a_gate_that_does_not_let_pass_keeps_the_write_from_the_server():
    async def gate(name, call):
        raise PermissionError(name)

    client, network = make(through=gate)
    with pytest.raises(PermissionError):
        await client.create(kinds.CONFIG_MAP, config_map(), dict)
    assert network.api.requests == []


# -- what is observed


async def test_every_try_is_observed_with_its_code_and_time():
    seen = []
    client, network = make(observe=lambda *what: seen.append(what))
    network.plan(BROKEN, "get")
    network.plan(Lost(at_once=False), "get", nth=2)
    with pytest.raises(NotFoundError):
        await client.get(WHERE, dict)
    assert [(verb, plural, code) for verb, plural, code, _ in seen] == [
        ("get", "configmaps", 500),
        ("get", "configmaps", 0),
        ("get", "configmaps", 404),
    ]
    assert seen[1][3] == pytest.approx(REQUEST_TIMEOUT_S)


async def test_a_watch_is_observed_too():
    seen = []
    client, network = make(observe=lambda *what: seen.append(what[:3]))
    network.down = True
    with pytest.raises(UnreachableError):
        async for _ in client.stream(Which(kinds.POD), "1", 60):
            pass
    assert seen == [("watch", "pods", 0)]


# -- lists


async def test_a_long_list_is_fetched_in_pages():
    client, network = make()
    for number in range(7):
        await client.create(kinds.CONFIG_MAP, config_map(f"c{number}"), dict)
    pages = [page async for page in client.pages(Which(kinds.CONFIG_MAP), Resource, limit=3)]
    assert [len(page.items) for page in pages] == [3, 3, 1]
    assert network.api.requests.count("list configmaps") == 3


async def test_a_silent_watch_is_given_up():
    client, network = make()
    network.mute = True
    began = clock.ticks()
    with pytest.raises(UnreachableError, match="TimeoutError"):
        async for _ in client.stream(Which(kinds.POD), "1", 60):
            pass
    assert clock.ticks() - began == pytest.approx(60, abs=1)


def test_selectors_travel_in_the_query():
    which = Which(kinds.POD, labels="app=x", fields="spec.nodeName=n")
    assert which.query() == {"labelSelector": "app=x", "fieldSelector": "spec.nodeName=n"}
    assert Which(kinds.POD).query() == {}


@pytest.mark.parametrize(
    ("demand", "options"),
    [
        (Demand(), {"preconditions": {}}),
        (Demand(uid="u", version="7"), {"preconditions": {"uid": "u", "resourceVersion": "7"}}),
        (Demand(grace_s=0), {"preconditions": {}, "gracePeriodSeconds": 0}),
    ],
)
def test_a_deletion_says_exactly_what_is_meant(demand, options):
    told = demand.options()
    assert told.pop("kind") == "DeleteOptions"
    assert told.pop("propagationPolicy") == "Background"
    assert {key: value for key, value in told.items() if key != "apiVersion"} == options


async def test_a_client_that_was_not_opened_says_so():
    client = Client(Access("http://nowhere", Fixed()), "x")
    with pytest.raises(AssertionError, match="before `async with`") as caught:
        await client._open(Request("GET", "/", {}), aiohttp.ClientTimeout())
    assert "client" in str(caught.value)
