"""A Controller of slinky.slurm.net, v1beta1: its schema, and what it is read as. Pure."""

from typing import Annotated, ClassVar

from msgspec import field

from ...kube.fields import DURATION, Int32, Status, Texts, about, needs, said
from ...kube.objects import Resource, Slim
from ...kube.schema import NULLABLE, Rule
from .parts import (
    ADDRESS,
    EXTERNAL,
    JWKS,
    JWT_HS256_KEY,
    JWT_KEY,
    KEYS,
    SLURM_KEY,
    Container,
    External,
    Key,
    Persistence,
    PodTemplate,
    Reference,
    References,
    Service,
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
