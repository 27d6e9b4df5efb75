"""Names, labels, annotations and digests on what is made. Pure."""

import hashlib
from collections.abc import Mapping

from ..kube.merge import inherited
from ..kube.objects import Object
from ..model.naming import Naming
from ..model.part import Marks, Part


def metadata(part: Part, name: str, *wanted: Marks) -> Object:
    """Return the metadata of an object of `part`; later marks win, and those we find it by last."""
    layers = (part.marks, *wanted)
    labels = {key: value for layer in layers for key, value in layer.labels.items()}
    notes = {key: value for layer in layers for key, value in layer.annotations.items()}
    made = {
        "name": name,
        "namespace": part.namespace,
        "labels": {**labels, **part.labels},
        "annotations": inherited(notes),
    }
    return {key: value for key, value in made.items() if value}


def digest(*texts: str) -> str:
    """Return a digest that differs when any of `texts`, or where one of them ends, differs."""
    whole = hashlib.sha256()
    for text in texts:
        told = text.encode()
        whole.update(f"{len(told)}:".encode() + told)
    return whole.hexdigest()


def digests(naming: Naming, of: Mapping[str, str]) -> dict[str, str]:
    """Return annotations for the digests that are known; an empty one says nothing."""
    return {naming.digest(what): found for what, found in of.items() if found}
