"""The six kinds of slinky.slurm.net, v1beta1: their schemas, and what they are read as. Pure."""

from typing import Annotated, Any, ClassVar

from msgspec import field

from ...kube.kinds import Kind
from ...kube.objects import Object, Resource, Slim
from ...kube.schema import NULLABLE, PRESERVE, Rule
from .parts import (
    Container,
    External,
    Int32,
    Key,
    KeyReference,
    LocalReference,
    Persistence,
    PodTemplate,
    Reference,
    References,
    Service,
    Status,
    Texts,
    Time,
    TokenKey,
    about,
    needs,
    one_of,
    said,
)

GROUP = "slinky.slurm.net"
VERSION = "v1beta1"
CONTROLLER = Kind(GROUP, VERSION, "Controller", "controllers")
NODE_SET = Kind(GROUP, VERSION, "NodeSet", "nodesets")
LOGIN_SET = Kind(GROUP, VERSION, "LoginSet", "loginsets")
ACCOUNTING = Kind(GROUP, VERSION, "Accounting", "accountings")
REST_API = Kind(GROUP, VERSION, "RestApi", "restapis")
TOKEN = Kind(GROUP, VERSION, "Token", "tokens")
KINDS = (CONTROLLER, NODE_SET, LOGIN_SET, ACCOUNTING, REST_API, TOKEN)

SLURM_KEY = "The key of auth/slurm, an entry of a Secret."
JWT_KEY = "The key that signs tokens, an entry of a Secret."
JWT_HS256_KEY = "Deprecated: use jwtKeyRef, which wins."
JWKS = "The public keys of tokens, an entry of a ConfigMap."
EXTERNAL = "Whether the daemon runs elsewhere, where the operator only refers to it."
ADDRESS = "Where the daemon runs, if it is external."
EXTRA_SSHD = "Lines for sshd_config."

ControllerRef = Annotated[
    Reference, about("The Controller of the cluster that it belongs to; it cannot be changed.")
]
Replicas = Annotated[Int32, about("How many there are.")]

KEYS = (
    Rule(
        "self.external || has(self.slurmKeyRef)", "slurmKeyRef must be set when external is false"
    ),
    Rule(
        "self.external || has(self.jwtKeyRef) || has(self.jwtHs256KeyRef)",
        "jwtKeyRef or jwtHs256KeyRef must be set when external is false",
    ),
    Rule(
        "!self.external || has(self.externalConfig)",
        "externalConfig must be set when external is true",
    ),
)


# -- Controller

DURATION = (
    "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"
)
PrometheusDuration = Annotated[str | None, said(pattern=DURATION)]


class Ha(Slim, frozen=True, gc=False):
    """Slurm's own high availability: further slurmctlds that stand by."""

    enabled: bool = False
    backups: Annotated[Int32, said(minimum=1)] = 1


class Endpoint(Slim, frozen=True, gc=False):
    """A path that Prometheus reads."""

    path: str = field(default_factory=str)
    interval: PrometheusDuration = None
    scrape_timeout: PrometheusDuration = None


class ServiceMonitor(Slim, frozen=True, gc=False):
    """How Prometheus finds slurmctld, by an object of the Prometheus operator."""

    enabled: bool = False
    labels: Texts = None
    annotations: Texts = None
    interval: PrometheusDuration = None
    scrape_timeout: PrometheusDuration = None
    endpoints: Annotated[tuple[Annotated[Endpoint, needs("path")], ...] | None, NULLABLE] = None


class Metrics(Slim, frozen=True, gc=False):
    """slurmctld's own metrics."""

    enabled: bool = False
    service_monitor: Annotated[ServiceMonitor | None, NULLABLE] = None


