"""Words for the fields of custom resources that a type alone does not say. Pure.

Enums, patterns and bounds are `said`, not msgspec's: an object that an older definition let through
must not spoil the list that it is read with. For the same reason every field has a default, also
where the API server insists on a value, and `needs` says what it insists on. A default by
`field(default_factory=...)` is ours alone: the API server does not fill it in.
"""

from typing import Annotated, Any

from msgspec import Meta, field

from .objects import Slim
from .schema import NULLABLE, list_map


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
# What resource.Quantity reads.
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
Quantity = Annotated[
    int | str,
    said(pattern=rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"),
]
# What Prometheus reads.
DURATION = (
    "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"
)


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
