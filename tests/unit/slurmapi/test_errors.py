"""What each answer means: by its error number, never by the HTTP code alone."""

import json

import msgspec
import pytest

from fakes.slurmrestd.series import WORDS
from shoal.slurmapi import errors
from shoal.slurmapi.errors import (
    BadRequestError,
    BadTokenError,
    BusyError,
    ControllerDownError,
    DatabaseDownError,
    ExistsError,
    MissingError,
    NoSuchPathError,
    NotAllowedError,
    NotFoundError,
    RefusedError,
    SlurmError,
    TimedOutError,
    UnknownError,
    UnreachableError,
    UnreadableError,
    failure,
)
from shoal.slurmapi.transport import Answer
from shoal.slurmapi.wire import Envelope, Request, decoded

ENVELOPE = msgspec.json.Decoder(Envelope)


def errors_body(number: int, error: str, description: str = "") -> bytes:
    problem = {"error_number": number, "error": error, "description": description, "source": "x"}
    return json.dumps({"nodes": [], "errors": [problem], "warnings": []}).encode()


def meant(code: int, body: bytes, absent: tuple[int, ...] = (), method: str = "GET"):
    """Return what the answer to a call is, as the wire finds out: an error, or None."""
    request = Request(method, "node/w-1", "nodes", absent=absent, write=method != "GET")
    if code >= 400:
        return failure(str(request), code, body, absent)
    try:
        decoded(request, Answer(code, body), ENVELOPE)
    except SlurmError as error:
        return error
    return None


def no(number: int, description: str = "") -> bytes:
    return errors_body(number, WORDS.get(number, "New error"), description)


# Every row of the observed answers that says no, both series where they differ.
ROWS = {
    "unknown job": (404, no(2017), NotFoundError),
    "update of an unknown node, 24.11": (500, no(2018), NotFoundError),
    "update of an unknown node, 26.05": (422, no(2018), NotFoundError),
    "deletion of a node with jobs, 24.11": (500, no(2016), BusyError),
    "deletion of a node with jobs, 26.05": (422, no(2016), BusyError),
    "resume of a node that is not down, 24.11": (500, no(2028), RefusedError),
    "resume of a node that is not down, 26.05": (422, no(2180), RefusedError),
    "not allowed, 24.11": (500, no(2010), NotAllowedError),
    "not allowed, 26.05": (422, no(2010), NotAllowedError),
    "bad enum in the body": (500, no(9207), BadRequestError),
    "bad JSON": (400, b"Unable to parse request body", BadRequestError),
    "wrong Content-Type, 24.11": (400, b"Unknown mime type", BadRequestError),
    "wrong Content-Type, 26.05": (415, b"Unknown mime type", BadRequestError),
    "comma in the path, 24.11": (400, b"Unable to parse URL path", BadRequestError),
    "comma in the path, 26.05": (404, b"Unable to find requested URL", NoSuchPathError),
    "wrong path, version or method": (404, b"Unable to find requested URL", NoSuchPathError),
    "bad or expired token": (511, no(1007), BadTokenError),
    "no token": (401, b"Authentication failure", BadTokenError),
    "bad token at slurmdbd, 24.11": (502, no(7000, "authentication error"), BadTokenError),
    "bad token at slurmdbd, 26.05": (502, no(7000), DatabaseDownError),
    "slurmctld is down": (502, no(1800), ControllerDownError),
    "slurmctld hangs": (504, no(5004), ControllerDownError),
    "slurmdbd is down": (502, no(7000), DatabaseDownError),
    "creation of a node that exists": (422, no(2168), ExistsError),
    "deletion of a partition with jobs": (422, no(2075), BusyError),
    "submission without environment, 24.11": (500, no(2019), RefusedError),
    "submission without environment, 26.05": (422, no(2127), RefusedError),
    "submission to a partition that is not there": (422, no(2000), NotFoundError),
    "submission without an association": (500, no(2045), RefusedError),
    "submission by nobody, 26.05": (500, no(6010), BadTokenError),
    "nodes changed and partitions did not, 24.11": (500, no(-1), RefusedError),
    # Not seen, but possible.
    "a 200 that lists errors": (200, no(2010), NotAllowedError),
    "a list that is cut short": (200, b'{"nodes": [{"name": "w-', UnreadableError),
    "an error that is cut short": (500, b'{"errors": [{"descr', UnreadableError),
    "somebody else's page": (200, b"<html>welcome</html>", UnreadableError),
    "nothing at all": (200, b"", UnreadableError),
    "a proxy without slurmrestd": (503, b"no healthy upstream", UnreachableError),
    "a proxy's own 502": (502, b"Bad Gateway", UnreachableError),
    "a crash": (500, b"", UnknownError),
    "a release too far away": (500, no(1005), UnknownError),
    "a limit of requests": (500, no(1804), BusyError),
    "a number nobody knows": (422, no(4711), RefusedError),
    "no change, said to a read that did not ask for it": (304, b"", UnreadableError),
    "an error without a number, where nothing was looked up": (200, no(0), RefusedError),
}


