"""Which answer is which error."""

import msgspec
import pytest

from shoal.kubeapi import errors
from shoal.kubeapi.errors import refusal


def status(code: int, reason: str = "", message: str = "words", **more) -> bytes:
    return msgspec.json.encode(
        {"kind": "Status", "code": code, "reason": reason, "message": message, **more}
    )


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", errors.InvalidError),
        (401, "Unauthorized", errors.UnauthorizedError),
        (403, "Forbidden", errors.ForbiddenError),
        (404, "NotFound", errors.NotFoundError),
        (409, "AlreadyExists", errors.ExistsError),
        (409, "Conflict", errors.ConflictError),
        (410, "Expired", errors.GoneError),
        (410, "Gone", errors.GoneError),
        (422, "Invalid", errors.InvalidError),
        (429, "TooManyRequests", errors.BusyError),
        (500, "InternalError", errors.ServerError),
        (503, "ServiceUnavailable", errors.ServerError),
        (504, "Timeout", errors.ServerError),
        (415, "UnsupportedMediaType", errors.RefusedError),
    ],
)
def test_every_refusal_has_its_error(code, reason, kind):
    error = refusal("GET /x", code, status(code, reason))
    assert type(error) is kind
    assert str(error) == "GET /x: words"


def test_a_list_that_expired_is_gone_whatever_the_code():
    # A watch tells it in an event, whose own code is 200.
    assert type(refusal("GET /x", 200, status(410, "Expired"))) is errors.GoneError


def test_the_single_reasons_are_kept():
    causes = [{"reason": "FieldManagerConflict", "message": "m", "field": ".spec.replicas"}]
    error = refusal("PATCH /x", 409, status(409, "Conflict", details={"causes": causes}))
    assert error.causes == (errors.Cause(".spec.replicas", "m", "FieldManagerConflict"),)


def test_a_refusal_without_details_has_no_reasons():
    assert refusal("GET /x", 404, status(404)).causes == ()


def test_plain_text_of_a_proxy_is_kept_as_it_is():
    error = refusal("GET /x", 502, b"<html>Bad Gateway</html>")
    assert type(error) is errors.ServerError
    assert "Bad Gateway" in str(error)


def test_long_plain_text_is_cut():
    assert len(str(refusal("GET /x", 502, b"x" * 100_000))) < 600


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'{"code": "many"}', b"\xff"])
def test_an_answer_without_words_still_names_the_call(body):
    error = refusal("GET /x", 500, body)
    assert type(error) is errors.ServerError
    assert str(error).startswith("GET /x: ")


@pytest.mark.parametrize(
    ("body", "header", "seconds"),
    [
        (status(429, details={"retryAfterSeconds": 7}), None, 7),
        (b"Too many requests, please try again later.", "1", 1),
        (status(429, details={"retryAfterSeconds": 2}), "5", 5),
        (status(429), None, 0),
        (status(429), "Wed, 21 Oct 2026 07:28:00 GMT", 0),
    ],
)
def test_when_to_come_back_is_told_by_the_body_or_the_header(body, header, seconds):
    assert refusal("GET /x", 429, body, header).retry_after_s == seconds


def test_all_are_errors_of_the_api():
    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert all(issubclass(kind, errors.ApiError) for kind in kinds)
