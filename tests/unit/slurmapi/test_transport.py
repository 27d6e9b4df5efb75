"""One exchange on a real socket: bounded, sent once, and nothing of the token in any error."""

import asyncio
import socket

import pytest

from fakes.slurmrestd.clients import FakeTokens
from fakes.slurmrestd.faults import Cut, Late, Lost, Says
from fakes.slurmrestd.lines import HOST, Listener
from fakes.slurmrestd.server import FakeServer
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi import transport
from shoal.slurmapi.client import Access, Client
from shoal.slurmapi.errors import (
    SlurmError,
    TimedOutError,
    UnreachableError,
    UnreadableError,
)
from shoal.slurmapi.transport import Http, Limits, Message

SOON = Limits(0.2, 1024 * 1024)
PING = "/slurm/v0.0.45/ping/"


class Place:
    """A fake on a socket, and what is sent to it."""

    def __init__(self, slurm: FakeSlurm, server: FakeServer, http: Http) -> None:
        self.slurm = slurm
        self.server = server
        self.http = http
        self.secret = slurm.token()

    async def send(self, method: str = "GET", path: str = PING, limits: Limits = SOON, **more):
        headers = {"X-SLURM-USER-TOKEN": self.secret}
        message = Message(method, path, headers=headers, **more)
        return await self.http.exchange(f"{method} {path}", message, limits)


@pytest.fixture
async def place():
    slurm = FakeSlurm("26.05")
    slurm.slurmctld.add("w-[0-9]")
    async with FakeServer(slurm) as server, Http(server.url) as http:
        yield Place(slurm, server, http)


async def test_an_answer_comes_whatever_its_code(place):
    assert (await place.send()).code == 200
    assert (await place.send(path="/slurm/v0.0.1/ping/")).code == 404
    place.slurm.plan(Says(304, b""))
    assert (await place.send()).code == 304


async def test_a_server_that_hangs_is_given_up(place):
    place.slurm.plan(Late(float("inf")))
    with pytest.raises(TimedOutError, match=r"no answer within 0\.2 s"):
        await place.send()
    # And holds nobody else up.
    assert (await place.send()).code == 200


async def test_nobody_at_the_address_is_told_at_once(place):
    await place.server.stop()
    with pytest.raises(UnreachableError, match="check that slurmrestd runs") as caught:
        await place.send()
    assert not isinstance(caught.value, TimedOutError)


async def test_a_host_that_swallows_everything_is_given_up(monkeypatch):
    monkeypatch.setattr(transport, "CONNECT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        # Fill what little queue there is, so that nobody answers a new connection.
        jam = [socket.socket() for _ in range(4)]
        for one in jam:
            one.settimeout(0)
            one.connect_ex(("127.0.0.1", port))
        async with Http(f"http://127.0.0.1:{port}") as http:
            with pytest.raises(UnreachableError, match=r"within 0\.[12] s"):
                await http.exchange("GET /", Message("GET", "/"), SOON)
        for one in jam:
            one.close()


async def test_a_body_that_is_cut_is_told_from_no_answer(place):
    place.slurm.plan(Cut(20, line=True), "nodes")
    with pytest.raises(UnreadableError, match="cut short"):
        await place.send(path="/slurm/v0.0.45/nodes/")
    assert (await place.send(path="/slurm/v0.0.45/nodes/")).code == 200


async def test_an_answer_has_a_limit(place):
    small = Limits(1.0, 100)
    with pytest.raises(UnreadableError, match="the answer: it is larger than"):
        await place.send(path="/slurm/v0.0.45/nodes/", limits=small)
    assert (await place.send()).code == 200


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("method", "path"), [("GET", "reconfigure/"), ("DELETE", "node/w-9")])
async def test_a_write_whose_line_is_cut_is_not_sent_again(place, method, path, after):
    place.slurm.plan(Lost(after=after), path)
    with pytest.raises(UnreachableError):
        await place.send(method, f"/slurm/v0.0.45/{path}", write=True)
    assert place.slurm.count(path) == (1 if after else 0)


async def test_a_read_whose_kept_line_is_cut_is_sent_again(place):
    await place.send()
    await place.server.stop()
    await place.server.start()
    assert (await place.send()).code == 200


