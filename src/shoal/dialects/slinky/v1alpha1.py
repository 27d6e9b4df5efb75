"""The six kinds of slinky.slurm.net as v1alpha1 has them; only their schemas are used. Pure.

Nothing is read in this version: the API server stores v1beta1 and asks us to convert.
"""

from typing import Annotated, Any

from msgspec import field

from ...kube.fields import WHOLE, Int32, Quantity, Status, Time, needs, said
from ...kube.objects import Object, Resource, Slim
from ...kube.schema import PRESERVE, list_map
from .parts import Container, Key, Persistence, TokenKey

VERSION = "v1alpha1"


class ObjectReference(Slim, frozen=True, gc=False):
    """Another object."""

    name: str | None = None
    namespace: str | None = None


Reference = Annotated[ObjectReference, WHOLE]


class Claim(Slim, frozen=True, gc=False):
    """A claim of the pod's that a container uses."""

    name: str = field(default_factory=str)
    request: str | None = None


class Resources(Slim, frozen=True, gc=False):
    """What a container needs."""

    claims: Annotated[tuple[Annotated[Claim, needs("name")], ...], list_map("name")] = ()
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class Sidecar(Slim, frozen=True, gc=False):
    """Some of a container that stands beside the daemon's."""

    image: str | None = None
    image_pull_policy: str | None = None
    resources: Resources | None = None


class Marks(Slim, frozen=True, gc=False):
    """Labels and annotations of what is made."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


class PodTemplate(Slim, frozen=True, gc=False):
    """What is laid over the pods that the operator makes."""

    metadata: Marks = Marks()
    spec: Object = field(default_factory=dict)


class Service(Slim, frozen=True, gc=False):
    """What is laid over the Service that the operator makes."""

    spec: Object = field(default_factory=dict)
    port: int | None = None
    node_port: int | None = None


class ControllerSpec(Slim, frozen=True, gc=False):
    """What slurmctld shall be."""

    cluster_name: str | None = None
    slurm_key_ref: Key | None = None
    jwt_hs256_key_ref: Key | None = None
    accounting_ref: Reference | None = None
    slurmctld: Container = field(default_factory=dict)
    reconfigure: Sidecar | None = None
    logfile: Sidecar | None = None
    template: PodTemplate = PodTemplate()
    extra_conf: str | None = None
    config_file_refs: tuple[Reference, ...] = ()
    prolog_script_refs: tuple[Reference, ...] = ()
    epilog_script_refs: tuple[Reference, ...] = ()
    persistence: Annotated[Persistence | None, needs("enabled")] = None
    service: Service = Service()


class Controller(Resource, frozen=True, gc=False):
    """A Slurm cluster's slurmctld and its configuration."""

    spec: Annotated[ControllerSpec | None, needs("slurmKeyRef", "jwtHs256KeyRef")] = None
    status: Status = Status()


class Partition(Slim, frozen=True, gc=False):
    """A partition of these workers alone."""

    enabled: bool = True
    config: str | None = None


class RollingUpdate(Slim, frozen=True, gc=False):
    """How fast workers are replaced."""

    max_unavailable: int | str | None = None


class UpdateStrategy(Slim, frozen=True, gc=False):
    """How workers of an older shape are replaced."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class ClaimRetention(Slim, frozen=True, gc=False):
    """What becomes of the workers' claims."""

    when_deleted: str | None = None
    when_scaled: str | None = None


class NodeSetSpec(Slim, frozen=True, gc=False):
    """What the workers shall be."""

    controller_ref: Reference | None = None
    replicas: Int32 | None = None
    slurmd: Container = field(default_factory=dict)
    logfile: Sidecar | None = None
    template: PodTemplate = PodTemplate()
    extra_conf: str | None = None
    partition: Annotated[Partition | None, needs("enabled")] = None
    volume_claim_templates: Annotated[Any, said(**{PRESERVE: True})] = None
    update_strategy: UpdateStrategy | None = None
    revision_history_limit: Int32 | None = None
    persistent_volume_claim_retention_policy: ClaimRetention | None = None
    min_ready_seconds: Int32 | None = None


