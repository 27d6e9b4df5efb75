"""Every refusal as slurmrestd writes it, and the class that the client makes of it."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from shoal.slurmapi import errors
from shoal.slurmapi.transport import QUICK, Http, Message

from .places import SLEEP, Slurm, only_real
from .wire import Said, connected


@dataclass(frozen=True)
class Row:
    """A request, and what each series says to it: HTTP code and error number."""

    method: str
    path: str
    old: tuple[int, int | None]
    new: tuple[int, int | None]
    kind: type[errors.SlurmError]
    body: Any = None
    more: dict[str, Any] = field(default_factory=dict)
    absent: tuple[int, ...] = ()  # as the client says for this path


DRAIN = {"state": ["DRAIN"], "reason": "x"}
NOT_FOUND, BAD = errors.NotFoundError, errors.BadRequestError

ROWS = {
    "an unknown node": Row("GET", "node/nope", (200, 0), (200, 0), NOT_FOUND, absent=(0,)),
    "a hostlist where one name is read": Row(
        "GET", "node/w-%5B0-1%5D", (200, 0), (200, 0), NOT_FOUND, absent=(0,)
    ),
    "an unknown reservation": Row(
        "GET", "reservation/nope", (200, 0), (200, 0), NOT_FOUND, absent=(0,)
    ),
    "an unknown job": Row("GET", "job/999999", (404, 2017), (404, 2017), NOT_FOUND),
    "a change of an unknown node": Row(
        "POST", "node/nope", (500, 2018), (422, 2018), NOT_FOUND, DRAIN
    ),
    "a change of a list with one unknown": Row(
        "POST", "nodes/", (500, 2018), (422, 2018), NOT_FOUND, {"name": ["w-0", "nope"], **DRAIN}
    ),
    "the deletion of an unknown node": Row(
        "DELETE", "node/nope", (500, 2018), (422, 2018), NOT_FOUND
    ),
    "RESUME of a node that serves": Row(
        "POST", "node/w-0", (500, 2028), (422, 2180), errors.RefusedError, {"state": ["RESUME"]}
    ),
    "a state that does not exist": Row(
        "POST", "node/w-0", (500, 9207), (500, 9207), BAD, {"state": ["FLYING"]}
    ),
    "broken JSON": Row("POST", "node/w-0", (400, None), (400, None), BAD, b'{"state":'),
    "another content type": Row(
        "POST", "node/w-0", (400, None), (415, None), BAD, b"{}", {"content_type": "text/plain"}
    ),
    "a plain comma in a path": Row("GET", "node/w-0,w-1", (400, None), (404, None), BAD),
    "a path that is not served": Row(
        "GET", "nodez/", (404, None), (404, None), errors.NoSuchPathError
    ),
    "a version that is not served": Row(
        "GET", "/slurm/v0.0.39/ping/", (404, None), (404, None), errors.NoSuchPathError
    ),
    "a method that is not served": Row(
        "DELETE", "diag/", (404, None), (404, None), errors.NoSuchPathError
    ),
    "a job without an environment": Row(
        *("POST", "job/submit", (500, 2019), (422, 2127), errors.RefusedError),
        {"job": {k: v for k, v in SLEEP.items() if k != "environment"}},
    ),
    "a job for an unknown partition": Row(
        *("POST", "job/submit", (500, 2000), (422, 2000), NOT_FOUND),
        {"job": {**SLEEP, "partition": "nope"}},
    ),
    "a job for an unknown account": Row(
        *("POST", "job/submit", (500, 2045), (422, 2045), errors.RefusedError),
        {"job": {**SLEEP, "account": "nope"}},
    ),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_refusal_is_as_recorded_and_has_its_class(slurm: Slurm, name: str) -> None:
    row = ROWS[name]
    said = await slurm.ask(row.method, row.path, row.body, **row.more)
    code, number = row.old if slurm.old else row.new
    assert (said.code, next(iter(said.numbers), None)) == (code, number), said
    assert isinstance(classified(said, row.absent), row.kind)


async def test_an_unknown_partition_is_an_invalid_query_or_a_mere_warning(slurm: Slurm) -> None:
    said = await slurm.ask("GET", "partition/nope")
    if slurm.old:
        assert (said.code, said.numbers) == (422, [9000])
    else:
        assert (said.code, said.numbers, said.warnings) == (
            200,
            [],
            "Unable to find partition nope",
        )
        assert "partitions" not in said.body


async def test_an_unknown_field_is_a_warning(slurm: Slurm) -> None:
    said = await slurm.ask("POST", "node/w-0", {"colour": "red"})
    assert (said.code, said.numbers) == (200, [])
    assert 'Ignoring unknown field "colour"' in said.warnings


@only_real
async def test_the_newer_series_sends_each_error_twice_on_one_connection(slurm: Slurm) -> None:
    said = await slurm.ask("POST", "node/w-0", {"state": ["RESUME"]})
    if slurm.old:
        assert said.rest == b""
    else:
        assert said.rest.startswith(b"HTTP/1.1 422 ")
        assert said.rest.endswith(b"Invalid node state transition")


@pytest.mark.parametrize("path", ["job/999999", "nodez/"])
async def test_the_client_reads_the_first_of_two_answers(slurm: Slurm, path: str) -> None:
    async with Http(slurm.url) as transport:
        for write in (False, True):
            headers = {"X-SLURM-USER-TOKEN": slurm.token()}
            message = Message("GET", f"/slurm/v0.0.42/{path}", {}, headers, None, write)
            answer = await transport.exchange("GET", message, QUICK)
            assert answer.code == 404


@only_real
async def test_a_connection_that_the_caller_closes_gets_a_stray_line_behind_the_answer(
    slurm: Slurm,
) -> None:
    reader, writer = await connected(slurm.url)
    head = f"GET /slurm/v0.0.42/ping/ HTTP/1.1\r\nHost: x\r\nX-SLURM-USER-TOKEN: {slurm.token()}"
    writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
    said = await reader.read()
    writer.close()
    assert said.endswith(b"}Connection: Close\r\n")


def classified(said: Said, absent: tuple[int, ...]) -> errors.SlurmError:
    """Return what the client makes of an answer."""
    if said.code != 200:
        return errors.failure("x", said.code, said.text.encode(), absent)
    problems = msgspec.convert(said.body["errors"], tuple[errors.Problem, ...])
    return errors.refusal("x", problems, absent)
