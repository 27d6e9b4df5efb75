"""What any part of a cluster is made of: how it is marked, and what the user wants. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..kube.objects import Object

Text = Mapping[str, str]


@dataclass(frozen=True)
class Marks:
    """Labels and annotations that the user wants on something."""

    labels: Text = field(default_factory=dict)
    annotations: Text = field(default_factory=dict)


@dataclass(frozen=True)
class PodWishes:
    """What the user lays over the pods that we make."""

    marks: Marks = Marks()
    spec: Object = field(default_factory=dict)  # some of a PodSpec
    containers: Mapping[str, Object] = field(default_factory=dict)  # some of each, by our name


@dataclass(frozen=True)
class ServiceWishes:
    """What the user lays over a Service that we make."""

    port: int
    node_port: int | None = None
    marks: Marks = Marks()
    spec: Object = field(default_factory=dict)  # some of a ServiceSpec


@dataclass(frozen=True)
class Part:
    """A part of a cluster, and whose it is."""

    name: str  # of the object that asks for it
    namespace: str
    selector: Text  # finds its pods
    labels: Text  # on its pods and objects; the selector's are among them
    pods: PodWishes = PodWishes()
    marks: Marks = Marks()  # of the object that asks for it, handed on to what is made


@dataclass(frozen=True)
class KeyRef:
    """One entry of a Secret or a ConfigMap."""

    name: str
    key: str
    digest: str = ""  # of what it holds; empty: it is not there (yet)
    kind: str = "Secret"
    field: str = ""  # of the spec, where the user names it

    def __str__(self) -> str:
        return f"{self.kind} {self.name}, key {self.key}"


@dataclass(frozen=True)
class Absent:
    """An object that the user names and that is not there (yet)."""

    kind: str
    name: str
    field: str  # of the spec, where the user names it
    digest: ClassVar[str] = ""  # of nothing

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Files:
    """A ConfigMap whose entries become files."""

    name: str
    files: tuple[str, ...] = ()
    digest: str = ""  # of all that it holds; empty: it is not there (yet)
    field: str = ""  # of the spec, where the user names it

    def __str__(self) -> str:
        return f"ConfigMap {self.name}"
