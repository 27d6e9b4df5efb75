"""What a SlurmCluster of slurm.nebius.ai says for Slurm's own files. Pure."""

from typing import Annotated, ClassVar

from msgspec import field

from ...kube.fields import Int32, about, needs, one_of, said
from ...kube.objects import Slim
from ...kube.schema import Rule, default

PMIX_ENV = "OMPI_MCA_btl_tcp_if_include=eth0"


class SlurmConfig(Slim, frozen=True, gc=False):
    """Settings of slurm.conf."""

    def_mem_per_node: Int32 = 1048576
    def_cpu_per_gpu: Int32 = field(default=4, name="defCpuPerGPU")
    complete_wait: Int32 = 5
    epilog: str = ""
    prolog: str = ""
    task_prolog: str = ""
    task_plugin_param: str = ""
    max_job_count: Int32 = 20000
    min_job_age: Int32 = 28800
    message_timeout: Int32 = 60
    topology_plugin: str = "topology/tree"
    topology_param: str = "SwitchAsNodeRank"
    suspend_time: Int32 = 1000000000  # never
    resume_timeout: Annotated[Int32, said(minimum=1)] = 1800


class MpiConfig(Slim, frozen=True, gc=False):
    """mpi.conf."""

    pmix_env: str = PMIX_ENV


# -- plugstack.conf


class Pyxis(Slim, frozen=True, gc=False):
    """The plugin that runs job steps in containers."""

    required: bool = True
    container_image_save: str = "/var/cache/enroot-container-images/"
    use_squashfuse: bool = False
    # The newer release's own importer: its default is a script that only its chart brings.
    importer_path: str | None = None


class NcclDebug(Slim, frozen=True, gc=False):
    """The plugin that collects what NCCL logs."""

    required: bool = False
    enabled: bool = False
    log_level: Annotated[str, one_of("VERSION", "WARN", "INFO", "TRACE")] = "INFO"
    output_to_file: bool = True
    output_to_std_out: bool = False
    output_directory: str = "/opt/soperator-outputs/nccl_logs"


class NcclInspector(Slim, frozen=True, gc=False):
    """The plugin that prepares NCCL's profiler."""

    required: bool = False
    enabled: bool = True
    profiler_plugin: str = "/usr/lib/x86_64-linux-gnu/libnccl-profiler-inspector.so"
    dump_dir: str = "/opt/soperator-outputs/shared/nccl_profiles/%j/%s"
    dump_verbose: bool = False
    dump_thread_interval_microseconds: int = 1000000


class CustomPlugin(Slim, frozen=True, gc=False):
    """A SPANK plugin of the user's."""

    required: bool = False
    path: str = field(default_factory=str)
    arguments: Annotated[dict[str, str], default({})] = field(default_factory=dict)


_PYXIS = {"required": True, "containerImageSave": Pyxis().container_image_save}
_NCCL_DEBUG = {
    "required": False,
    "enabled": False,
    "logLevel": "INFO",
    "outputToFile": True,
    "outputToStdOut": False,
    "outputDirectory": NcclDebug().output_directory,
}


class PlugStackConfig(Slim, frozen=True, gc=False):
    """plugstack.conf: the SPANK plugins."""

    pyxis: Annotated[Pyxis, default(_PYXIS)] = Pyxis()
    nccl_debug: Annotated[NcclDebug, default(_NCCL_DEBUG)] = NcclDebug()
    nccl_inspector_pre_conf: NcclInspector | None = None
    custom_plugins: Annotated[tuple[Annotated[CustomPlugin, needs("path")], ...], default([])] = ()


# -- partitions, features, health checks


class Partition(Slim, frozen=True, gc=False):
    """A partition of some NodeSets, or of all nodes."""

    name: Annotated[str, said(minLength=1)] = field(default_factory=str)
    is_all: bool = False
    node_set_refs: tuple[str, ...] = ()
    config: str | None = None


class PartitionConfiguration(Slim, frozen=True, gc=False):
    """The partitions: the usual ones, or lines of slurm.conf, or of NodeSets."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        # With `has`: without, a cluster that has no such field is refused with an error of CEL's.
        Rule(
            "self.configType != 'structured'"
            " || (has(self.partitions) && size(self.partitions) > 0)",
            "Structured partition configuration requires at least one partition",
        ),
    )

    config_type: Annotated[str, one_of("default", "custom", "structured")] = "default"
    raw_config: tuple[str, ...] = ()
    partitions: tuple[Annotated[Partition, needs("name")], ...] = ()


class WorkerFeature(Slim, frozen=True, gc=False):
    """A feature of some workers, and the node set of Slurm's that has it."""

    name: Annotated[str, said(minLength=1)] = field(default_factory=str)
    hostlist_expr: Annotated[str, said(minLength=1)] = field(default_factory=str)
    nodeset_name: str | None = None


class NodeState(Slim, frozen=True, gc=False):
    """Nodes that are checked."""

    state: Annotated[str, one_of("ALLOC", "ANY", "CYCLE", "IDLE", "NONDRAINED_IDLE", "MIXED")] = (
        field(default_factory=str)
    )


class HealthCheckConfig(Slim, frozen=True, gc=False):
    """Slurm's own health check: a program that every node runs."""

    health_check_interval: Int32 = field(default_factory=int)
    health_check_program: str = field(default_factory=str)
    health_check_node_state: Annotated[
        tuple[Annotated[NodeState, needs("state")], ...], said(minItems=1)
    ] = ()


class Topology(Slim, frozen=True, gc=False):
    """How many nodes a block of topology/block has."""

    block_size: int = 18


SlurmSettings = Annotated[
    SlurmConfig,
    default(
        {
            "completeWait": 5,
            "defCpuPerGPU": 4,
            "defMemPerNode": 1048576,
            "epilog": "",
            "maxJobCount": 20000,
            "messageTimeout": 60,
            "minJobAge": 28800,
            "prolog": "",
        }
    ),
]
Mpi = Annotated[MpiConfig, default({"pmixEnv": PMIX_ENV})]
PlugStack = Annotated[PlugStackConfig, default({"pyxis": _PYXIS, "ncclDebug": _NCCL_DEBUG})]
HealthCheck = Annotated[
    HealthCheckConfig,
    needs("healthCheckInterval", "healthCheckNodeState", "healthCheckProgram"),
]
Features = tuple[Annotated[WorkerFeature, needs("name", "hostlistExpr")], ...]
CgroupLines = Annotated[str | None, about("Lines of cgroup.conf; a key here replaces ours.")]
