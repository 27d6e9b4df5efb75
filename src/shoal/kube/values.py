"""Checks of names and values that every custom resource may need. Pure."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from .durations import duration
from .fields import DURATION
from .findings import Doubtful, Findings, Lookups, Wrong
from .kinds import Kind

# RFC 1035: what a Service is called; RFC 1123: what a pod is called.
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
# Its pods have a label with its name, a dash and a hash of ten digits (kubernetes#64023).
STATEFUL_SET_LENGTH = 52


# -- names


def label(field: str, text: str, what: str, longest: int = LABEL_LENGTH) -> Findings:
    """Check the name of a pod or a hostname."""
    yield from _name(field, text, what, longest, _LABEL)


def service_name(field: str, text: str, what: str, longest: int = LABEL_LENGTH) -> Findings:
    """Check the name of a Service, or of something that shares a name with one."""
    yield from _name(field, text, what, longest, _SERVICE)


def subdomain(field: str, text: str, what: str) -> Findings:
    """Check the name of any other object."""
    yield from _name(field, text, what, SUBDOMAIN_LENGTH, _SUBDOMAIN)


def _name(field: str, text: str, what: str, longest: int, form: re.Pattern[str]) -> Findings:
    if len(text) > longest:
        over = len(text) - longest
        yield Wrong(
            field, f"makes {what} {text!r}, {over} characters too long; shorten it by {over}"
        )
    elif not form.fullmatch(text):
        letter = ", starting with a letter" if form is _SERVICE else ""
        dots = ", dots" if form is _SUBDOMAIN else ""
        yield Wrong(
            field,
            f"makes {what} {text!r}, which Kubernetes refuses;"
            f" use lower-case letters, digits{dots} and dashes within{letter}",
        )


def existing(kind: Kind, namespace: str, refs: Mapping[str, str], ask: Lookups) -> Findings:
    """Warn of objects that are not there yet."""
    for field, name in refs.items():
        if name and ask.find(kind, namespace, name) is None:
            yield Doubtful(field, f"there is no {kind.kind} {name!r} yet; it waits for one")


# -- values


def at_least(least: int, values: Mapping[str, int | None]) -> Findings:
    """Check numbers."""
    for field, value in values.items():
        if value is not None and value < least:
            yield Wrong(field, f"must be {least} or more, got {value}")


def ports(values: Mapping[str, int | None]) -> Findings:
    """Check port numbers; 0 stands for the usual one."""
    for field, value in values.items():
        if value is not None and not 0 <= value <= 65535:
            yield Wrong(field, f"must be a port from 1 to 65535, got {value}")


def lasting(field: str, text: str, least: timedelta) -> Findings:
    """Check a duration as Go writes it."""
    try:
        found = duration(text, field)
    except ValueError as error:
        yield Wrong(field, str(error).removeprefix(f"{field}: "))
        return
    if found < least:
        yield Wrong(field, f"must be {least.total_seconds():g} s or more, got {text!r}")


def share(field: str, value: int | str) -> Findings:
    """Check a number of pods, or a share of them."""
    if isinstance(value, int):
        if value < 1:
            yield Wrong(field, f"maxUnavailable must be > 0, got {value}")
    elif not re.fullmatch(r"[0-9]+%", value):
        yield Wrong(field, f"{value!r} is neither a number nor a share; write it as 2 or 25%")
    elif int(value[:-1]) == 0:
        yield Wrong(field, f"maxUnavailable must be > 0, got {value}")


# Years, weeks and days have one length each for Prometheus.
_PROMETHEUS_MS = {
    "y": 31536000000, "w": 604800000, "d": 86400000, "h": 3600000, "m": 60000, "s": 1000, "ms": 1,
}  # fmt: skip
_PROMETHEUS = re.compile(DURATION)
_PIECE = re.compile(r"([0-9]+)(ms|[ywdhms])")


def scraped(field: str, interval: str | None, timeout: str | None) -> Findings:
    """Check how often Prometheus reads something, and how long it waits for it."""
    for name, text in (("interval", interval), ("scrapeTimeout", timeout)):
        if text and not _PROMETHEUS.fullmatch(text):
            message = f"{text!r} is no duration; write it as 30s or 1m30s"
            yield Wrong(f"{field}.{name}", message)
            return
    if interval and timeout and _milliseconds(timeout) > _milliseconds(interval):
        yield Wrong(
            f"{field}.scrapeTimeout",
            f"{timeout} is longer than the interval, {interval}; shorten it",
        )


def _milliseconds(text: str) -> int:
    return sum(int(number) * _PROMETHEUS_MS[unit] for number, unit in _PIECE.findall(text))


def nul(path: str, value: Any) -> Findings:  # noqa: ANN401 - any JSON
    """Check that no text holds a NUL, which ends a text for everything written in C."""
    if isinstance(value, str):
        if "\0" in value:
            yield Wrong(path, "holds a NUL character; remove it")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from nul(f"{path}.{key}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from nul(f"{path}[{number}]", inner)
