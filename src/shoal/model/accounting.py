"""slurmdbd. Pure."""

from dataclasses import dataclass

from .controller import Keys
from .database import Store
from .naming import Naming
from .part import KeyRef, Part, ServiceWishes
from .settings import Keys as Options


@dataclass(frozen=True)
class Database:
    """Where slurmdbd keeps its records."""

    host: str
    port: int
    name: str
    user: str
    password: KeyRef


@dataclass(frozen=True)
class AccountingNames:
    """What its objects are called, where they have not one name."""

    workload: str
    service: str
    secret: str


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
    names: AccountingNames | None = None  # None: all are called `name`
    store: Store | None = None  # what stands behind `database`; None: nobody says
    options: Options = ()  # keys of slurmdbd.conf
    config: str = ""  # the ConfigMap with Slurm's files, where it reads them

    @property
    def host(self) -> str:
        """Return the name under which others find it."""
        service = self.names.service if self.names else self.name
        return f"{service}.{self.part.namespace}"

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
