"""Kubernetes' ControllerRevisions: what an object's pods were made of, now and before. Pure."""

from typing import Any

from .objects import Resource

HASH = "controller.kubernetes.io/hash"


class ControllerRevision(Resource, frozen=True, gc=False, rename="camel"):
    """One state of an object's wishes."""

    revision: int = 0  # the highest is the newest
    data: Any = None  # whatever its owner keeps there

    @property
    def hash(self) -> str:
        """Return what pods made of it are labelled with."""
        return self.metadata.labels.get(HASH, "")
