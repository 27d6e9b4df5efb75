"""Accounting in a SlurmCluster of slurm.nebius.ai: slurmdbd and its database. Pure."""

from typing import Annotated

from msgspec import field

from ...kube.fields import Int32, Quantity, one_of, said
from ...kube.objects import Object, Slim
from ...kube.schema import OPEN, PRESERVE, schema
from .parts import Container, NodeContainer, SecretKey, SlurmNode

YesNo = Annotated[str, one_of("yes", "no")]


class SlurmdbdConfig(Slim, frozen=True, gc=False):
    """Settings of slurmdbd.conf."""

    archive_events: YesNo = "yes"
    archive_jobs: YesNo = "yes"
    archive_resvs: YesNo = "yes"
    archive_steps: YesNo = "no"
    archive_suspend: YesNo = "no"
    archive_txn: YesNo = field(default="no", name="archiveTXN")
    archive_usage: YesNo = "yes"
    debug_level: Annotated[
        str,
        one_of(
            "quiet", "fatal", "error", "info", "verbose",
            "debug", "debug2", "debug3", "debug4", "debug5",
        ),
    ] = "info"  # fmt: skip
    tcp_timeout: Int32 = 2
    purge_event_after: str = "1month"
    purge_job_after: str = "12month"
    purge_resv_after: str = "1month"
    purge_step_after: str = "1month"
    purge_suspend_after: str = "1month"
    purge_txn_after: str = field(default="12month", name="purgeTXNAfter")
    purge_usage_after: str = "24month"
    private_data: str | None = None
    debug_flags: Annotated[
        str | None,
        one_of(
            "AuditRPCs", "DB_ARCHIVE", "DB_ASSOC", "DB_EVENT", "DB_JOB", "DB_QOS", "DB_QUERY",
            "DB_RESERVATION", "DB_RESOURCE", "DB_STEP", "DB_TRES", "DB_USAGE", "Network",
        ),
    ] = None  # fmt: skip


_TRES = "^((Billing|CPU|Mem|VMem|Node|Energy|Pages|FS/Disk|FS/Lustre|Gres/gpu)(,)?)+$"


class AccountingSlurmConfig(Slim, frozen=True, gc=False):
    """Settings of slurm.conf that are of accounting."""

    accounting_storage_tres: Annotated[str, said(pattern=_TRES)] = field(
        default="CPU,Mem,Node,VMem,Gres/gpu", name="accountingStorageTRES"
    )
    accounting_store_flags: str | None = None
    acct_gather_filesystem_type: str | None = None
    acct_gather_interconnect_type: str | None = None
    acct_gather_profile_type: str | None = None
    job_acct_gather_type: Annotated[
        str, one_of("jobacct_gather/linux", "jobacct_gather/cgroup", "jobacct_gather/none")
    ] = "jobacct_gather/cgroup"
    job_acct_gather_frequency: Int32 = 0
    job_acct_gather_params: Annotated[
        str | None, one_of("NoShared", "UsePss", "OverMemoryKill", "DisableGPUAcct")
    ] = None
    priority_weight_age: Int32 = 0
    priority_weight_fairshare: Int32 = 0
    priority_weight_qos: Int32 = field(default=0, name="priorityWeightQOS")
    priority_weight_tres: str | None = field(default=None, name="priorityWeightTRES")


# -- a database of the user's


class Tls(Slim, frozen=True, gc=False):
    """What the connection to the database is proven with."""

    server_ca_secret_ref: str | None = field(default=None, name="serverCASecretRef")
    client_cert_secret_ref: str | None = None


class ExternalDatabase(Slim, frozen=True, gc=False):
    """A database that the user runs."""

    enabled: bool = False
    host: str | None = None
    port: Int32 = 3306
    user: str | None = None
    password_secret_key_ref: SecretKey | None = None
    tls: Tls | None = None
    storage_parameters: dict[str, str] = field(default_factory=dict)


# -- a database of ours, perhaps by mariadb-operator


class MariaMetrics(Slim, frozen=True, gc=False):
    """The database's own metrics."""

    enabled: bool = True


class ClaimRetention(Slim, frozen=True, gc=False):
    """What becomes of the database's claims."""

    when_deleted: str | None = None
    when_scaled: str | None = None


class Storage(Slim, frozen=True, gc=False):
    """Where the database keeps its files."""

    ephemeral: bool | None = None
    resize_in_use_volumes: bool | None = None
    size: Quantity | None = None
    storage_class_name: str | None = None
    volume_claim_template: Object | None = None
    wait_for_volume_resize: bool | None = None
    pvc_retention_policy: ClaimRetention | None = None


class _Password(Slim, frozen=True, gc=False):
    name: str = ""
    key: str = field(default_factory=str)
    generate: bool = False


class _Primary(Slim, frozen=True, gc=False):
    pod_index: int | None = None
    automatic_failover: bool | None = None
    auto_failover: bool | None = None
    auto_failover_delay: str | None = None


class _Replica(Slim, frozen=True, gc=False):
    connection_retries: int | None = None
    connection_timeout: str | None = None
    connection_retry_seconds: int | None = None
    max_lag_seconds: int | None = None
    sync_timeout: str | None = None
    gtid: Annotated[str | None, one_of("CurrentPos", "SlavePos")] = None
    wait_point: Annotated[str | None, one_of("AfterSync", "AfterCommit")] = None
    repl_password_secret_key_ref: Annotated[_Password | None, said(required=["key"])] = None


class _Replication(Slim, frozen=True, gc=False):
    enabled: bool | None = None
    probes_enabled: bool | None = None
    gtid_strict_mode: bool | None = None
    semi_sync_enabled: bool | None = None
    semi_sync_ack_timeout: str | None = None
    semi_sync_wait_point: Annotated[str | None, one_of("AfterSync", "AfterCommit")] = None
    standalone_probes: bool | None = None
    primary: Annotated[_Primary | None, OPEN] = None
    replica: Annotated[_Replica | None, OPEN] = None


# It is mariadb-operator's, and changes with its releases: all of it is handed on, and what several
# of them have in common is checked here already.
_REPLICATION = schema(_Replication, described=-1)
Replication = Annotated[
    Object | None, said(properties=_REPLICATION["properties"], **{PRESERVE: True})
]


class MariaDb(NodeContainer, frozen=True, gc=False):
    """A database that is made for the cluster."""

    enabled: bool | None = None
    protected_secret: bool = False
    replicas: Int32 | None = None
    metrics: MariaMetrics | None = None
    replication: Replication = None
    storage: Storage | None = None
    pod_security_context: Object | None = None
    security_context: Object | None = None
    priority_class_name: str | None = None


class Accounting(SlurmNode, frozen=True, gc=False):
    """slurmdbd, which keeps the records of jobs, accounts and users."""

    enabled: bool = False
    slurmdbd: Container | None = None
    munge: Container | None = None
    external_db: ExternalDatabase = field(default_factory=ExternalDatabase, name="externalDB")
    mariadb_operator: Annotated[MariaDb | None, said(required=["image"])] = None
    slurmdbd_config: SlurmdbdConfig = SlurmdbdConfig()
    slurm_config: AccountingSlurmConfig = AccountingSlurmConfig()
