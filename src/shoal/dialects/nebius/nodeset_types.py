"""A NodeSet of slurm.nebius.ai: its schema, and what it is read as. Pure."""

from typing import Annotated, ClassVar

from msgspec import field

from ...kube.fields import Conditions, Int32, Int64, Quantity, about, needs, one_of, said
from ...kube.objects import Object, Resource, Slim
from ...kube.schema import Rule, default
from .parts import (
    SHARED_MEMORY,
    UNCONFINED,
    CgroupVersion,
    LocalName,
    Objects,
    ProcMount,
    PullPolicy,
    Resources,
)

SLURMD_PORT = 6818
MOST_UNAVAILABLE = 500


class Image(Slim, frozen=True, gc=False):
    """An image."""

    repository: str = field(default_factory=str)
    tag: str | None = None
    pull_policy: PullPolicy = "IfNotPresent"

    @property
    def reference(self) -> str:
        """Return what a container calls it."""
        return f"{self.repository}:{self.tag}" if self.tag else self.repository


class Security(Slim, frozen=True, gc=False):
    """What a container may do."""

    limits_config: str | None = None
    app_armor_profile: str = UNCONFINED
    proc_mount: ProcMount = None


class Sidecar(Slim, frozen=True, gc=False):
    """A container beside slurmd."""

    image: Annotated[Image, needs("repository")] = Image()
    resources: Resources = field(default_factory=dict)
    security: Security = Security()
    liveness_probe: Object | None = None
    readiness_probe: Object | None = None


class Mount(Slim, frozen=True, gc=False):
    """A volume, and where it is mounted."""

    name: str = field(default_factory=str)
    mount_path: str = field(default_factory=str)
    sub_path: str | None = None
    read_only: bool | None = None
    volume_source: Object | None = None
    volume_claim_template_spec: Object | None = None


_Mounts = tuple[Annotated[Mount, needs("name", "mountPath")], ...]
_Retention = Annotated[str, one_of("Retain", "Delete")]


class ClaimRetention(Slim, frozen=True, gc=False):
    """What becomes of the workers' claims."""

    when_deleted: _Retention = "Delete"
    when_scaled: _Retention = "Delete"


class Volumes(Slim, frozen=True, gc=False):
    """The volumes of workers."""

    jail: Object = field(default_factory=dict)
    # Of the newer release, which insists on it; without, the spool goes with the pod.
    spool: Object | None = None
    jail_sub_mounts: _Mounts = ()
    custom_volume_mounts: _Mounts = ()
    shared_memory_size: Quantity = SHARED_MEMORY
    persistent_volume_claim_retention_policy: Annotated[
        ClaimRetention, default({"whenDeleted": "Delete", "whenScaled": "Delete"})
    ] = ClaimRetention()


class Slurmd(Sidecar, frozen=True, gc=False):
    """slurmd."""

    volumes: Annotated[Volumes, needs("jail")] = Volumes()
    port: Int32 = SLURMD_PORT
    custom_env: Objects = ()
    cgroup_version: CgroupVersion = "v2"


class NodeAttributes(Slim, frozen=True, gc=False):
    """Attributes of the nodes in Slurm, as the older release has them."""

    features: tuple[str, ...] = ()
    extra: str | None = None


class NodeConfig(Slim, frozen=True, gc=False):
    """Attributes of the nodes in Slurm."""

    features: tuple[str, ...] = ()
    static: str = ""
    dynamic: str = ""
    auto_resume: bool = True
    gres_config: tuple[str, ...] = ()


class Nvidia(Slim, frozen=True, gc=False):
    """NVIDIA's own."""

    gdr_copy_enabled: bool = False


class Gpu(Slim, frozen=True, gc=False):
    """Whether the workers have GPUs."""

    enabled: bool = False
    nvidia: Nvidia = Nvidia()


class Docker(Slim, frozen=True, gc=False):
    """Docker in workers."""

    enabled: bool = True


class Fabric(Slim, frozen=True, gc=False):
    """The network that the workers are on."""

    fabric: str = "root"


