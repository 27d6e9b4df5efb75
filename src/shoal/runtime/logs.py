"""Logs: a constant event and key/values, one line each, to stderr; a secret is never among them."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

import msgspec
import structlog

Format = Literal["json", "plain"]

# The names that zap and the seeds give. Nothing here panics: the last three are one level to us.
LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "dpanic": logging.CRITICAL,
    "panic": logging.CRITICAL,
    "fatal": logging.CRITICAL,
}
FORMATS: Mapping[str, Format] = {"json": "json", "plain": "plain", "console": "plain"}

HIDDEN = "***"
_SECRET_WORDS = (
    r"token|authorization|passw(?:or)?d|passphrase|jwt|private[_-]?key|key[_-]?data|client[_-]?key"
    r"|client[_-]?secret|secret[_-]?key|api[_-]?key|auth[_-]?key|cookie|credentials?"
)
_SECRET_KEY = re.compile(rf"(?i)[\w.-]*(?:{_SECRET_WORDS})s?")
# In any text, an error's or a traceback's: what a header, a JWT, a PEM key or a URL looks like, and
# a value right behind a telling name. "token: expired" stays: only quoted and `=` values go.
_SECRET_TEXT = re.compile(
    r"(?P<scheme>\b(?:Bearer|Basic)\s+)[\w.~+/=-]{6,}"
    r"|\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|(?P<url>://[^\s:/@]+:)[^\s/@]+(?=@)"
    rf"|(?P<named>(?:{_SECRET_WORDS})s?(?:\\?[\"'])?\s*(?:=|:(?=\s*\\?[\"']))\s*)"
    r"(?:\\?\"[^\"]*\"|'[^']*'|[^\s,;&)}\]]+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Style:
    """How much is logged, and how it looks."""

    level: int = logging.INFO
    form: Format = "json"


def style(level: str = "info", form: str = "json") -> Style:
    """Understand the words of the command line; a number is zap's verbosity, so debug."""
    word = level.strip().lower()
    # zap writes V(1) and more as debug; there is nothing below it here.
    known = logging.DEBUG if word.isdecimal() and int(word) > 0 else LEVELS.get(word)
    if known is None:
        raise ValueError(f"log level {level!r}: one of {', '.join(LEVELS)}")
    if form.strip().lower() not in FORMATS:
        raise ValueError(f"log format {form!r}: one of {', '.join(FORMATS)}")
    return Style(known, FORMATS[form.strip().lower()])


def set_up(chosen: Style, stream: TextIO | None = None) -> None:
    """Send what this process logs, and what the libraries in it log, to `stream` (stderr)."""
    _configure(chosen, stream)
    # What a library finds worth telling is one step less so to whoever reads our log.
    logging.basicConfig(handlers=[_Forward()], level=chosen.level + 10, force=True)


def set_up_if_nobody_has() -> None:
    """Log as `Style()` says, unless this process has said how; leave the libraries alone.

    structlog's own default takes milliseconds for a traceback, shows what the local variables hold,
    and knows no secrets.
    """
    if not structlog.is_configured():
        _configure(Style(), None)


def _configure(chosen: Style, stream: TextIO | None) -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            _level,
            # Before the secrets are hidden, so that a traceback's are, too.
            structlog.processors.ExceptionRenderer(),
            hide_secrets,
            _as_json if chosen.form == "json" else _as_text,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(chosen.level),
        # Whatever stderr is by then: tests and daemons change it.
        logger_factory=lambda *_: structlog.WriteLogger(stream or sys.stderr),
        # Modules make their loggers when they are imported, before anybody has called this.
        cache_logger_on_first_use=False,
    )


def hide_secrets(
    _: object, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:  # the shape of a structlog processor
    """Return the event without the values that nobody may read in a log."""
    return {key: _shown(key, value) for key, value in event.items()}


def hide(text: str) -> str:
    """Return `text` without what looks like a credential."""
    return _SECRET_TEXT.sub(_kept, text)


def _shown(key: str, value: Any) -> Any:  # noqa: ANN401 - whatever is logged
    if value is None or isinstance(value, bool | int | float):
        return value
    return HIDDEN if _SECRET_KEY.fullmatch(key) else _inside(value)


def _inside(value: Any) -> Any:  # noqa: ANN401 - whatever is logged
    match value:
        case str() | bytes():
            return hide(value if isinstance(value, str) else value.decode(errors="replace"))
        case {"kind": "Secret"}:
            named = ("kind", "metadata")
            return {k: _shown(k, v) if k in named else HIDDEN for k, v in value.items()}
        case Mapping():
            return {str(k): _shown(str(k), v) for k, v in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_shown("", item) for item in value]
        case _:
            return hide(repr(value))


def _kept(found: re.Match[str]) -> str:
    before = found["scheme"] or found["url"] or found["named"] or ""
    return before + HIDDEN


def _level(_: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event["level"] = {"warning": "warn", "exception": "error", "critical": "fatal"}.get(
        method, method
    )
    return event


def _as_json(_: object, __: str, event: MutableMapping[str, Any]) -> str:
    # zap's names and order, which log pipelines of both upstream operators look for.
    first = {"ts": event.pop("ts"), "level": event.pop("level"), "msg": event.pop("event")}
    return msgspec.json.encode({**first, **event}, enc_hook=repr).decode()


def _as_text(_: object, __: str, event: MutableMapping[str, Any]) -> str:
    trace = event.pop("exception", None)
    head = f"{event.pop('ts')} {event.pop('level'):<5} {event.pop('event')}"
    line = " ".join([head, *(f"{key}={_word(value)}" for key, value in event.items())])
    return f"{line}\n{trace}" if trace else line


def _word(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=repr).decode()
    # One line for each event, whatever is in it.
    return repr(text) if not text or re.search(r"[\s=\"]", text) else text


class _Forward(logging.Handler):
    """Passes on what libraries log, in our form."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log it as ours."""
        level = min(record.levelno // 10 * 10, logging.CRITICAL)
        exc_info = record.exc_info or None
        structlog.get_logger().log(
            level, record.getMessage(), logger=record.name, exc_info=exc_info
        )
