"""The cluster itself. Pure."""

from dataclasses import dataclass, field

from ..slurm.keys import Version
from .accounting import Accounting
from .config import Config
from .controller import Controller, ExternalController, Keys
from .jail import Jail
from .naming import Naming
from .nodeset import NodeSet
from .part import Absent


@dataclass(frozen=True)
class Cluster:
    """A Slurm cluster."""

    name: str  # of the object that stands for it
    namespace: str
    slurm_name: str  # what Slurm calls it
    naming: Naming
    controller: Controller
    keys: Keys
    accounting: Accounting | None = None
    config: Config = field(default_factory=Config)
    nodesets: tuple[NodeSet, ...] = ()
    workers: str = ""  # the headless Service of all its workers, whether there are any or not
    version: Version | None = None  # of Slurm; None: nobody says
    domain: str = "cluster.local"
    node_table: int = 0  # MaxNodeCount as it is in use; 0: nobody says
    going: bool = False  # it is being deleted, and its slurmctld with it
    lacks: tuple[Absent, ...] = ()  # without these nothing more is known of what is wanted
    jail: Jail | None = None  # the root that its pods share; None: each has its own
    slurm_user: str = "slurm"  # who may do everything in Slurm

    @property
    def conf_server(self) -> str:
        """Return where a daemon without files of its own asks for its configuration."""
        controller = self.controller
        if isinstance(controller, ExternalController):
            return f"{controller.host}:{controller.port}"
        port = controller.service.port
        if controller.many:
            # All of them: one that stands by is passed over, whoever is active, operator or not.
            return ",".join(f"{host}:{SLURMCTLD_PORT}" for _, host in self.controllers)
        return f"{controller.names.service}.{self.namespace}:{port}"

    @property
    def controllers(self) -> tuple[tuple[str, str], ...]:
        """Return the name and the address of each slurmctld of ours."""
        controller = self.controller
        if isinstance(controller, ExternalController):
            return ()
        pods = (f"{controller.names.workload}-{number}" for number in range(controller.replicas))
        return tuple((p, f"{p}.{controller.names.internal}.{self.namespace}") for p in pods)


SLURMCTLD_PORT = 6817