async def one_answer_per_line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer once, keep the line, and cut it when something more comes: a server that restarts."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    await reader.read(1)


@pytest.mark.parametrize("write", [False, True])
async def test_a_line_that_was_cut_while_it_was_kept_costs_no_call(write):
    async with (
        Listener(one_answer_per_line) as server,
        Http(f"http://{HOST}:{server.port}") as http,
    ):
        for _ in range(3):
            message = Message("GET", "/", write=write)
            assert (await http.exchange("GET /", message, SOON)).code == 200


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_an_error_that_is_sent_twice_is_read_once_and_the_next_call_is_fine(series, write):
    slurm = FakeSlurm(series)
    version = slurm.series.versions[-1]
    async with FakeServer(slurm) as server, Http(server.url) as http:
        place = Place(slurm, server, http)
        for _ in range(3):
            gone = await place.send(path=f"/slurm/v0.0.{version}/job/999", write=write)
            assert (gone.code, b"Invalid job id" in gone.body) == (404, True)
            assert http._free == []
            assert (await place.send(path=f"/slurm/v0.0.{version}/ping/", write=write)).code == 200


async def test_reads_share_a_line_and_writes_do_not(place):
    lines = []
    place.server._begin, begin = (
        lambda *line: (lines.append(line), begin(*line)),
        place.server._begin,
    )
    await place.server.stop()
    await place.server.start()
    for _ in range(3):
        await place.send()
    assert place.server.lines == 1
    for _ in range(3):
        await place.send("POST", "/slurm/v0.0.45/nodes/", write=True)
    assert place.server.lines == 4
    # Nor does slurmrestd have to hold theirs.
    assert len(place.http._free) == 1


async def test_many_at_once_have_few_lines(place):
    lines = []
    place.server._begin, begin = (
        lambda *line: (lines.append(line), begin(*line)),
        place.server._begin,
    )
    await place.server.stop()
    await place.server.start()
    answers = await asyncio.gather(*(place.send(limits=Limits(5, 10_000)) for _ in range(50)))
    assert {answer.code for answer in answers} == {200}
    assert place.server.lines <= transport.CONNECTIONS