class ControllerSpec(Slim, frozen=True, gc=False):
    """What slurmctld shall be."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        *KEYS,
        Rule(
            "!has(self.ha) || !self.ha.enabled || (has(self.persistence)"
            " && self.persistence.enabled && has(self.persistence.existingClaim)"
            " && self.persistence.existingClaim.size() > 0)",
            "slurm high availability (HA) mode requires existing PVC with an access mode of"
            " ReadWriteMany",
        ),
    )

    cluster_name: Annotated[
        str | None,
        about("Slurm's name of the cluster, up to 40 characters; by default <namespace>_<name>."),
    ] = None
    slurm_key_ref: Annotated[Key | None, about(SLURM_KEY)] = None
    jwt_key_ref: Annotated[Key | None, about(JWT_KEY)] = None
    jwt_hs256_key_ref: Annotated[Key | None, about(JWT_HS256_KEY)] = None
    jwks_key_ref: Annotated[Key | None, about(JWKS)] = None
    accounting_ref: Annotated[Reference | None, about("The Accounting that it reports to.")] = None
    external: Annotated[bool, about(EXTERNAL)] = False
    external_config: Annotated[External | None, about(ADDRESS)] = None
    ha: Annotated[Ha, needs("enabled")] = Ha()
    slurmctld: Container = field(default_factory=dict)
    inplace_reconfigure: Annotated[
        bool,
        about("Whether a new configuration is read by the running slurmctld, without a restart."),
    ] = False
    reconfigure: Container = field(default_factory=dict)
    logfile: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    extra_conf: Annotated[str | None, about("Lines for slurm.conf.")] = None
    config_file_refs: Annotated[
        References, about("ConfigMaps whose entries become files beside slurm.conf.")
    ] = None
    prolog_script_refs: Annotated[References, about("ConfigMaps with prologs of jobs.")] = None
    epilog_script_refs: Annotated[References, about("ConfigMaps with epilogs of jobs.")] = None
    prolog_slurmctld_script_refs: Annotated[
        References, about("ConfigMaps with prologs that slurmctld runs.")
    ] = None
    epilog_slurmctld_script_refs: Annotated[
        References, about("ConfigMaps with epilogs that slurmctld runs.")
    ] = None
    persistence: Annotated[Persistence, needs("enabled")] = Persistence()
    service: Service = Service()
    metrics: Metrics = Metrics()


class Controller(Resource, frozen=True, gc=False):
    """A Slurm cluster's slurmctld and its configuration."""

    spec: ControllerSpec = ControllerSpec()
    status: Status = Status()


# -- NodeSet


class Ssh(Slim, frozen=True, gc=False):
    """Logins by SSH to a worker, for those who have a job there."""

    enabled: bool = False
    extra_sshd_config: Annotated[str | None, about(EXTRA_SSHD)] = None
    sssd_conf_ref: Annotated[Key | None, about("sssd.conf, an entry of a Secret.")] = None


class Partition(Slim, frozen=True, gc=False):
    """A partition of these workers alone, named after the NodeSet."""

    enabled: bool = False
    config: Annotated[str | None, said(pattern="^[^\\n]+$"), about("Its options.")] = None


class RollingUpdate(Slim, frozen=True, gc=False):
    """How fast workers are replaced."""

    max_unavailable: int | str = "25%"


class ScheduledUpdate(Slim, frozen=True, gc=False):
    """When workers are replaced: a maintenance reservation of Slurm's."""

    start_time: Time | None = None
    duration: str = "30m"
    flags: Annotated[tuple[str, ...] | None, NULLABLE] = None


class UpdateStrategy(Slim, frozen=True, gc=False):
    """How workers of an older shape are replaced."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "self.type != 'ScheduledUpdate' || (has(self.scheduledUpdate)"
            " && has(self.scheduledUpdate.startTime) && has(self.scheduledUpdate.duration))",
            "scheduledUpdate.startTime and scheduledUpdate.duration are required when type is"
            " ScheduledUpdate",
        ),
    )

    type: Annotated[str, one_of("RollingUpdate", "OnDelete", "ScheduledUpdate")] = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()
    scheduled_update: ScheduledUpdate | None = None


Retention = Annotated[str, one_of("Retain", "Delete")]


class ClaimRetention(Slim, frozen=True, gc=False):
    """What becomes of the workers' claims."""

    when_deleted: Retention = "Retain"
    when_scaled: Retention = "Retain"


