"""Whom the API server trusts when it calls our webhooks: the CA bundle in each configuration."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Object, Resource, Slim
from .webhook import Converting, Mutating, Validating, Webhook

# cert-manager fills the bundle of an object with such an annotation; two of us would take turns.
CERT_MANAGER = "cert-manager.io/inject-"


class ClientConfig(Slim, frozen=True, gc=False):
    """How the API server calls a webhook, as far as it is read."""

    ca_bundle: str = ""


class Hook(Slim, frozen=True, gc=False):
    """One webhook of a configuration."""

    name: str = ""
    client_config: ClientConfig = ClientConfig()


class Configuration(Resource, frozen=True, gc=False):
    """A ValidatingWebhookConfiguration or a MutatingWebhookConfiguration."""

    webhooks: tuple[Hook, ...] = ()


class Stanza(Slim, frozen=True, gc=False):
    """How a definition's versions are converted."""

    strategy: str = ""
    webhook: Hook = Hook()


class DefinitionSpec(Slim, frozen=True, gc=False):
    """A definition's content."""

    conversion: Stanza = Stanza()


class Definition(Resource, frozen=True, gc=False):
    """A CustomResourceDefinition."""

    spec: DefinitionSpec = DefinitionSpec()


@dataclass(frozen=True)
class Target:
    """An object whose bundles are ours to fill."""

    kind: Kind
    name: str

    @property
    def type(self) -> type[Configuration] | type[Definition]:
        """Return what it is read as."""
        return Definition if self.kind is kinds.CUSTOM_RESOURCE_DEFINITION else Configuration


def targets(name: str, table: Sequence[Webhook]) -> list[Target]:
    """Return the objects by which the API server finds `table`; its configurations are `name`."""
    found: dict[Target, None] = {}
    for row in table:
        match row:
            case Validating():
                found[Target(kinds.VALIDATING_WEBHOOK, name)] = None
            case Mutating():
                found[Target(kinds.MUTATING_WEBHOOK, name)] = None
            case Converting(kind=kind):
                definition = f"{kind.plural}.{kind.group}"
                found[Target(kinds.CUSTOM_RESOURCE_DEFINITION, definition)] = None
    return list(found)


@dataclass(frozen=True)
class Bundle:
    """Certificates to trust; `only` them, or those found there as well until they end."""

    pem: bytes
    only: bool = True

    def beside(self, found: bytes, now: datetime) -> bytes:
        """Return the bundle that shall stand where `found` stands."""
        if self.only:
            return self.pem
        # Replicas see a mounted folder change minutes apart: none of them may drop what another
        # one still serves with, or they would take turns.
        ours = set(_split(self.pem))
        known = {c for c in _split(found) if c.not_valid_after_utc > now}
        return found if ours <= known else _join(ours | known)


def changes(found: Configuration | Definition, bundle: Bundle, now: datetime) -> list[Object]:
    """Return the JSON patch that gives `found` the bundle: only where it has another one."""
    if any(name.startswith(CERT_MANAGER) for name in found.metadata.annotations):
        return []
    made = []
    for path, config, check in _places(found):
        wanted = _encoded(bundle.beside(_decoded(config.ca_bundle), now))
        if wanted != config.ca_bundle:
            # The check fails when the list was reordered since, and we look again.
            made += [check, {"op": "add", "path": f"{path}/clientConfig/caBundle", "value": wanted}]
    return made


def _places(found: Configuration | Definition) -> list[tuple[str, ClientConfig, Object]]:
    """Return where `found` has bundles, what stands there, and a test that it is that place."""
    if isinstance(found, Configuration):
        return [
            (f"/webhooks/{i}", hook.client_config, _test(f"/webhooks/{i}/name", hook.name))
            for i, hook in enumerate(found.webhooks)
        ]
    stanza = found.spec.conversion
    if stanza.strategy != "Webhook":
        return []
    check = _test("/spec/conversion/strategy", "Webhook")
    return [("/spec/conversion/webhook", stanza.webhook.client_config, check)]


def _test(path: str, value: str) -> Object:
    return {"op": "test", "path": path, "value": value}


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""


def _split(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []  # a placeholder, as charts have them


def _join(certificates: set[x509.Certificate]) -> bytes:
    return b"".join(sorted(c.public_bytes(Encoding.PEM) for c in certificates))
