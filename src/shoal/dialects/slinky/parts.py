"""What the kinds of slinky.slurm.net have in common. Pure."""

from typing import Annotated

import msgspec
from msgspec import field

from ...kube.fields import WHOLE, Int32, Quantity, Texts, about, needs
from ...kube.objects import Object, Slim
from ...kube.schema import ATOMIC, NULLABLE, Rule

Container = Annotated[Object, about("Some of the container of this name.")]


class LocalReference(Slim, frozen=True, gc=False):
    """An object of the same namespace."""

    name: str = ""
    namespace: Annotated[
        str | None, about("Of older releases: only the object's own namespace is allowed.")
    ] = None


class KeyReference(Slim, frozen=True, gc=False):
    """One entry of a Secret or a ConfigMap of the same namespace."""

    name: str = ""
    key: str = field(default_factory=str)
    optional: bool | None = None


class TokenKeyReference(KeyReference, frozen=True, gc=False):
    """One entry of a Secret, as older releases let a Token name it."""

    namespace: str | None = None


Reference = Annotated[LocalReference, WHOLE]
References = Annotated[tuple[Reference, ...] | None, NULLABLE]
Key = Annotated[KeyReference, needs("key"), WHOLE]
TokenKey = Annotated[TokenKeyReference, needs("key")]


class Marks(Slim, frozen=True, gc=False):
    """Labels and annotations of what is made."""

    labels: Texts = None
    annotations: Texts = None


class PodTemplate(Slim, frozen=True, gc=False):
    """What is laid over the pods that the operator makes."""

    metadata: Marks = Marks()
    spec: Annotated[Object, about("Some of a PodSpec; it needs no containers.")] = field(
        default_factory=dict
    )


class Service(Slim, frozen=True, gc=False):
    """What is laid over the Service that the operator makes."""

    metadata: Marks = Marks()
    spec: Annotated[Object, about("Some of a ServiceSpec; externalIPs are ignored.")] = field(
        default_factory=dict
    )
    port: Annotated[int | None, about("The Service's port, in place of the usual one.")] = None
    node_port: Annotated[int | None, about("The port on every node, for a NodePort.")] = None


class ExternalConfig(Slim, frozen=True, gc=False):
    """Where a daemon runs that the operator does not run."""

    host: str = field(default_factory=str)
    port: int = field(default_factory=int)


External = Annotated[ExternalConfig, needs("host", "port")]


# -- claims of volumes, as core/v1 has them


class Resources(Slim, frozen=True, gc=False):
    """How much is asked for, and how much is allowed."""

    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class Source(Slim, frozen=True, gc=False):
    """What a volume is filled from."""

    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    api_group: str | None = None


class SourceReference(Source, frozen=True, gc=False):
    """What a volume is filled from, perhaps in another namespace."""

    namespace: str | None = None


class Requirement(Slim, frozen=True, gc=False):
    """One expression of a label selector."""

    key: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: Annotated[tuple[str, ...], ATOMIC] = ()


class LabelSelector(Slim, frozen=True, gc=False):
    """Finds objects by their labels."""

    match_expressions: Annotated[
        tuple[Annotated[Requirement, needs("key", "operator")], ...], ATOMIC
    ] = ()
    match_labels: dict[str, str] = field(default_factory=dict)


_SOURCE = needs("kind", "name")


class Persistence(Slim, frozen=True, gc=False):
    """The volume of slurmctld's state: one that exists, or the claim that makes one."""

    enabled: Annotated[bool, about("Without, the state goes with the pod.")] = True
    existing_claim: Annotated[str | None, about("A claim that exists.")] = None
    access_modes: Annotated[tuple[str, ...] | None, ATOMIC] = None
    data_source: Annotated[Source | None, _SOURCE, WHOLE] = None
    data_source_ref: Annotated[SourceReference | None, _SOURCE] = None
    resources: Resources | None = None
    selector: Annotated[LabelSelector | None, WHOLE] = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None

    @property
    def claim(self) -> Object:
        """Return the PersistentVolumeClaimSpec that the user wrote beside the other fields."""
        # By way of JSON: to_builtins leaves tuples as they are, and they equal no list.
        whole: Object = msgspec.json.decode(msgspec.json.encode(self))
        return {k: v for k, v in whole.items() if k not in ("enabled", "existingClaim")}


# -- what several kinds say of themselves

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