class NodeSetSpec(Slim, frozen=True, gc=False):
    """What the workers shall be."""

    controller_ref: ControllerRef = field(default_factory=LocalReference)
    replicas: Annotated[Int32, about("How many there are, unless every node has one.")] = 1
    scaling_mode: Annotated[
        str,
        one_of("DaemonSet", "StatefulSet"),
        about("As many as replicas (StatefulSet), or one on each node that fits (DaemonSet)."),
    ] = "StatefulSet"
    slurmd: Container = field(default_factory=dict)
    ssh: Annotated[Ssh | None, needs("enabled", "sssdConfRef")] = None
    logfile: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    extra_conf: Annotated[
        str | None, about("Options of the Slurm nodes: Key=Value, parted by spaces.")
    ] = None
    partition: Annotated[Partition, needs("enabled")] = Partition()
    volume_claim_templates: Annotated[
        Any,
        said(**{PRESERVE: True}),
        NULLABLE,
        about("A claim for each worker; they cannot be changed."),
    ] = None
    update_strategy: UpdateStrategy = UpdateStrategy()
    revision_history_limit: Annotated[Int32, about("How many old revisions are kept.")] = 0
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()
    min_ready_seconds: Annotated[
        Int32 | None, about("How long a worker is ready before it counts as available.")
    ] = None
    ordinal_padding: Annotated[int, about("Digits of a worker's number.")] = 0
    pin_to_node: Annotated[bool, about("Whether a worker returns to the node it was on.")] = False
    workload_disruption_protection: Annotated[
        bool, about("Whether busy workers are kept from eviction.")
    ] = True
    prune_slurm_node_records: Annotated[
        str,
        one_of("Never", "NodeNotFound"),
        about("Whether Slurm forgets nodes that are gone (DaemonSet)."),
    ] = "Never"
    oversubscribe_node: Annotated[bool, about("Whether workers may share a node.")] = False
    taint_kube_nodes: Annotated[
        bool, about("Of older releases, and without effect: nodes are not tainted.")
    ] = False

    @property
    def claims(self) -> tuple[Object, ...]:
        """Return the claim templates, without what is none: the schema lets anything pass."""
        found = self.volume_claim_templates
        items = found if isinstance(found, list) else []
        return tuple(item for item in items if isinstance(item, dict))


class NodeSetStatus(Status, frozen=True, gc=False):
    """What is."""

    replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    ready_replicas: Int32 | None = None
    available_replicas: Int32 | None = None
    unavailable_replicas: Int32 | None = None
    desired: Int32 | None = None
    slurm_idle: Int32 | None = None
    slurm_allocated: Int32 | None = None
    slurm_down: Int32 | None = None
    slurm_drain: Int32 | None = None
    node_set_hash: str = field(default_factory=str)
    collision_count: Int32 | None = None
    ordinal_to_node: Texts = None
    selector: str = field(default_factory=str)


class NodeSet(Resource, frozen=True, gc=False):
    """Workers of one shape."""

    spec: Annotated[NodeSetSpec, needs("controllerRef")] = field(default_factory=NodeSetSpec)
    status: Annotated[NodeSetStatus, needs("nodeSetHash", "selector")] = field(
        default_factory=NodeSetStatus
    )


# -- LoginSet


