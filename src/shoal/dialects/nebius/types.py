"""The kinds of slurm.nebius.ai: their schemas, and what they are read as. Pure."""

from typing import Annotated

from msgspec import field

from ...kube.fields import Conditions, Int32, about, needs, one_of, said
from ...kube.kinds import Kind
from ...kube.objects import Object, Resource, Slim
from ...model.maintenance import Mode
from .accounting_types import Accounting
from .node_types import (
    ConfigController,
    Controller,
    Exporter,
    Login,
    PopulateJail,
    Rest,
    Worker,
)
from .nodeset_types import NodeSet
from .parts import CgroupVersion, Objects
from .slurm_types import (
    CgroupLines,
    Features,
    HealthCheck,
    Mpi,
    MpiConfig,
    PartitionConfiguration,
    PlugStack,
    PlugStackConfig,
    SlurmConfig,
    SlurmSettings,
    Topology,
)

GROUP = "slurm.nebius.ai"
SLURM_CLUSTER = Kind(GROUP, "v1", "SlurmCluster", "slurmclusters")
NODE_SET = Kind(GROUP, "v1alpha1", "NodeSet", "nodesets")
KINDS = (SLURM_CLUSTER, NODE_SET)


class NodeFilter(Slim, frozen=True, gc=False):
    """Nodes of Kubernetes under a name."""

    name: Annotated[str, said(minLength=1)] = field(default_factory=str)
    affinity: Object | None = None
    tolerations: Objects = ()
    node_selector: dict[str, str] = field(default_factory=dict)


# A name, and beside it one of Kubernetes' volume sources.
NamedVolume = Annotated[Object, said(properties={"name": {"type": "string"}}, required=["name"])]


class Secrets(Slim, frozen=True, gc=False):
    """Secrets that the user brings."""

    sshd_keys_name: str | None = None


class SlurmNodes(Slim, frozen=True, gc=False):
    """The pods."""

    accounting: Annotated[Accounting, needs("k8sNodeFilterName")] = Accounting()
    controller: Annotated[
        Controller, needs("k8sNodeFilterName", "munge", "slurmctld", "volumes")
    ] = Controller()
    login: Annotated[
        Login,
        needs(
            "k8sNodeFilterName", "munge", "sshRootPublicKeys", "sshd", "sshdServiceType", "volumes"
        ),
    ] = Login()
    exporter: Annotated[Exporter, needs("k8sNodeFilterName")] = Exporter()
    rest: Annotated[Rest, needs("k8sNodeFilterName")] = Rest()
    # Of the older release, which insists on it; without, all workers are of NodeSets.
    worker: Annotated[Worker | None, needs("k8sNodeFilterName", "munge", "slurmd", "volumes")] = (
        None
    )


class SlurmClusterSpec(Slim, frozen=True, gc=False):
    """What the cluster shall be."""

    cr_version: Annotated[str | None, about("The release that it was written for.")] = None
    maintenance: Annotated[
        str,
        one_of(*(mode.value for mode in Mode)),
        about("Whether the pods are away, and what becomes of the root."),
    ] = "none"
    cluster_type: Annotated[str, one_of("gpu", "cpu"), about("Whether its workers have GPUs.")] = (
        "gpu"
    )
    use_default_app_armor_profile: Annotated[
        bool, about("Whether the containers get an AppArmor profile of ours.")
    ] = False
    populate_jail: Annotated[PopulateJail, needs("image", "k8sNodeFilterName")] = PopulateJail()
    k8s_node_filters: Annotated[
        tuple[Annotated[NodeFilter, needs("name")], ...],
        said(minItems=1),
        about("Nodes of Kubernetes under names, by which the rest refers to them."),
    ] = ()
    volume_sources: Annotated[
        tuple[NamedVolume, ...], about("Volumes under names, by which the rest refers to them.")
    ] = ()
    secrets: Secrets = Secrets()
    slurm_nodes: Annotated[
        SlurmNodes, needs("accounting", "controller", "exporter", "login", "rest")
    ] = SlurmNodes()
    partition_configuration: PartitionConfiguration = PartitionConfiguration()
    worker_features: Annotated[Features, about("Features of some of the workers.")] = ()
    slurm_config: SlurmSettings = SlurmConfig()
    custom_slurm_config: Annotated[str | None, about("Lines for slurm.conf.")] = None
    custom_cgroup_config: CgroupLines = None
    cgroup_version: Annotated[
        CgroupVersion, about("Of the nodes; the workers may say otherwise.")
    ] = "v2"
    mpi_config: Mpi = MpiConfig()
    plug_stack_config: PlugStack = PlugStackConfig()
    s_config_controller: ConfigController = ConfigController()
    health_check_config: HealthCheck | None = None
    topology: Topology | None = None


class SlurmClusterStatus(Slim, frozen=True, gc=False):
    """What is."""

    phase: str | None = None
    ready_login: Int32 | None = None
    ready_workers: Int32 | None = None
    ready_s_config_controller: Int32 | None = None
    conditions: Conditions = ()


class SlurmCluster(Resource, frozen=True, gc=False):
    """A Slurm cluster whose pods share one root."""

    spec: Annotated[
        SlurmClusterSpec, needs("k8sNodeFilters", "populateJail", "secrets", "slurmNodes")
    ] = field(default_factory=SlurmClusterSpec)
    status: SlurmClusterStatus = SlurmClusterStatus()


TYPES: dict[str, type[Resource]] = {"SlurmCluster": SlurmCluster, "NodeSet": NodeSet}
