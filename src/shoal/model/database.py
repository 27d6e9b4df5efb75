"""What stands behind slurmdbd: a database of ours, of mariadb-operator's, of somebody's. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.objects import Object
from .part import KeyRef, Part

STORAGE = "storage"  # where a database of ours has its records


@dataclass(frozen=True)
class OwnDatabase:
    """MariaDB in a pod of ours."""

    part: Part
    name: str  # of its StatefulSet and its Service
    root: KeyRef  # root's password
    storage: Object | None = None  # spec of its claim; None: what it holds goes with the pod


@dataclass(frozen=True)
class OperatorDatabase:
    """MariaDB by mariadb-operator."""

    part: Part
    name: str  # of its MariaDB and its Grant
    root: KeyRef
    spec: Object = field(default_factory=dict)  # some of a MariaDBSpec
    generate: bool = True  # mariadb-operator makes the passwords


@dataclass(frozen=True)
class ExternalDatabase:
    """A database that somebody else looks after."""

    ca: KeyRef | None = None  # by which its certificate is checked
    client: KeyRef | None = None  # the certificate that we show; its Secret has the key too
    parameters: Mapping[str, str] = field(default_factory=dict)  # StorageParameters


Store = OwnDatabase | OperatorDatabase | ExternalDatabase


def claim_of(name: str) -> str:
    """Return what the claim of a database is called."""
    return f"{STORAGE}-{name}-0"
