"""Commands in pods: what comes back, what is cut, what is refused, and who may run them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web

from fakes.apiserver import FakeApi
from fakes.network import Lost, Network
from fakes.wire import FakeClient, ended
from shoal.kube import kinds
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client
from shoal.kubeapi.errors import (
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ServerError,
    UnauthorizedError,
    UnreachableError,
    UnreadableError,
)
from shoal.kubeapi.exec import NOT_RUN, PROTOCOLS, Ran, execute, in_pod
from shoal.runtime import clock
from shoal.runtime.errors import DeposedError
from shoal.runtime.port import Fence, Fenced

PATH = "/api/v1/namespaces/n/pods/p/exec"
Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
Said = list[tuple[int, bytes]]


@asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[str]:
    """Give the address of a server that does `serve` on our path."""
    app = web.Application()
    app.router.add_get(PATH, serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def talking(serve: Serve, **more) -> AsyncIterator[Client]:
    async with serving(serve) as url, Client(Access(url, Fixed({"A": "b"})), "x", **more) as client:
        yield client


def saying(*said: tuple[int, bytes], seen: list[web.Request] | None = None, protocols=PROTOCOLS):
    """Return a server that says these frames and ends the line."""

    async def serve(request: web.Request) -> web.StreamResponse:
        if seen is not None:
            seen.append(request)
        socket = web.WebSocketResponse(protocols=protocols)
        await socket.prepare(request)
        for channel, data in said:
            await socket.send_bytes(bytes([channel]) + data)
        await socket.close()
        return socket

    return serve


def status(code: int) -> bytes:
    return msgspec.json.encode(ended(code))


def refusing(code: int, reason: str, message: str, times: int = 99):
    left = [times]

    async def serve(request: web.Request) -> web.StreamResponse:
        if not left[0]:
            return await saying((3, status(0)))(request)
        left[0] -= 1
        body = {"kind": "Status", "reason": reason, "message": message, "code": code}
        return web.json_response(body, status=code)

    return serve


async def run(client: Client, *words: str, **bounds) -> Ran:
    return await execute(client, "n", "p", "c", words or ("true",), **bounds)


async def test_a_command_goes_word_by_word_with_our_credentials_and_no_shell():
    seen: list[web.Request] = []
    async with talking(saying((3, status(0)), seen=seen)) as client:
        await run(client, "scontrol", "a b&c=d", "+%20", "")
    (request,) = seen
    assert request.query.getall("command") == ["scontrol", "a b&c=d", "+%20", ""]
    assert (request.query["container"], request.query["stdout"]) == ("c", "true")
    assert "stdin" not in request.query
    assert (request.headers["A"], request.headers["User-Agent"]) == ("b", "shoal")


@pytest.mark.parametrize("code", [0, 3, 255])
async def test_the_exit_code_and_both_outputs_come_back(code):
    # A server opens each channel with an empty frame.
    opened = [(1, b""), (2, b""), (3, b"")]
    said = [(1, b"one "), (2, b"oh"), (1, b"two\xff"), (3, status(code))]
    async with talking(saying(*opened, *said)) as client:
        assert await run(client) == Ran(code, "one two\ufffd", "oh")


@pytest.mark.parametrize("protocols", [PROTOCOLS, PROTOCOLS[1:]])
async def test_an_older_server_chooses_the_older_protocol(protocols):
    seen: list[web.Request] = []
    async with talking(saying((3, status(0)), seen=seen, protocols=protocols)) as client:
        assert (await run(client)).code == 0
    offered = seen[0].headers["Sec-WebSocket-Protocol"].split(",")
    assert offered == ["v5.channel.k8s.io", "v4.channel.k8s.io"]


async def test_output_beyond_the_limit_is_cut_and_the_exit_code_still_comes():
    said = [(1, b"x" * 60), (1, b"y" * 60), (1, b"z" * 60), (2, b"e" * 100), (3, status(3))]
    async with talking(saying(*said)) as client:
        ran = await run(client, limit=100)
    assert ran == Ran(3, "x" * 60 + "y" * 40, "e" * 100, cut=True)


async def test_a_command_without_an_end_is_given_up_in_time():
    async def hang(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=PROTOCOLS)
        await socket.prepare(request)
        await socket.receive()
        return socket

    async with talking(hang) as client:
        with pytest.raises(UnreachableError, match=r"exec \(sleep\): no end after 0.1 s"):
            await run(client, "sleep", "600", timeout_s=0.1)


async def test_a_line_that_ends_early_is_no_exit_code():
    async with talking(saying((1, b"some"))) as client:
        with pytest.raises(UnreachableError, match="ended before the program"):
            await run(client)


async def test_nobody_there_is_unreachable():
    async with Client(Access("http://127.0.0.1:1", Fixed()), "x") as client:
        with pytest.raises(UnreachableError, match="GET /api/v1/namespaces/n/pods/p/exec: "):
            await run(client)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(400, InvalidError), (403, ForbiddenError), (404, NotFoundError), (500, ServerError)],
)
async def test_a_refusal_is_told_in_the_servers_own_words(code, kind):
    async with talking(refusing(code, "Why", "so it is")) as client:
        with pytest.raises(kind, match="so it is"):
            await run(client)


async def test_a_program_that_could_not_be_started_is_no_exit_code():
    why = {"status": "Failure", "reason": "InternalError", "message": "no such file", "code": 500}
    async with talking(saying((3, msgspec.json.encode(why)))) as client:
        with pytest.raises(ServerError, match="no such file"):
            await run(client)


async def test_an_end_that_cannot_be_read_is_an_error():
    async with talking(saying((3, b"well"))) as client:
        with pytest.raises(UnreadableError):
            await run(client)


async def test_a_token_that_is_not_accepted_is_renewed_once():
    forgotten = []

    class Renewed(Fixed):
        def forget(self) -> None:
            forgotten.append(1)

    for times, good in ((1, True), (2, False)):
        forgotten.clear()
        async with (
            serving(refusing(401, "Unauthorized", "who", times)) as url,
            Client(Access(url, Renewed()), "x") as client,
        ):
            if good:
                assert (await run(client)).code == 0
            else:
                with pytest.raises(UnauthorizedError):
                    await run(client)
        assert forgotten == [1]


# -- who may


async def test_a_deposed_leader_runs_nothing():
    seen: list[web.Request] = []
    fence = Fence()
    async with talking(saying((3, status(0)), seen=seen), through=Fenced(fence)) as client:
        with pytest.raises(DeposedError):
            await run(client)
        assert seen == []
        fence.extend(clock.ticks() + 60)
        assert (await run(client)).code == 0
        # Deposed after the gate, while the connection was made.
        client.may_send = Fence().check
        with pytest.raises(DeposedError):
            await run(client)
        assert len(seen) == 1


async def test_a_command_is_seen_by_whoever_counts_requests():
    seen = []
    async with talking(saying((3, status(0))), observe=lambda *told: seen.append(told)) as client:
        await run(client)
    assert [told[:3] for told in seen] == [("exec", "pods", 101)]


# -- for those who know no Kubernetes


async def test_what_kubernetes_did_not_do_is_a_program_that_was_not_run():
    async with talking(refusing(404, "NotFound", 'pods "p" not found')) as client:
        ran = await in_pod(client, "n", "p", "c")(("squeue",))
    assert (ran.code, ran.stdout) == (NOT_RUN, "")
    assert 'pods "p" not found' in ran.stderr


async def test_half_an_output_is_no_output(monkeypatch):
    monkeypatch.setattr("shoal.kubeapi.exec.LIMIT_BYTES", 10)
    monkeypatch.setitem(execute.__kwdefaults__, "limit", 10)
    async with talking(saying((1, b"x" * 11), (3, status(0)))) as client:
        ran = await in_pod(client, "n", "p", "c")(("squeue",))
    assert ran == Ran(NOT_RUN, "", "it said more than 10 bytes", cut=True)


async def test_a_deposed_leader_is_told_so_even_there():
    async with talking(saying((3, status(0))), through=Fenced(Fence())) as client:
        with pytest.raises(DeposedError):
            await in_pod(client, "n", "p", "c")(("squeue",))


# -- the fake


def fake(**more) -> tuple[FakeClient, Network]:
    network = Network(FakeApi(**more), latency_s=(0, 0), lag_s=(0, 0))
    return FakeClient(network), network


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}


async def test_the_fakes_commands_do_what_a_test_says():
    client, network = fake()
    asked = []

    async def program(*told) -> tuple[int, str, str]:
        asked.append(told)
        return 3, "out", "err"

    with pytest.raises(NotFoundError):
        await execute(client, "default", "p", "c", ("a", "b"))
    await client.create(kinds.POD, POD, dict)
    with pytest.raises(ServerError, match="not in the fake"):
        await execute(client, "default", "p", "c", ("a", "b"))
    network.api.program = program
    assert await execute(client, "default", "p", "c", ("a", "b")) == Ran(3, "out", "err")
    assert asked == [(("default", "p"), "c", ("a", "b"))]
    network.plan(Lost(), "exec")
    with pytest.raises(UnreachableError):
        await execute(client, "default", "p", "c", ("a", "b"))


async def test_the_fake_refuses_commands_that_nobody_declared():
    client, _ = fake(allowed={("create", "pods")})
    await client.create(kinds.POD, POD, dict)
    with pytest.raises(ForbiddenError):
        await execute(client, "default", "p", "c", ("a",))