@pytest.mark.parametrize(("code", "body", "kind"), ROWS.values(), ids=ROWS)
def test_every_answer_that_says_no_has_its_class(code, body, kind):
    assert type(meant(code, body)) is kind


# What means "there is no such thing" only where one thing was asked for by its name.
LOOKED_UP = {
    "unknown node": (200, no(0, "Failure to query node nope")),
    "unknown reservation": (200, no(0, "Unable to find reservation nope")),
    "unknown partition, 24.11": (422, no(9000)),
}


@pytest.mark.parametrize(("code", "body"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_what_is_not_there_is_told_by_numbers_that_mean_so_in_that_call_only(code, body):
    assert type(meant(code, body, absent=(0, 9000))) is NotFoundError
    assert type(meant(code, body)) is not NotFoundError


# DELETE of an unknown job, unknown body fields, unchanged jobs, slurmdbd's "found nothing", an
# upsert: all of these come as a 200 with at most a warning.
GOOD = [
    ("GET", 200, b'{"errors": [], "warnings": []}'),
    ("GET", 200, b'{"errors": [], "warnings": [{"description": "... found nothing"}]}'),
    ("POST", 200, b'{"warnings": [{"description": "Ignoring unknown field"}], "errors": []}'),
    ("DELETE", 200, b'{"errors": []}'),
    ("POST", 304, b""),  # an association that is there already
    ("DELETE", 204, b""),
]


@pytest.mark.parametrize(("method", "code", "body"), GOOD)
def test_a_warning_is_no_error_and_a_write_that_changes_nothing_is_done(method, code, body):
    assert meant(code, body, method=method) is None


def test_what_says_nothing_about_the_cluster_is_one_family():
    silent = {kind for _, _, kind in ROWS.values() if issubclass(kind, UnknownError)}
    assert silent >= {UnreadableError, ControllerDownError, DatabaseDownError, UnreachableError}
    assert issubclass(TimedOutError, UnreachableError)
    # Whoever waits on UnknownError does not wait on a no.
    for kind in (NotFoundError, BadTokenError, BusyError, BadRequestError):
        assert not issubclass(kind, UnknownError)


def test_a_message_names_the_call_what_slurm_says_and_the_cure():
    error = meant(500, no(2010, "Failure to update node w-1"))
    assert str(error) == (
        "GET /node/w-1: Invalid user id: Failure to update node w-1 "
        "(give the token's user AdminLevel=Administrator, or use a token of SlurmUser)"
    )
    assert (error.call, error.number) == ("GET /node/w-1", 2010)


def test_no_error_is_not_said_of_an_error():
    error = meant(200, no(0, "Failure to query node nope"), (0,))
    assert str(error) == "GET /node/w-1: Failure to query node nope"


def test_a_long_page_does_not_fill_the_log():
    assert len(str(meant(500, b"<html>" * 10_000))) < 500


def test_the_number_that_tells_most_decides_among_several():
    both = {
        "errors": [
            {"error_number": 0, "error": "No error", "description": "at #/state/"},
            {"error_number": 2018, "error": "Invalid node name specified"},
        ]
    }
    assert type(meant(500, json.dumps(both).encode())) is NotFoundError


def kinds(kind: type[SlurmError] = SlurmError) -> list[type[SlurmError]]:
    below = [k for k in kind.__subclasses__() if k.__module__ == errors.__name__]
    return [kind, *(deep for k in below for deep in kinds(k))]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_an_error_can_be_told_of_another_call(kind):
    told = kind("GET /a", "why", 7, "do that").of("GET /b")
    assert type(told) is kind
    assert str(told) == "GET /b: why (do that)"
    assert told.number == 7


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_the_tree_in_the_module_shows_every_class(kind):
    assert f" {kind.__name__} " in errors.__doc__.replace("\n", " \n")


# Families of classes, cases that speak for themselves, and what is said by the code that raises.
SPEAKS_FOR_ITSELF = {
    SlurmError,
    RefusedError,
    NotFoundError,
    ExistsError,
    BadRequestError,
    MissingError,
}


@pytest.mark.parametrize("kind", sorted(set(kinds()) - SPEAKS_FOR_ITSELF, key=lambda k: k.__name__))
def test_an_error_says_what_the_user_should_do(kind):
    assert str(kind("GET /a", "why")).endswith(f"({kind.cure})")
    assert kind.cure
