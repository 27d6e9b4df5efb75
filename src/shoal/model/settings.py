"""What the user sets of Slurm's files in a cluster with a shared root. Pure."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

# Keys by Slurm's names, in the order in which they are written; what is empty is left out.
Keys = tuple[tuple[str, str | int], ...]


@dataclass(frozen=True)
class HealthCheck:
    """A program that slurmd runs now and then."""

    program: str
    interval_s: int
    states: tuple[str, ...]  # of nodes that it is run on


@dataclass(frozen=True)
class Feature:
    """A feature of workers, and where asked for a node set of those that have it."""

    name: str
    hosts: str  # a hostlist
    nodeset: str = ""


@dataclass(frozen=True)
class DefaultPartitions:
    """`main`, and two that are hidden, of all nodes."""


@dataclass(frozen=True)
class CustomPartitions:
    """Lines as the user writes them."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class SharedPartition:
    """A partition of some NodeSets, or of all nodes."""

    name: str
    nodesets: tuple[str, ...] = ()
    everything: bool = False
    config: str = ""  # its options, as slurm.conf has them


@dataclass(frozen=True)
class StructuredPartitions:
    """Partitions by the names of NodeSets."""

    partitions: tuple[SharedPartition, ...]


Partitions = DefaultPartitions | CustomPartitions | StructuredPartitions


@dataclass(frozen=True)
class Pyxis:
    """The plugin that runs steps in containers."""

    required: bool = True
    image_save: str = "/var/cache/enroot-container-images/"
    importer: str = ""
    squashfuse: bool = False


@dataclass(frozen=True)
class NcclDebug:
    """The plugin that keeps what NCCL logs."""

    required: bool = False
    enabled: bool = False
    level: str = "INFO"
    to_file: bool = True
    to_stdout: bool = False
    folder: str = "/opt/soperator-outputs/nccl_logs"


@dataclass(frozen=True)
class NcclInspector:
    """The plugin that has NCCL profile itself."""

    required: bool = False
    enabled: bool = False
    plugin: str = "/usr/lib/x86_64-linux-gnu/libnccl-profiler-inspector.so"
    folder: str = "/opt/soperator-outputs/shared/nccl_profiles/%j/%s"
    verbose: bool = False
    interval_us: int = 1_000_000


@dataclass(frozen=True)
class CustomPlugin:
    """A plugin of the user's."""

    path: str
    required: bool = False
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plugins:
    """SPANK plugins, beside the one that puts steps into the jail."""

    pyxis: Pyxis = Pyxis()
    nccl_debug: NcclDebug = NcclDebug()
    nccl_inspector: NcclInspector | None = None
    custom: tuple[CustomPlugin, ...] = ()


class Cgroup(enum.Enum):
    """The version of cgroups on the nodes."""

    V1 = "v1"
    V2 = "v2"


@dataclass(frozen=True)
class Settings:
    """What the user sets, file by file; free text for slurm.conf is in the cluster's Config."""

    slurm: Keys = ()
    accounting: Keys = ()  # of slurm.conf, where there is accounting
    partitions: Partitions = DefaultPartitions()
    features: tuple[Feature, ...] = ()
    health: HealthCheck | None = None
    plugins: Plugins = Plugins()
    mpi_env: str = "OMPI_MCA_btl_tcp_if_include=eth0"
    cgroup: Cgroup = Cgroup.V2
    cgroup_extra: str = ""  # lines for cgroup.conf
    topology: str = ""  # topology.conf; empty: nobody knows the network
