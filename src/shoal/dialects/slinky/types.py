"""The six kinds of slinky.slurm.net, v1beta1: their schemas, and what they are read as. Pure."""

from typing import Annotated, ClassVar

from msgspec import field

from ...kube.fields import Int32, Status, Time, about, needs
from ...kube.kinds import Kind
from ...kube.objects import Resource, Slim
from ...kube.schema import Rule
from .controller_types import (
    Controller,
    ControllerSpec,
    Endpoint,
    Ha,
    Metrics,
    ServiceMonitor,
)
from .nodeset_types import (
    ClaimRetention,
    NodeSet,
    NodeSetSpec,
    NodeSetStatus,
    Partition,
    RollingUpdate,
    ScheduledUpdate,
    Ssh,
    UpdateStrategy,
)
from .parts import (
    ADDRESS,
    EXTERNAL,
    EXTRA_SSHD,
    JWKS,
    JWT_HS256_KEY,
    JWT_KEY,
    KEYS,
    SLURM_KEY,
    Container,
    ControllerRef,
    External,
    Key,
    KeyReference,
    LocalReference,
    PodTemplate,
    Replicas,
    Service,
    TokenKey,
)

__all__ = [
    "ACCOUNTING",
    "CONTROLLER",
    "GROUP",
    "KINDS",
    "LOGIN_SET",
    "NODE_SET",
    "REST_API",
    "TOKEN",
    "TYPES",
    "VERSION",
    "Accounting",
    "AccountingSpec",
    "ClaimRetention",
    "Controller",
    "ControllerSpec",
    "Endpoint",
    "Ha",
    "LocalReference",
    "LoginSet",
    "LoginSetSpec",
    "LoginSetStatus",
    "Metrics",
    "NodeSet",
    "NodeSetSpec",
    "NodeSetStatus",
    "Partition",
    "RestApi",
    "RestApiSpec",
    "RollingDeployment",
    "RollingUpdate",
    "ScheduledUpdate",
    "ServiceMonitor",
    "Ssh",
    "StorageConfig",
    "Strategy",
    "Token",
    "TokenSpec",
    "TokenStatus",
    "UpdateStrategy",
]

GROUP = "slinky.slurm.net"
VERSION = "v1beta1"
CONTROLLER = Kind(GROUP, VERSION, "Controller", "controllers")
NODE_SET = Kind(GROUP, VERSION, "NodeSet", "nodesets")
LOGIN_SET = Kind(GROUP, VERSION, "LoginSet", "loginsets")
ACCOUNTING = Kind(GROUP, VERSION, "Accounting", "accountings")
REST_API = Kind(GROUP, VERSION, "RestApi", "restapis")
TOKEN = Kind(GROUP, VERSION, "Token", "tokens")
KINDS = (CONTROLLER, NODE_SET, LOGIN_SET, ACCOUNTING, REST_API, TOKEN)


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
