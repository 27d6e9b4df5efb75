"""Login nodes. Pure."""

from dataclasses import dataclass, field

from ..kube.objects import Object
from .part import KeyRef, Part, ServiceWishes


@dataclass(frozen=True)
class LoginNames:
    """What its objects are called."""

    workload: str  # of its Deployment and its Service
    host_keys: str
    config: str


@dataclass(frozen=True)
class LoginSet:
    """Pods that people log in to by SSH."""

    part: Part
    names: LoginNames
    service: ServiceWishes
    sssd: KeyRef
    host_keys_digest: str = ""  # of the Secret with them; empty: it is not there (yet)
    replicas: int = 1
    root_keys: str = ""  # in the form of authorized_keys
    extra_sshd: str = ""  # lines for sshd_config
    strategy: Object = field(default_factory=dict)
    cluster: str = ""  # the object that stands for its cluster
