"""The pods of a SlurmCluster of slurm.nebius.ai, all but those of accounting. Pure."""

from typing import Annotated, ClassVar

from msgspec import field

from ...kube.fields import DURATION, Int32, Int64, Quantity, needs, one_of, said
from ...kube.objects import Slim
from ...kube.schema import Rule, default, rules
from .parts import (
    SHARED_MEMORY,
    UNCONFINED,
    CgroupVersion,
    Container,
    FilterName,
    LocalName,
    Mounts,
    NodeContainer,
    NodeVolume,
    Objects,
    PullPolicy,
    SlurmNode,
)

Duration = Annotated[str, said(pattern=DURATION)]
LogLevel = Annotated[Int32, said(minimum=0)]


class PopulateJail(Slim, frozen=True, gc=False):
    """The Job that fills the shared root."""

    image: str = field(default_factory=str)
    image_pull_policy: PullPolicy = "IfNotPresent"
    image_pull_secrets: tuple[LocalName, ...] = ()
    k8s_node_filter_name: FilterName = field(default_factory=str)
    jail_snapshot_volume: NodeVolume | None = None
    overwrite: bool = False
    app_armor_profile: str = UNCONFINED
    priority_class: str | None = None
    host_users: bool | None = None


# -- slurmctld


class ControllerVolumes(Slim, frozen=True, gc=False):
    """The volumes of slurmctld."""

    spool: NodeVolume = NodeVolume()
    jail: NodeVolume = NodeVolume()
    custom_mounts: Mounts = ()


_SCRAPED = {"interval": "30s", "scrapeTimeout": "28s"}


class ServiceMonitor(Slim, frozen=True, gc=False):
    """How Prometheus finds slurmctld."""

    interval: Duration = "30s"
    scrape_timeout: Duration = "28s"
    endpoints: tuple[str, ...] = ()


class OpenMetrics(Slim, frozen=True, gc=False):
    """slurmctld's own metrics."""

    enabled: bool = True
    service_monitor: Annotated[ServiceMonitor, default(_SCRAPED)] = ServiceMonitor()


class Controller(Slim, frozen=True, gc=False):
    """slurmctld; there is one."""

    custom_init_containers: Objects = ()
    k8s_node_filter_name: FilterName = field(default_factory=str)
    priority_class: str | None = None
    host_users: bool | None = None
    slurmctld: Container = field(default_factory=NodeContainer)
    munge: Container = field(default_factory=NodeContainer)
    volumes: Annotated[ControllerVolumes, needs("spool", "jail")] = ControllerVolumes()
    service_account_name: str | None = None
    open_metrics: OpenMetrics | None = None
    sssd: Container | None = None
    sssd_debug_level: LogLevel = 0
    sssd_conf_secret_ref_name: str | None = None
    sssd_ldap_ca_config_map_ref_name: str | None = field(
        default=None, name="sssdLdapCAConfigMapRefName"
    )


# -- workers of the cluster's own


class WorkerVolumes(Slim, frozen=True, gc=False):
    """The volumes of workers."""

    spool: NodeVolume = NodeVolume()
    jail: NodeVolume = NodeVolume()
    jail_sub_mounts: Mounts = ()
    custom_mounts: Mounts = ()
    shared_memory_size: Quantity = SHARED_MEMORY


class Worker(SlurmNode, frozen=True, gc=False):
    """slurmd: workers of one shape; NodeSets have others."""

    slurmd: Container = field(default_factory=NodeContainer)
    munge: Container = field(default_factory=NodeContainer)
    volumes: Annotated[WorkerVolumes, needs("spool", "jail")] = WorkerVolumes()
    cgroup_version: CgroupVersion = "v2"
    enable_gdr_copy: bool = field(default=False, name="enableGDRCopy")
    slurm_node_extra: str | None = None
    sshd_config_map_ref_name: str | None = None
    supervisord_config_map_ref_name: str | None = None
    max_unavailable: int | str = "20%"
    worker_annotations: dict[str, str] = field(default_factory=dict)


# -- login


class LoginVolumes(Slim, frozen=True, gc=False):
    """The volumes of login nodes."""

    jail: NodeVolume = NodeVolume()
    jail_sub_mounts: Mounts = ()
    custom_mounts: Mounts = ()