@pytest.fixture
def asked(monkeypatch):
    """Give the names that a resolver was asked for; all of them are here."""
    names = []

    async def look_up(host, port, **_):
        names.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (HOST, port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", lambda _, *a, **k: look_up(*a, **k))
    return names


async def test_many_writes_ask_the_resolver_once_and_again_after_a_while(place, asked, monkeypatch):
    port = place.server.url.rpartition(":")[2]
    async with Http(f"http://slurm-restapi.slurm.svc:{port}") as http:
        place.http = http
        for _ in range(20):
            await place.send("POST", "/slurm/v0.0.45/nodes/", write=True)
        assert asked == ["slurm-restapi.slurm.svc"]
        monkeypatch.setattr(transport, "KNOWN_S", 0.0)
        http._known = (HOST, 0.0)
        await place.send("POST", "/slurm/v0.0.45/nodes/", write=True)
        await place.send("POST", "/slurm/v0.0.45/nodes/", write=True)
        assert len(asked) == 3


async def test_an_address_at_which_nobody_answers_is_looked_up_anew(place, asked):
    port = place.server.url.rpartition(":")[2]
    async with Http(f"http://slurm-restapi.slurm.svc:{port}") as http:
        place.http = http
        assert (await place.send(write=True)).code == 200
        await place.server.stop()
        with pytest.raises(UnreachableError):
            await place.send(write=True)
        await place.server.start()
        assert (await place.send(write=True)).code == 200
        assert len(asked) == 2


async def test_a_caller_that_no_longer_waits_takes_its_line_along(place):
    await place.send()
    place.slurm.plan(Late(float("inf")))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await place.send(limits=Limits(5, 10_000))
    assert place.http._free == []
    assert (await place.send()).code == 200


@pytest.mark.parametrize("name", ["X-SLURM-USER-NAME", "X-SLURM-USER-TOKEN"])
async def test_a_line_break_makes_no_header_of_somebodys_choice(place, name):
    message = Message("GET", PING, headers={name: "alice\r\nX-SLURM-USER-NAME: root"})
    with pytest.raises(ValueError, match="only printable characters"):
        await place.http.exchange("GET", message, SOON)
    assert place.slurm.requests == []


async def test_a_prefix_of_the_address_goes_before_every_path(place):
    async with Http(place.server.url + "/slurm/") as http:
        message = Message("GET", PING.removeprefix("/slurm"), headers={"X-SLURM-USER-TOKEN": "x"})
        assert (await http.exchange("GET", message, SOON)).code == 200


@pytest.mark.parametrize("url", ["", "host:6820", "ftp://host", "http://"])
def test_an_address_that_is_none_is_told_so(url):
    with pytest.raises(ValueError, match="must be like http://host:6820"):
        Http(url)


async def test_a_server_that_does_not_speak_tls_is_given_up(place, monkeypatch):
    monkeypatch.setattr(transport, "CONNECT_S", 0.1)
    async with Http(place.server.url.replace("http", "https")) as http:
        with pytest.raises(UnreachableError, match=r"no connection within 0\.1 s"):
            await http.exchange("GET", Message("GET", PING), Limits(2, 10_000))
    assert place.slurm.requests == []


async def test_a_percent_encoded_name_stays_encoded(place):
    answer = await place.send("DELETE", "/slurm/v0.0.45/node/w-%5B0-1%5D%2Cw-9", write=True)
    assert answer.code == 200
    assert sorted(place.slurm.slurmctld.nodes) == [f"w-{n}" for n in range(2, 9)]


async def test_a_query_is_encoded_beside_an_encoded_path(place):
    query = {"flags": "A B&c,d/e"}
    # A plain comma or slash in a query is an "Unspecified error" to slurmrestd.
    assert (await place.send(path="/slurm/v0.0.45/node/w-%2C", query=query)).code == 200
    assert place.slurm.requests[-1] == "GET /slurm/v0.0.45/node/w-%2C?flags=A B&c,d/e"


async def test_a_client_that_was_not_opened_says_so():
    with pytest.raises(AssertionError, match="before `async with`") as caught:
        await Http("http://127.0.0.1:1").exchange("GET /", Message("GET", "/"), SOON)
    assert "client" in str(caught.value)


def everything_said(error: BaseException | None) -> str:
    """Return all that a log could show of an error and its causes."""
    said = ""
    while error is not None:
        said += f"{error!s} {error!r} {error.args!r} {vars(error)!r}"
        error = error.__cause__ or error.__context__
    return said


FAULTS = [
    Late(float("inf")),
    Lost(),
    Cut(10),
    Cut(10, line=True),
    Says(500, b""),
    Says(401, b"Authentication failure", "text/plain"),
    Says(200, {"errors": [{"error_number": 2010, "error": "Invalid user id"}]}),
]


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_no_error_shows_the_token(fault, caplog):
    slurm = FakeSlurm()
    slurm.slurmctld.add("w-0")
    tokens = FakeTokens(slurm)
    secret = (await tokens.header())["x-slurm-user-token"]
    async with FakeServer(slurm) as server, Client(Access(server.url, tokens)) as client:
        await client.known()
        slurm.plan(fault, "node/", times=-1)
        with pytest.raises(SlurmError) as caught:
            async with asyncio.timeout(10):
                await _impatient(client).nodes.one("w-0")
        assert secret not in everything_said(caught.value) + caplog.text
    assert secret not in repr(Access("http://x", tokens)) + repr(client)
    assert secret not in repr(Message("GET", "/", headers={"X-SLURM-USER-TOKEN": secret}))


def _impatient(client: Client) -> Client:
    """Return the client with no patience for single things."""
    exchange = client._transport.exchange

    async def soon(call, message, limits):
        return await exchange(call, message, Limits(0.2, limits.body_bytes))

    client._transport.exchange = soon
    return client


async def test_a_client_closes_what_it_opened():
    slurm = FakeSlurm()
    async with FakeServer(slurm) as server:
        async with Client(Access(server.url, FakeTokens(slurm))) as client:
            await client.known()
        with pytest.raises(AssertionError, match="before `async with`"):
            await client.nodes.all()
    assert slurm.count("nodes") == 0
