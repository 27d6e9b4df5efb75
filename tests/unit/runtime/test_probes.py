"""How a process answers when it is asked how it is."""

import asyncio
from dataclasses import dataclass, field

import msgspec
import pytest

from fakes.loop import VirtualLoop
from shoal.kube.kinds import NODE, POD
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import UnreachableError
from shoal.kubeapi.server import Listening
from shoal.runtime import clock, probes
from shoal.runtime.controller import Controller, Done
from shoal.runtime.metrics import Metrics
from shoal.runtime.probes import Guard
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store

LOOP = VirtualLoop


async def nothing(_key) -> Done:
    return Done()


@dataclass
class Seen:
    """A process as the probes look at it."""

    ready: bool = False
    stores: list[Store] = field(default_factory=list)
    reflectors: list[Reflector] = field(default_factory=list)
    running: list[Controller] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    leading: asyncio.Event = field(default_factory=asyncio.Event)


async def asked(process: Seen, path: str) -> tuple[int, str]:
    answer = await probes.probes(process)[path](b"", {})
    return answer.status, answer.body.decode()


async def test_a_standby_is_healthy():
    assert await asked(Seen(), "/healthz") == (200, "[+]loop ok\nhealthz check passed\n")


async def test_a_controller_that_runs_is_healthy_however_long_it_runs():
    controller = Controller("nodeset", (), nothing)
    task = asyncio.create_task(controller.run())
    for _ in range(10):
        await clock.sleep(600)
        status, body = await asked(Seen(running=[controller]), "/healthz")
        assert (status, "[+]controller nodeset ok" in body) == (200, True)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_controller_that_has_not_started_yet_is_healthy():
    controller = Controller("nodeset", (), nothing)
    assert (await asked(Seen(running=[controller]), "/healthz"))[0] == 200


async def test_a_watchdog_that_no_longer_looks_is_unhealthy():
    controller = Controller("nodeset", (), nothing)
    controller.checked_at = clock.ticks()
    await clock.sleep(probes.SILENT_S + 1)
    status, body = await asked(Seen(running=[controller]), "/healthz")
    assert status == 503
    assert "[-]controller nodeset failed: its watchdog has not looked for 121 s" in body
    assert body.endswith("healthz check failed\n")


def cache(kind, lists: int, failing: str = "") -> Reflector:
    reflector = Reflector(Store(kind, Resource), Which(kind), lambda: None)
    reflector.lists, reflector.failing = lists, failing
    return reflector


async def test_a_process_is_not_ready_before_its_caches_are_filled():
    status, body = await asked(
        Seen(reflectors=[cache(POD, 1), cache(NODE, 0, "GET /api/v1/nodes: forbidden")]), "/readyz"
    )
    assert status == 503
    assert "[+]cache pods ok" in body
    assert "[-]cache nodes failed: GET /api/v1/nodes: forbidden" in body


async def test_a_process_is_ready_with_its_caches_filled():
    assert (await asked(Seen(ready=True, reflectors=[cache(POD, 1)]), "/readyz"))[0] == 200


async def test_a_watch_that_broke_later_leaves_a_process_ready():
    process = Seen(ready=True, reflectors=[cache(POD, 1, "connection reset")])
    assert (await asked(process, "/readyz"))[0] == 200


async def test_a_probe_tells_no_secret():
    process = Seen(reflectors=[cache(POD, 0, "401 for Bearer s3cr3t-value")])
    assert "s3cr3t" not in (await asked(process, "/readyz"))[1]


async def test_metrics_are_for_everybody_without_a_guard():
    metrics = Metrics()
    metrics.request("get", "pods", 200, 0.1)
    answer = await probes.metrics(metrics)["/metrics"](b"", {})
    assert (answer.status, answer.content_type) == (200, "text/plain")
    assert b"shoal_api_requests_total" in answer.body


