"""What a log line says, and what it never says."""

import io
import json
import logging
from types import SimpleNamespace

import pytest
import structlog

from shoal.runtime import logs

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl"
PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIabc\n-----END EC PRIVATE KEY-----"


@pytest.fixture
def written():
    """Give a function that sets logging up and returns the stream; everything is undone after."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level

    def start(level: str = "info", form: str = "json") -> io.StringIO:
        stream = io.StringIO()
        logs.set_up(logs.style(level, form), stream)
        return stream

    yield start
    structlog.reset_defaults()
    root.handlers[:] = before
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def log_failure(error: Exception) -> None:
    structlog.get_logger().error("pass failed", exc_info=error)


@pytest.mark.parametrize(
    "level",
    ["debug", "info", "warn", "error", "dpanic", "panic", "fatal", "warning", "INFO", "1", "3"],
)
def test_every_level_that_the_seeds_name_is_understood(level):
    assert logging.DEBUG <= logs.style(level).level <= logging.CRITICAL


@pytest.mark.parametrize(
    ("form", "meant"), [("json", "json"), ("plain", "plain"), ("console", "plain")]
)
def test_every_format_that_the_seeds_name_is_understood(form, meant):
    assert logs.style("info", form).form == meant


@pytest.mark.parametrize(("level", "form"), [("loud", "json"), ("0", "json"), ("info", "xml")])
def test_an_unknown_word_is_refused_with_the_known_ones(level, form):
    with pytest.raises(ValueError, match="one of"):
        logs.style(level, form)


def test_a_json_line_has_the_names_that_log_pipelines_look_for(written):
    stream = written()
    structlog.get_logger().warning("pass failed", controller="nodeset", key=("ns", "w"))
    (line,) = lines(stream)
    assert list(line)[:3] == ["ts", "level", "msg"]
    assert (line["level"], line["msg"], line["key"]) == ("warn", "pass failed", ["ns", "w"])


def test_times_are_utc(written):
    stream = written()
    structlog.get_logger().info("leading")
    assert str(lines(stream)[0]["ts"]).endswith("Z")


def test_a_plain_line_is_one_line_whatever_is_in_it(written):
    stream = written(form="plain")
    structlog.get_logger().info("pass failed", error="two\nlines", empty="", again_s=0.5)
    (line,) = stream.getvalue().splitlines()
    assert line.endswith("info  pass failed error='two\\nlines' empty='' again_s=0.5")


def test_what_is_below_the_level_is_not_written(written):
    stream = written("error")
    structlog.get_logger().warning("lease not renewed")
    assert stream.getvalue() == ""


def test_a_logger_made_before_the_set_up_obeys_it(written):
    early = structlog.get_logger()
    stream = written()
    early.info("leading")
    assert lines(stream)[0]["msg"] == "leading"


def test_a_logger_that_was_used_obeys_the_next_set_up(written):
    log = structlog.get_logger()
    first = written()
    log.info("one")
    second = written()
    log.info("two")
    assert [line["msg"] for line in lines(first)] == ["one"]
    assert [line["msg"] for line in lines(second)] == ["two"]


def test_who_says_nothing_about_logs_gets_ours_without_secrets(written, capsys):
    structlog.reset_defaults()
    logs.set_up_if_nobody_has()
    log_failure(RuntimeError("401 for Bearer s3cr3t-value"))
    structlog.get_logger().debug("too much")
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert line["msg"] == "pass failed"
    assert "s3cr3t" not in str(line)


def test_who_has_said_something_about_logs_is_obeyed(written, capsys):
    stream = written(form="plain")
    logs.set_up_if_nobody_has()
    structlog.get_logger().info("leading")
    assert stream.getvalue().endswith("leading\n")
    assert capsys.readouterr().err == ""


def test_logs_that_nobody_asked_for_leave_the_libraries_alone(written):
    structlog.reset_defaults()
    before = logging.getLogger().handlers[:]
    logs.set_up_if_nobody_has()
    assert logging.getLogger().handlers == before


def test_logs_go_to_what_stderr_is_by_then(written, capsys, monkeypatch):
    logs.set_up(logs.style())
    later = io.StringIO()
    monkeypatch.setattr("sys.stderr", later)
    structlog.get_logger().info("leading")
    assert lines(later)[0]["msg"] == "leading"


def test_an_exception_in_a_library_keeps_its_trace(written):
    stream = written()
    failure = RuntimeError("a bug")
    logging.getLogger("aiohttp.server").error("Error handling request", exc_info=failure)
    assert "RuntimeError: a bug" in str(lines(stream)[0]["exception"])


def test_a_library_logs_in_our_form(written):
    stream = written()
    logging.getLogger("aiohttp.server").error("Error handling request")
    (line,) = lines(stream)
    assert (line["logger"], line["level"]) == ("aiohttp.server", "error")


def test_a_library_is_a_step_less_loud_than_we_are(written):
    stream = written("info")
    logging.getLogger("aiohttp.access").info("GET /healthz")
    assert stream.getvalue() == ""


def test_an_exception_keeps_its_trace(written):
    stream = written()
    log_failure(RuntimeError("a bug"))
    assert "RuntimeError: a bug" in str(lines(stream)[0]["exception"])


SECRETS = {
    "a telling key": {"token": "s3cr3t-value"},
    "a telling key's end": {"slurm_jwt": "s3cr3t-value", "X-SLURM-USER-TOKEN": "s3cr3t-value"},
    "a nested key": {"request": {"headers": {"Authorization": "s3cr3t-value"}}},
    "a key in a list": {"users": [{"password": "s3cr3t-value"}]},
    "a header in a text": {"error": "GET /x with Authorization: Bearer s3cr3t-value"},
    "bytes": {"body": b"Bearer s3cr3t-value"},
    "a Secret": {"obj": {"kind": "Secret", "data": {"x": "s3cr3t-value"}}},
    "JSON in a text": {"error": 'refused {"token": "s3cr3t-value"}'},
    "JSON in JSON": {"error": r'refused {\"token\": \"s3cr3t-value\"}'},
    "a repr in a text": {"error": "refused {'client-key-data': 's3cr3t-value'}"},
    "a query": {"url": "https://x/y?access_token=s3cr3t-value&z=1"},
    "a URL": {"url": "https://user:s3cr3t-value@host/x"},
    "some object's repr": {"thing": SimpleNamespace(password="s3cr3t-value")},
}  # fmt: skip


@pytest.mark.parametrize("case", SECRETS)
@pytest.mark.parametrize("form", ["json", "plain"])
def test_a_secret_is_never_written(written, case, form):
    stream = written(form=form)
    structlog.get_logger().info("request", **SECRETS[case])
    assert "s3cr3t" not in stream.getvalue()
    assert "***" in stream.getvalue()


@pytest.mark.parametrize("secret", [JWT, PEM])
def test_a_key_or_a_token_is_known_by_its_looks(written, secret):
    stream = written()
    structlog.get_logger().info("said", output=f"before {secret} after")
    assert lines(stream)[0]["output"] == "before *** after"


def test_a_secret_in_a_traceback_is_never_written(written):
    stream = written()
    log_failure(RuntimeError("401 for Bearer s3cr3t-value"))
    assert "s3cr3t" not in stream.getvalue()


@pytest.mark.parametrize(
    "harmless",
    [
        {"key": ["ns", "name"]},
        {"secret": "slurm-auth"},
        {"error": "the token: expired"},
        {"token_file": "/var/run/token"},
        {"tokens": 3},
        {"error": "credential plugin x: exit 1"},
        {"digest": "0123456789abcdef0123456789abcdef"},
    ],
)
def test_what_is_no_secret_stays_readable(written, harmless):
    stream = written()
    structlog.get_logger().info("said", **harmless)
    assert {key: lines(stream)[0][key] for key in harmless} == harmless