class NodeSetStatus(Status, frozen=True, gc=False):
    """What is."""

    replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    ready_replicas: Int32 | None = None
    available_replicas: Int32 | None = None
    unavailable_replicas: Int32 | None = None
    slurm_idle: Int32 | None = None
    slurm_allocated: Int32 | None = None
    slurm_down: Int32 | None = None
    slurm_drain: Int32 | None = None
    node_set_hash: str = field(default_factory=str)
    collision_count: Int32 | None = None
    selector: str = field(default_factory=str)


class NodeSet(Resource, frozen=True, gc=False):
    """Workers of one shape."""

    spec: Annotated[NodeSetSpec | None, needs("controllerRef")] = None
    status: Annotated[NodeSetStatus | None, needs("nodeSetHash", "selector")] = None


class LoginSetSpec(Slim, frozen=True, gc=False):
    """What the login nodes shall be."""

    controller_ref: Reference | None = None
    replicas: Int32 | None = None
    login: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    root_ssh_authorized_keys: str | None = None
    extra_sshd_config: str | None = None
    sssd_conf_ref: Key | None = None
    service: Service = Service()


class LoginSetStatus(Status, frozen=True, gc=False):
    """What is."""

    replicas: Int32 | None = None
    selector: str = field(default_factory=str)


class LoginSet(Resource, frozen=True, gc=False):
    """Login nodes of one shape."""

    spec: Annotated[LoginSetSpec | None, needs("controllerRef", "sssdConfRef")] = None
    status: Annotated[LoginSetStatus | None, needs("selector")] = None


class StorageConfig(Slim, frozen=True, gc=False):
    """The database that slurmdbd keeps its records in."""

    host: str = field(default_factory=str)
    port: int = 3306
    database: str = "slurm_acct_db"
    username: str | None = None
    password_key_ref: Key | None = None


class AccountingSpec(Slim, frozen=True, gc=False):
    """What slurmdbd shall be."""

    slurm_key_ref: Key | None = None
    jwt_hs256_key_ref: Key | None = None
    slurmdbd: Container = field(default_factory=dict)
    initconf: Sidecar | None = None
    template: PodTemplate = PodTemplate()
    storage_config: Annotated[StorageConfig | None, needs("host", "passwordKeyRef")] = None
    extra_conf: str | None = None
    service: Service = Service()


class Accounting(Resource, frozen=True, gc=False):
    """slurmdbd, which keeps the records of jobs, accounts and users."""

    spec: Annotated[AccountingSpec | None, needs("slurmKeyRef", "jwtHs256KeyRef")] = None
    status: Status = Status()


class RestApiSpec(Slim, frozen=True, gc=False):
    """What slurmrestd shall be."""

    controller_ref: Reference | None = None
    replicas: Int32 = 1
    slurmrestd: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    service: Service = Service()


class RestApi(Resource, frozen=True, gc=False):
    """slurmrestd, Slurm's REST API."""

    spec: Annotated[RestApiSpec | None, needs("controllerRef")] = None
    status: Status = Status()


class TokenSpec(Slim, frozen=True, gc=False):
    """What the token shall be."""

    username: str = field(default_factory=str)
    jwt_hs256_key_ref: TokenKey | None = None
    lifetime: str | None = None
    refresh: bool = True
    secret_ref: Key | None = None


class TokenStatus(Status, frozen=True, gc=False):
    """What is."""

    issued_at: Time | None = None


class Token(Resource, frozen=True, gc=False):
    """A token for a user of Slurm's REST API, kept in a Secret."""

    spec: Annotated[TokenSpec | None, needs("username", "jwtHs256KeyRef")] = None
    status: TokenStatus = TokenStatus()


TYPES: dict[str, type[Resource]] = {
    "Controller": Controller,
    "NodeSet": NodeSet,
    "LoginSet": LoginSet,
    "Accounting": Accounting,
    "RestApi": RestApi,
    "Token": Token,
}