class Reviewer:
    """Reviews tokens as the API server does, and counts."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.known = {"good": "prometheus", "other": "somebody"}
        self.down = False

    async def post(self, path, body, type_):
        if self.down:
            raise UnreachableError(f"POST {path}: reset")
        self.calls.append(path.rpartition("/")[2])
        if body["kind"] == "TokenReview":
            user = self.known.get(body["spec"]["token"])
            return type_(status=probes._Known(user is not None, probes._User(user or "")))
        assert body["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}
        return type_(status=probes._Allowed(body["spec"]["user"] == "prometheus"))


async def scraped(guard: Guard, authorization: str | None) -> int:
    headers = {"Authorization": authorization} if authorization else {}
    return (await probes.metrics(Metrics(), guard)["/metrics"](b"", headers)).status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer good", 200),
        ("bearer good", 200),
        ("Bearer other", 403),
        ("Bearer forged", 401),
        ("Bearer ", 401),
        ("Basic Z29vZA==", 401),
        (None, 401),
    ],
)
async def test_a_guard_lets_pass_whom_the_api_server_allows(authorization, status):
    assert await scraped(Guard(Reviewer()), authorization) == status


@pytest.mark.parametrize("authorization", ["Bearer ", "Basic good", "good", None])
async def test_nobody_is_asked_about_what_is_no_token(authorization):
    guard = Guard(reviewer := Reviewer())
    assert await scraped(guard, authorization) == 401
    assert reviewer.calls == []


def test_an_answer_that_does_not_say_yes_is_a_no():
    assert not msgspec.json.decode(b"{}", type=probes._TokenReview).status.authenticated
    assert not msgspec.json.decode(b'{"status": {}}', type=probes._TokenReview).status.authenticated
    assert not msgspec.json.decode(b"{}", type=probes._AccessReview).status.allowed
    assert not msgspec.json.decode(b'{"status": {}}', type=probes._AccessReview).status.allowed


async def test_a_verdict_holds_for_a_while():
    guard = Guard(reviewer := Reviewer())
    for _ in range(5):
        assert await scraped(guard, "Bearer good") == 200
    assert reviewer.calls == ["tokenreviews", "subjectaccessreviews"]
    await clock.sleep(probes.ALLOWED_S + 1)
    del reviewer.known["good"]
    assert await scraped(guard, "Bearer good") == 401


async def test_a_refusal_holds_for_a_shorter_while():
    guard = Guard(reviewer := Reviewer())
    assert await scraped(guard, "Bearer late") == 401
    reviewer.known["late"] = "prometheus"
    assert await scraped(guard, "Bearer late") == 401
    await clock.sleep(probes.REFUSED_S + 1)
    assert await scraped(guard, "Bearer late") == 200


async def test_a_guard_without_an_api_server_lets_nobody_pass_and_remembers_nothing():
    guard = Guard(reviewer := Reviewer())
    reviewer.down = True
    assert await scraped(guard, "Bearer good") == 503
    reviewer.down = False
    assert await scraped(guard, "Bearer good") == 200


async def test_trying_tokens_does_not_fill_the_memory():
    guard = Guard(Reviewer())
    for number in range(3 * probes.MOST_VERDICTS):
        await scraped(guard, f"Bearer forged-{number}")
    assert len(guard._verdicts) <= probes.MOST_VERDICTS


async def test_a_full_memory_forgets_what_no_longer_holds_first():
    guard = Guard(reviewer := Reviewer())
    for number in range(probes.MOST_VERDICTS - 1):
        await scraped(guard, f"Bearer forged-{number}")
    await clock.sleep(probes.REFUSED_S - 1)
    await scraped(guard, "Bearer good")
    await clock.sleep(2)
    await scraped(guard, "Bearer forged")
    assert len(guard._verdicts) == 2
    asked = len(reviewer.calls)
    assert await scraped(guard, "Bearer good") == 200
    assert len(reviewer.calls) == asked


async def test_a_memory_full_of_what_holds_is_emptied():
    guard = Guard(Reviewer())
    for number in range(probes.MOST_VERDICTS):
        await scraped(guard, f"Bearer forged-{number}")
    assert len(guard._verdicts) == probes.MOST_VERDICTS
    await scraped(guard, "Bearer good")
    assert len(guard._verdicts) == 1


async def test_a_guard_remembers_no_token():
    guard = Guard(Reviewer())
    await scraped(guard, "Bearer good")
    assert "good" not in repr(vars(guard)["_verdicts"])


@pytest.mark.parametrize(
    ("address", "where"),
    [
        (":8081", Listening(None, 8081)),
        ("8081", Listening(None, 8081)),
        ("127.0.0.1:8080", Listening("127.0.0.1", 8080)),
        ("[::1]:8080", Listening("::1", 8080)),
        ("a:65535", Listening("a", 65535)),
        ("0", None),
        ("", None),
    ],
)
def test_an_address_is_understood_as_the_flags_write_it(address, where):
    assert probes.listening(address) == where


@pytest.mark.parametrize("address", ["localhost", ":http", "a:65536"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="HOST:PORT"):
        probes.listening(address)
