"""Merge patches (RFC 7386) and JSON patches (RFC 6902)."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.kube.objects import Object

from .refusals import Refusal

REJECTED = "the server rejected our request due to an error in our request"


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` merged in; null removes."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def json_patch(target: Object, operations: Sequence[Mapping[str, Any]]) -> Object:
    """Return `target` after all `operations`, or refuse if one does not fit."""
    document: Any = {"": copy.deepcopy(target)}
    for operation in operations:
        try:
            _one(document, operation)
        except (KeyError, IndexError, ValueError, TypeError):
            raise Refusal(422, "Invalid", REJECTED) from None
    result: Object = document[""]
    return result


def _one(document: Any, operation: Mapping[str, Any]) -> None:
    path = _words(operation["path"])
    match operation["op"]:
        case "add":
            _put(document, path, operation["value"])
        case "replace":
            # The server's library lets it add to a map, too.
            if isinstance(_at(document, path[:-1]), list):
                _take(document, path)
            _put(document, path, operation["value"])
        case "remove":
            _take(document, path)
        case "test":
            if _at(document, path) != operation["value"]:
                raise ValueError("not the expected value")
        case other:
            raise NotImplementedError(f"the fake knows no JSON patch {other!r}")


def _words(pointer: str) -> list[str]:
    return [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")]


def _at(node: Any, path: Sequence[str]) -> Any:
    for word in path:
        node = node[_index(node, word)]
    return node


def _index(node: Any, word: str) -> Any:
    return int(word) if isinstance(node, list) else word


def _take(document: Any, path: Sequence[str]) -> Any:
    parent = _at(document, path[:-1])
    return parent.pop(_index(parent, path[-1]))


def _put(document: Any, path: Sequence[str], value: Any) -> None:
    parent = _at(document, path[:-1])
    if not isinstance(parent, list):
        parent[path[-1]] = value
    elif path[-1] == "-":
        parent.append(value)
    elif 0 <= int(path[-1]) <= len(parent):
        parent.insert(int(path[-1]), value)
    else:
        raise IndexError(path[-1])
