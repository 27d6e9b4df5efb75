"""Label and field selectors as a query has them. Not ours: the fake must not share our mistakes."""

import re
from collections.abc import Callable, Mapping

from shoal.kube.objects import Object

from .refusals import bad_request
from .shapes import Served

Test = Callable[[Object], bool]

_SPLIT = re.compile(r",(?![^()]*\))")
_SET = re.compile(r"(?P<key>[^\s!=]+)\s+(?P<word>in|notin)\s+\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s!=]+)\s*(?P<word>==|!=|=)\s*(?P<values>[^\s!=]*)")
_BARE = re.compile(r"(?P<word>!?)(?P<key>[^\s!=()]+)(?P<values>)")


def by_labels(text: str) -> Test:
    """Return the test that `labelSelector` is."""
    tests = [_label(part.strip()) for part in _SPLIT.split(text) if part.strip()]
    return lambda obj: all(test(obj["metadata"].get("labels") or {}) for test in tests)


def _label(part: str) -> Callable[[Mapping[str, str]], bool]:
    found = _SET.fullmatch(part) or _EQUAL.fullmatch(part) or _BARE.fullmatch(part)
    if not found:
        raise bad_request(f"unable to parse requirement: {part}")
    key, word = found["key"], found["word"]
    values = {value.strip() for value in found["values"].split(",")}
    match word:
        case "in" | "=" | "==":
            return lambda labels: key in labels and labels[key] in values
        case "notin" | "!=":
            return lambda labels: key not in labels or labels[key] not in values
        case "!":
            return lambda labels: key not in labels
        case _:
            return lambda labels: key in labels


def by_fields(text: str, served: Served) -> Test:
    """Return the test that `fieldSelector` is; only some fields of a kind can be selected by."""
    tests = [_field(part, served) for part in text.split(",") if part]
    return lambda obj: all(test(obj) for test in tests)


def _field(part: str, served: Served) -> Test:
    found = _EQUAL.fullmatch(part)
    if not found or found["key"] not in served.fields:
        raise bad_request(f"{part!r} is not a known field selector")
    words, value, equal = found["key"].split("."), found["values"], found["word"] != "!="

    def test(obj: Object) -> bool:
        at: object = obj
        for word in words:
            at = at.get(word) if isinstance(at, dict) else None
        return ((at or "") == value) is equal

    return test
