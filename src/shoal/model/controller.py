"""slurmctld. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.objects import Object
from .jail import Fittings
from .part import KeyRef, Part, ServiceWishes


@dataclass(frozen=True)
class ControllerNames:
    """What its objects are called."""

    workload: str  # its pods are this and a number
    service: str
    internal: str  # the headless Service that gives each pod a name
    config: str


@dataclass(frozen=True)
class ExistingClaim:
    """The state lies on a volume that the user brings."""

    name: str


@dataclass(frozen=True)
class ClaimTemplate:
    """The state lies on a volume that is made for it."""

    spec: Object


@dataclass(frozen=True)
class ExistingVolume:
    """The state lies on a volume that the user brings, of whatever kind."""

    source: Object  # as a pod names it


@dataclass(frozen=True)
class Ephemeral:
    """The state goes with the pod: for clusters that may forget their jobs."""


State = ExistingClaim | ExistingVolume | ClaimTemplate | Ephemeral
# The container that looks for the state before slurmctld starts, and its exit code when there is
# none where there was one (EX_NOINPUT of sysexits.h: nothing else in the pod ends so).
STATE_GUARD = "state"
STATE_LOST = 66


@dataclass(frozen=True)
class Endpoint:
    """A path that Prometheus reads."""

    path: str
    interval: str = ""
    scrape_timeout: str = ""


@dataclass(frozen=True)
class Monitor:
    """How Prometheus finds slurmctld."""

    endpoints: tuple[Endpoint, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Metrics:
    """slurmctld serves metrics."""

    monitor: Monitor | None = None


@dataclass(frozen=True)
class ManagedController:
    """slurmctld in pods of ours."""

    part: Part
    names: ControllerNames
    service: ServiceWishes
    state: State
    replicas: int = 1
    in_place: bool = False  # a new configuration is read by the running slurmctld
    metrics: Metrics | None = None
    had_state: bool = False  # slurmctld has run on it: that it is empty now is a loss
    fittings: Fittings | None = None  # where its pods have a shared root
    placeholder: str = ""  # the DaemonSet that holds its images ready; empty: none

    @property
    def guarded(self) -> bool:
        """Say whether its state is meant to stay."""
        return not isinstance(self.state, Ephemeral)

    @property
    def many(self) -> bool:
        """Say whether others stand by."""
        return self.replicas > 1


@dataclass(frozen=True)
class ExternalController:
    """slurmctld somewhere else."""

    host: str
    port: int
    part: Part
    config: str  # the ConfigMap with what slurmrestd needs to know


Controller = ManagedController | ExternalController


@dataclass(frozen=True)
class Keys:
    """What daemons prove themselves with; an external slurmctld's may be unknown to us."""

    slurm: KeyRef | None
    jwt: KeyRef | None
    jwks: KeyRef | None = None  # in a ConfigMap: it holds public keys only
    munge: KeyRef | None = None  # instead of `slurm`, where munged vouches for daemons
