"""slurmdbd. Pure."""

from dataclasses import dataclass

from .controller import Keys
from .naming import Naming
from .part import KeyRef, Part, ServiceWishes


@dataclass(frozen=True)
class Database:
    """Where slurmdbd keeps its records."""

    host: str
    port: int
    name: str
    user: str
    password: KeyRef


@dataclass(frozen=True)
class ManagedAccounting:
    """slurmdbd in a pod of ours."""

    part: Part
    naming: Naming
    name: str  # of its workload, its Service and its Secret
    service: ServiceWishes
    keys: Keys
    database: Database
    extra: str = ""  # lines for slurmdbd.conf

    @property
    def host(self) -> str:
        """Return the name under which others find it."""
        return f"{self.name}.{self.part.namespace}"

    @property
    def port(self) -> int:
        """Return the port on which others find it."""
        return self.service.port


@dataclass(frozen=True)
class ExternalAccounting:
    """slurmdbd somewhere else."""

    host: str
    port: int


Accounting = ManagedAccounting | ExternalAccounting
