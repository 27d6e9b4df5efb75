"""Secrets and ConfigMaps, as far as they are read. Pure."""

import base64

from .objects import Resource


class ConfigMap(Resource, frozen=True, gc=False, rename="camel"):
    """A ConfigMap."""

    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None

    @property
    def files(self) -> dict[str, bytes]:
        """Return what it holds."""
        texts = {name: text.encode() for name, text in (self.data or {}).items()}
        return texts | _decoded(self.binary_data)


class Secret(Resource, frozen=True, gc=False, rename="camel"):
    """A Secret; its values are not shown by accident."""

    data: dict[str, str] | None = None
    immutable: bool = False

    @property
    def files(self) -> dict[str, bytes]:
        """Return what it holds."""
        return _decoded(self.data)

    def __repr__(self) -> str:
        return f"Secret({self.metadata.namespace}/{self.metadata.name})"


def _decoded(found: dict[str, str] | None) -> dict[str, bytes]:
    decoded = {}
    for name, text in (found or {}).items():
        try:
            decoded[name] = base64.b64decode(text, validate=True)
        except ValueError:  # the API server refuses such a thing; a mirror of it may not
            continue
    return decoded