class UserIsolation(Slim, frozen=True, gc=False):
    """What one user may take of a login node."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.memoryHigh) || !has(self.memoryMax) ||"
            " quantity(self.memoryHigh).compareTo(quantity(self.memoryMax)) <= 0",
            "memoryHigh must not exceed memoryMax",
        ),
    )

    enabled: bool = False
    memory_high: Quantity | None = None
    memory_max: Quantity | None = None
    cpu_weight: Annotated[Int32, said(minimum=1, maximum=10000)] = 100


class Login(SlurmNode, frozen=True, gc=False):
    """sshd: where people log in."""

    sshd: Container = field(default_factory=NodeContainer)
    munge: Container = field(default_factory=NodeContainer)
    sshd_service_type: str = field(default_factory=str)
    sshd_service_annotations: dict[str, str] = field(default_factory=dict)
    sshd_config_map_ref_name: str | None = None
    ssh_root_public_keys: tuple[str, ...] = ()
    sshd_service_load_balancer_ip: str | None = field(
        default=None, name="sshdServiceLoadBalancerIP"
    )
    sshd_service_load_balancer_source_ranges: tuple[str, ...] = ()
    sshd_service_node_port: Int32 = 0
    volumes: Annotated[LoginVolumes, needs("jail")] = LoginVolumes()
    user_isolation: UserIsolation | None = None
    sssd: Container | None = None
    sssd_debug_level: LogLevel = 0
    sssd_conf_secret_ref_name: str | None = None
    sssd_ldap_ca_config_map_ref_name: str | None = field(
        default=None, name="sssdLdapCAConfigMapRefName"
    )


# -- slurmrestd, the exporter, the keeper of configurations


class Rest(SlurmNode, frozen=True, gc=False):
    """slurmrestd, Slurm's REST API."""

    enabled: bool = False
    thread_count: Annotated[Int32, said(minimum=2, maximum=1024)] = 3
    max_connections: Annotated[Int32, said(minimum=2)] = 10
    rest: Container | None = None


_ACTIONS = (
    "replace", "Replace", "keep", "Keep", "drop", "Drop", "hashmod", "HashMod",
    "labelmap", "LabelMap", "labeldrop", "LabelDrop", "labelkeep", "LabelKeep",
    "lowercase", "Lowercase", "uppercase", "Uppercase", "keepequal", "KeepEqual",
    "dropequal", "DropEqual",
)  # fmt: skip


class Relabel(Slim, frozen=True, gc=False):
    """A rule of Prometheus that changes labels."""

    action: Annotated[str, one_of(*_ACTIONS)] = "replace"
    modulus: int | None = None
    regex: str | None = None
    replacement: str | None = None
    separator: str | None = None
    source_labels: tuple[str, ...] = ()
    target_label: str | None = None


class PodMonitor(Slim, frozen=True, gc=False):
    """How Prometheus finds the exporter."""

    job_label: str | None = None
    interval: Duration | None = None
    scrape_timeout: Duration | None = None
    relabel_config: tuple[Relabel, ...] = ()
    metric_relabel_configs: tuple[Relabel, ...] = ()


class OldExporter(NodeContainer, frozen=True, gc=False):
    """The exporter of releases before the contract: accepted, and without effect."""

    pod_template_name_ref: str | None = None


class ExporterVolumes(Slim, frozen=True, gc=False):
    """The volumes of the exporter of earlier releases."""

    jail: NodeVolume = NodeVolume()


_MONITOR = {"interval": "30s", "jobLabel": "slurm-exporter", "scrapeTimeout": "20s"}


class Exporter(SlurmNode, frozen=True, gc=False):
    """The exporter of metrics."""

    enabled: bool = False
    pod_monitor_config: Annotated[PodMonitor, default(_MONITOR)] = PodMonitor(
        "slurm-exporter", "30s", "20s"
    )
    exporter_container: Container | None = None
    collection_interval: Duration = "30s"
    max_collector_inflight: Annotated[Int32, said(minimum=1)] = 1
    job_source: Annotated[str, one_of("controller", "accounting")] = "controller"
    accounting_jobs_lookback: Annotated[
        Duration,
        rules(Rule("self.matches('[1-9]')", "accountingJobsLookback must be greater than zero")),
    ] = "1h"
    service_account_name: str | None = None
    exporter: Annotated[OldExporter | None, needs("image")] = None
    munge: Container | None = None
    volumes: Annotated[ExporterVolumes | None, needs("jail")] = None


class ConfigController(Slim, frozen=True, gc=False):
    """The keeper of configurations in the shared root."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.reconfigureWaitTimeout) || !has(self.reconfigurePollInterval) ||"
            " duration(self.reconfigureWaitTimeout) > duration(self.reconfigurePollInterval)",
            "ReconfigureWaitTimeout must be greater than ReconfigurePollInterval",
        ),
    )

    node: Annotated[SlurmNode | None, needs("k8sNodeFilterName")] = None
    container: Container | None = None
    run_as_uid: Int64 | None = None
    run_as_gid: Int64 | None = None
    reconfigure_poll_interval: str = "20s"
    reconfigure_wait_timeout: str = "1m"
    host_users: bool | None = None
    service_account_name: Annotated[str | None, said(minLength=1)] = None
