"""Conversion reviews: objects of one version in, the same objects in another version out."""

from collections.abc import Callable

import msgspec
import structlog

from ..kube.objects import Object
from .admission import ReviewError

VERSION = "apiextensions.k8s.io/v1"
# The API server lets a conversion change these, and refuses it when other metadata differ.
FREE = ("labels", "annotations")
log = structlog.get_logger()

Convert = Callable[[Object, str], Object]  # the object, the version that it shall have


class _Request(msgspec.Struct, frozen=True):
    uid: str
    objects: list[Object]
    wanted: str = msgspec.field(name="desiredAPIVersion")


class _Asked(msgspec.Struct, frozen=True):
    request: _Request
    version: str = msgspec.field(name="apiVersion", default="")


_asked = msgspec.json.Decoder(_Asked)


class _RefusedError(Exception):
    """An object that cannot be converted."""


def conversion(body: bytes, convert: Convert) -> bytes:
    """Return the answer to the review `body`: all of its objects converted, or none."""
    try:
        asked = _asked.decode(body)
    except msgspec.DecodeError as error:
        raise ReviewError(f"no ConversionReview: {error}") from error
    if asked.version != VERSION:
        raise ReviewError(f"no ConversionReview of v1: {asked.version!r}")
    wanted = asked.request.wanted
    response: Object = {"uid": asked.request.uid}
    try:
        response["convertedObjects"] = [_one(o, wanted, convert) for o in asked.request.objects]
        response["result"] = {"status": "Success"}
    except _RefusedError as refused:
        response["result"] = {"status": "Failure", "message": str(refused)}
    answer = {"apiVersion": VERSION, "kind": "ConversionReview", "response": response}
    return msgspec.json.encode(answer)


def _one(obj: Object, wanted: str, convert: Convert) -> Object:
    if obj["apiVersion"] == wanted:
        return obj
    kept = dict(obj["metadata"])
    try:
        made = convert(obj, wanted.rpartition("/")[2])
    except Exception as error:
        metadata = obj["metadata"]
        name = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        what = f"{obj['kind']} {name} from {obj['apiVersion']} to {wanted}"
        log.exception("conversion failed", object=name, to=wanted)
        raise _RefusedError(f"{what}: {type(error).__name__}: {error}") from error
    told = made.get("metadata", kept)
    free = {key: told[key] for key in FREE if key in told}
    metadata = {**{key: value for key, value in kept.items() if key not in FREE}, **free}
    return {**made, "apiVersion": wanted, "kind": obj["kind"], "metadata": metadata}
