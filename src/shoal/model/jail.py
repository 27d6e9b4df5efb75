"""The root that the pods of a cluster share: how it is filled, and what is mounted in it. Pure.

Steps of jobs and logins by SSH have it as their root; the daemons run outside of it.
"""

from dataclasses import dataclass, field

from ..kube.objects import Object
from .maintenance import Mode
from .part import Part
from .settings import Settings

FOLDER = "/mnt/jail"
# What is mounted here is bound over the same path of the jail when a pod starts.
UPPER = "/mnt/jail.upper"


@dataclass(frozen=True)
class Given:
    """A volume that is there, as a pod names it."""

    source: Object


@dataclass(frozen=True)
class Claimed:
    """A volume that is made for each pod."""

    spec: Object  # of the claim


Volume = Given | Claimed


@dataclass(frozen=True)
class Mount:
    """A volume at a place in a pod."""

    name: str
    path: str
    volume: Volume
    sub_path: str = ""
    read_only: bool = False


@dataclass(frozen=True)
class Fittings:
    """What the pods of one part have of the jail, and beside it."""

    jail: Volume
    submounts: tuple[Mount, ...] = ()  # their paths are the jail's
    mounts: tuple[Mount, ...] = ()  # their paths are the pod's
    limits: str = ""  # the ConfigMap with limits.conf; empty: the image's own are good enough
    limits_conf: str = ""  # what the user wants in it; empty: ours


@dataclass(frozen=True)
class Populate:
    """The Job that fills the jail."""

    part: Part
    name: str
    jail: Volume
    overwrite: bool = False
    snapshot: Volume | None = None  # what the jail is filled from; None: what the image has


@dataclass(frozen=True)
class Ssh:
    """How people come in."""

    host_keys: str  # the Secret with them, one for all pods of the cluster
    root_keys: str  # the ConfigMap with the keys that root may log in with
    host_keys_digest: str = ""  # empty: the Secret is not there (yet)
    public_keys: tuple[str, ...] = ()
    port: int = 22

    @property
    def authorized_keys(self) -> str:
        """Return the file with the keys that root may log in with."""
        return "".join(f"{key.strip()}\n" for key in self.public_keys if key.strip())


@dataclass(frozen=True)
class JailNames:
    """What the ConfigMaps that pods of several parts mount are called."""

    sysctl: str
    worker_sshd: str  # sshd_config of all workers
    supervisord: str


@dataclass(frozen=True)
class Jail:
    """A cluster's shared root, and what is the same for all pods that have it."""

    part: Part  # of what belongs to no other part
    populate: Populate
    ssh: Ssh
    names: JailNames
    settings: Settings = field(default_factory=Settings)
    mode: Mode = Mode.NONE
    gpu: bool = False  # some worker has GPUs
    app_armor: str = ""  # the profile that is made for this cluster; empty: none
    # Headless Services of workers and login nodes: Slurm and people know these by bare names.
    subdomains: tuple[str, ...] = ()