class RollingDeployment(Slim, frozen=True, gc=False):
    """How fast the pods of a Deployment are replaced."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class Strategy(Slim, frozen=True, gc=False):
    """How the pods of a Deployment are replaced."""

    type: str | None = None
    rolling_update: RollingDeployment | None = None


class LoginSetSpec(Slim, frozen=True, gc=False):
    """What the login nodes shall be."""

    controller_ref: ControllerRef = field(default_factory=LocalReference)
    replicas: Replicas = 1
    login: Container = field(default_factory=dict)
    initconf: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    root_ssh_authorized_keys: Annotated[
        str | None, about("Public keys with which root may log in, one per line.")
    ] = None
    extra_sshd_config: Annotated[str | None, about(EXTRA_SSHD)] = None
    sssd_conf_ref: Annotated[Key, about("sssd.conf, an entry of a Secret.")] = field(
        default_factory=KeyReference
    )
    strategy: Strategy | None = None
    service: Service = Service()


class LoginSetStatus(Status, frozen=True, gc=False):
    """What is."""

    replicas: Int32 | None = None
    ready_replicas: Int32 | None = None
    selector: str = field(default_factory=str)


class LoginSet(Resource, frozen=True, gc=False):
    """Login nodes of one shape."""

    spec: Annotated[LoginSetSpec, needs("controllerRef", "sssdConfRef")] = field(
        default_factory=LoginSetSpec
    )
    status: Annotated[LoginSetStatus, needs("selector")] = field(default_factory=LoginSetStatus)


# -- Accounting


class StorageConfig(Slim, frozen=True, gc=False):
    """The database that slurmdbd keeps its records in."""

    host: str = field(default_factory=str)
    port: int = 3306
    database: str = "slurm_acct_db"
    username: str | None = None
    password_key_ref: Key = field(default_factory=KeyReference)


class AccountingSpec(Slim, frozen=True, gc=False):
    """What slurmdbd shall be."""

    RULES: ClassVar[tuple[Rule, ...]] = KEYS

    slurm_key_ref: Annotated[Key | None, about(SLURM_KEY)] = None
    jwt_hs256_key_ref: Annotated[Key | None, about(JWT_HS256_KEY)] = None
    jwt_key_ref: Annotated[Key | None, about(JWT_KEY)] = None
    jwks_key_ref: Annotated[Key | None, about(JWKS)] = None
    external: Annotated[bool, about(EXTERNAL)] = False
    external_config: Annotated[External | None, about(ADDRESS)] = None
    slurmdbd: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    storage_config: Annotated[StorageConfig | None, needs("host", "passwordKeyRef")] = None
    extra_conf: Annotated[str | None, about("Lines for slurmdbd.conf.")] = None
    service: Service = Service()


class Accounting(Resource, frozen=True, gc=False):
    """slurmdbd, which keeps the records of jobs, accounts and users."""

    spec: AccountingSpec = AccountingSpec()
    status: Status = Status()


# -- RestApi


class RestApiSpec(Slim, frozen=True, gc=False):
    """What slurmrestd shall be."""

    controller_ref: ControllerRef = field(default_factory=LocalReference)
    replicas: Replicas = 1
    slurmrestd: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    service: Service = Service()


class RestApi(Resource, frozen=True, gc=False):
    """slurmrestd, Slurm's REST API."""

    spec: Annotated[RestApiSpec, needs("controllerRef")] = field(default_factory=RestApiSpec)
    status: Status = Status()


# -- Token


class TokenSpec(Slim, frozen=True, gc=False):
    """What the token shall be."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.jwtKeyRef) || has(self.jwtHs256KeyRef)",
            "jwtKeyRef or jwtHs256KeyRef must be set",
        ),
    )

    username: Annotated[str, about("The user of Slurm that it is for.")] = field(
        default_factory=str
    )
    jwt_hs256_key_ref: Annotated[TokenKey | None, about(JWT_HS256_KEY)] = None
    jwt_key_ref: Annotated[Key | None, about(JWT_KEY)] = None
    lifetime: Annotated[str | None, about("How long it is valid, such as 15m or 1h30m.")] = None
    refresh: Annotated[bool, about("Whether it is replaced before it ends.")] = True
    secret_ref: Annotated[Key | None, about("The entry of a Secret that it is written to.")] = None


class TokenStatus(Status, frozen=True, gc=False):
    """What is."""

    issued_at: Time | None = None


class Token(Resource, frozen=True, gc=False):
    """A token for a user of Slurm's REST API, kept in a Secret."""

    spec: Annotated[TokenSpec, needs("username")] = field(default_factory=TokenSpec)
    status: TokenStatus = TokenStatus()


TYPES: dict[str, type[Resource]] = {
    "Controller": Controller,
    "NodeSet": NodeSet,
    "LoginSet": LoginSet,
    "Accounting": Accounting,
    "RestApi": RestApi,
    "Token": Token,
}
