"""CustomResourceDefinitions out of types. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from . import kinds
from .kinds import Kind
from .objects import Object
from .schema import schema


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`; those with a priority above 0 are for `--output=wide`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0

    def write(self) -> Object:
        """Return the column as the API has it."""
        told = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return {**told, "priority": self.priority} if self.priority else told


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True)
class Scale:
    """Where the scale subresource finds its numbers."""

    wanted: str = ".spec.replicas"
    seen: str = ".status.replicas"
    selector: str = ".status.selector"

    def write(self) -> Object:
        """Return it as the API has it."""
        paths = {"specReplicasPath": self.wanted, "statusReplicasPath": self.seen}
        return {**paths, "labelSelectorPath": self.selector} if self.selector else paths


@dataclass(frozen=True)
class Version:
    """One version of a kind; `type` has its spec and status, and need not have its metadata."""

    name: str
    type: type[msgspec.Struct]
    columns: tuple[Column, ...] = (AGE,)
    scale: Scale | None = None
    status: bool = True  # whether the status is a subresource
    served: bool = True
    deprecated: str = ""  # the warning that users of this version get


@dataclass(frozen=True)
class Names:
    """What else a kind is called."""

    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    singular: str = ""


@dataclass(frozen=True)
class InCluster:
    """Webhooks behind a Service."""

    namespace: str
    service: str
    port: int = 443

    def client_config(self, path: str) -> Object:
        """Return how the API server finds the webhook at `path`."""
        there = {"namespace": self.namespace, "name": self.service, "port": self.port}
        return {"service": {**there, "path": path}}


@dataclass(frozen=True)
class Outside:
    """Webhooks at a URL that the API server can reach."""

    url: str

    def client_config(self, path: str) -> Object:
        """Return how the API server finds the webhook at `path`."""
        return {"url": self.url.rstrip("/") + path}


Endpoint = InCluster | Outside


@dataclass(frozen=True)
class Conversion:
    """Who converts between versions; the CA bundle is injected later."""

    endpoint: Endpoint
    path: str

    def write(self) -> Object:
        """Return it as the API has it."""
        return {
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": self.endpoint.client_config(self.path),
            },
        }


def crd(
    kind: Kind,
    versions: Sequence[Version],
    names: Names = Names(),  # noqa: B008 - frozen
    conversion: Conversion | None = None,
) -> Object:
    """Return the definition of `kind`, which is stored in the version that `kind` itself has."""
    if kind.version not in [version.name for version in versions]:
        raise ValueError(f"{kind.kind}: {kind.version}, in which it is stored, is no version of it")
    spec: Object = {
        "group": kind.group,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "names": _names(kind, names),
        "versions": [_version(version, kind.version) for version in versions],
    }
    if conversion is not None:
        spec["conversion"] = conversion.write()
    return {
        "apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": kinds.CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": spec,
    }


def _names(kind: Kind, names: Names) -> Object:
    told: Object = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": names.singular or kind.kind.lower(),
    }
    more = {"shortNames": list(names.short), "categories": list(names.categories)}
    return {**told, **{key: value for key, value in more.items() if value}}


def _version(version: Version, stored: str) -> Object:
    made: Object = {
        "name": version.name,
        "served": version.served,
        "storage": version.name == stored,
        "schema": {"openAPIV3Schema": _root(version.type)},
    }
    if version.deprecated:
        made.update(deprecated=True, deprecationWarning=version.deprecated)
    subresources: Object = {"status": {}} if version.status else {}
    if version.scale is not None:
        subresources["scale"] = version.scale.write()
    if subresources:
        made["subresources"] = subresources
    if version.columns:
        made["additionalPrinterColumns"] = [column.write() for column in version.columns]
    return made


def _root(type_: type[msgspec.Struct]) -> Object:
    """Return the schema of a whole object; the API server knows metadata better than any type."""
    made = schema(type_)
    every: Object = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    properties = {**every, **{k: v for k, v in made["properties"].items() if k not in every}}
    required = [name for name in made.get("required", ()) if name not in every]
    rest = {k: v for k, v in made.items() if k not in ("properties", "required")}
    return {**rest, "properties": properties, **({"required": required} if required else {})}
