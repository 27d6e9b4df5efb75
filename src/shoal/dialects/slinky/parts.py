"""What the kinds of slinky.slurm.net have in common. Pure.

Every field has a default here, also where the API server insists on a value: an object that an
older definition let through must not spoil the list that it is read with. `needs` says what the
API server insists on. For the same reason enums, patterns and bounds are `said`, not msgspec's.
A default by `field(default_factory=...)` is ours alone: the API server does not fill it in.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from ...kube.objects import Object, Slim
from ...kube.schema import ATOMIC, NULLABLE, Rule, list_map


def said(**words: Any) -> Meta:  # noqa: ANN401 - any JSON
    """Add `words` to the schema of a field, and nothing to how it is read."""
    return Meta(extra_json_schema=words)


def about(text: str) -> Meta:
    """Describe a field to those who ask `kubectl explain`."""
    return said(description=text)


def needs(*names: str) -> Meta:
    """Let the API server insist on these fields of an object."""
    return said(required=sorted(names))


def one_of(*words: str) -> Meta:
    """Let the API server insist on one of `words`."""
    return said(enum=list(words))


WHOLE = said(**{"x-kubernetes-map-type": "atomic"})
Int32 = Annotated[int, said(format="int32")]
Int64 = Annotated[int, said(format="int64")]
Time = Annotated[str, said(format="date-time")]
Texts = Annotated[dict[str, str] | None, NULLABLE]
Container = Annotated[Object, about("Some of the container of this name.")]
# What resource.Quantity reads.
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
Quantity = Annotated[
    int | str,
    said(pattern=rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"),
]


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


class Condition(Slim, frozen=True, gc=False):
    """One condition, as every kind of Kubernetes has them."""

    type: Annotated[str, said(maxLength=316)] = field(default_factory=str)
    status: Annotated[str, one_of("True", "False", "Unknown")] = field(default_factory=str)
    reason: Annotated[
        str,
        said(minLength=1, maxLength=1024, pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
    ] = field(default_factory=str)
    message: Annotated[str, said(maxLength=32768)] = field(default_factory=str)
    observed_generation: Annotated[Int64 | None, said(minimum=0)] = None
    last_transition_time: Time = field(default_factory=str)


Conditions = Annotated[
    tuple[
        Annotated[Condition, needs("lastTransitionTime", "message", "reason", "status", "type")],
        ...,
    ],
    list_map("type"),
]


class Status(Slim, frozen=True, gc=False):
    """What is."""

    conditions: Conditions = ()
    observed_generation: Int64 | None = None


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