class NodeSetSpec(Slim, frozen=True, gc=False):
    """What the workers shall be."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.maxUnavailable) || (type(self.maxUnavailable) == int"
            " ? (self.maxUnavailable >= 1 && self.maxUnavailable <= 500)"
            " : (self.maxUnavailable.matches('^[1-9][0-9]*%$')"
            " && int(self.maxUnavailable.find('^[0-9]+')) * self.replicas / 100 <= 500))",
            "maxUnavailable must resolve to no more than 500 workers",
        ),
    )

    cluster_name: Annotated[
        str | None,
        about("The SlurmCluster that they belong to; it may be named by an annotation instead."),
    ] = None
    replicas: Annotated[Int32, about("How many there are.")] = 1
    max_unavailable: Annotated[
        int | str, about("How many may be away at a time: a number, or a share such as 20%.")
    ] = "20%"
    update_strategy: Annotated[
        str,
        one_of("rollingUpdate", "slurmAwareRollingUpdate"),
        about("How workers of an older shape are replaced; both wait for jobs."),
    ] = "rollingUpdate"
    slurmd: Annotated[Slurmd, needs("image", "resources", "volumes")] = Slurmd()
    munge: Annotated[Sidecar, needs("image", "resources")] = Sidecar()
    gpu: Gpu = Gpu()
    node_config: NodeConfig = NodeConfig()
    node_attributes: NodeAttributes = NodeAttributes()
    config_map_ref_supervisord: Annotated[
        str | None, about("A ConfigMap with supervisord.conf; by default the cluster's.")
    ] = None
    config_map_ref_sshd: Annotated[
        str | None, about("A ConfigMap with sshd_config; by default the cluster's.")
    ] = None
    node_selector: Annotated[dict[str, str], about("Labels of the nodes.")] = field(
        default_factory=dict
    )
    affinity: Annotated[Object | None, about("Kubernetes' affinity.")] = None
    tolerations: Annotated[Objects, about("Kubernetes' tolerations.")] = ()
    priority_class: Annotated[str | None, about("The PriorityClass of the pods.")] = None
    worker_annotations: Annotated[dict[str, str], about("Annotations of the pods.")] = field(
        default_factory=dict
    )
    custom_init_containers: Annotated[Objects, about("Containers that run first.")] = ()
    image_pull_secrets: Annotated[
        tuple[LocalName, ...], about("Secrets that images are pulled with.")
    ] = ()
    enable_host_user_namespace: Annotated[
        bool, about("Whether root in the pods is root on the node.")
    ] = False
    worker_init_random_delay_seconds: Annotated[
        Int32, said(minimum=0), about("Up to how long a worker waits before it starts.")
    ] = 0
    ephemeral_nodes: Annotated[
        bool, about("Whether Slurm starts and stops the workers by their load.")
    ] = False
    initial_number_ephemeral_nodes: Annotated[
        Int32, said(minimum=0), about("How many ephemeral workers there are at first.")
    ] = 1
    ephemeral_topology_wait_timeout: Annotated[
        Int32, said(minimum=60), about("How long an ephemeral worker waits for its place.")
    ] = 180
    docker: Docker | None = None
    topology: Fabric | None = None
    sssd: Annotated[Sidecar | None, needs("image", "resources")] = None
    sssd_debug_level: Annotated[Int32, said(minimum=0), about("How much SSSD logs.")] = 0
    sssd_conf_secret_ref_name: Annotated[str | None, about("A Secret with sssd.conf.")] = None
    sssd_ldap_ca_config_map_ref_name: Annotated[
        str | None,
        about("A ConfigMap with the certificates that LDAP servers prove themselves by."),
    ] = field(default=None, name="sssdLdapCAConfigMapRefName")


class NodeSetStatus(Slim, frozen=True, gc=False):
    """What is."""

    phase: str = "Pending"
    replicas: Int32 | None = None
    label_selector: str | None = None
    observed_generation: Int64 | None = None
    conditions: Conditions = ()


class NodeSet(Resource, frozen=True, gc=False):
    """Workers of one shape."""

    spec: Annotated[NodeSetSpec, needs("slurmd", "munge", "updateStrategy")] = field(
        default_factory=NodeSetSpec
    )
    status: NodeSetStatus = NodeSetStatus()
