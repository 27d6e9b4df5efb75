"""What an exporter is told, as frozen data, and how its words are understood."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum

from .catalogue import COLLECTORS, Collector
from .collect import Pace
from .jobs import Sampling
from .sources import Budget

_UNITS_S = {
    "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0,
}  # fmt: skip
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdwy])", re.ASCII)


def duration(text: str) -> timedelta:
    """Understand `90s`, `1h30m` or `2d`, as Go and Prometheus write times; a ValueError if not."""
    pieces = _PIECE.findall(text.strip())
    if not pieces or "".join(number + unit for number, unit in pieces) != text.strip():
        raise ValueError(f"{text!r} is no duration: use numbers with units, such as 30s or 1h30m")
    return timedelta(seconds=sum(float(number) * _UNITS_S[unit] for number, unit in pieces))


def collectors(text: str) -> tuple[Collector, ...]:
    """Understand names parted by commas; a ValueError names one that there is not."""
    known = {one.value: one for one in COLLECTORS}
    words = [word.strip() for word in text.split(",") if word.strip()]
    if wrong := [word for word in words if word not in known]:
        raise ValueError(f"{wrong[0]!r} is no collector: take some of {', '.join(known)}")
    return tuple(one for one in COLLECTORS if one.value in words)


@dataclass(frozen=True)
class NoToken:
    """slurmrestd knows us otherwise."""


@dataclass(frozen=True)
class StaticToken:
    """Somebody else makes the token and renews it."""

    text: str = field(repr=False)


@dataclass(frozen=True)
class ScontrolToken:
    """`scontrol token` makes tokens."""

    scontrol: str = "scontrol"
    lifetime: timedelta = timedelta(minutes=30)


@dataclass(frozen=True)
class SecretToken:
    """A Secret holds the key that we sign tokens with; it is read anew each `rotation`."""

    namespace: str
    secret: str
    key: str = "rest_jwt.key"
    rotation: timedelta = timedelta(minutes=30)


Identity = NoToken | StaticToken | ScontrolToken | SecretToken


class Origin(Enum):
    """Where jobs come from."""

    CONTROLLER = "controller"
    ACCOUNTING = "accounting"


@dataclass(frozen=True)
class Settings:
    """All that an exporter is told."""

    cluster: str
    url: str = "http://localhost:6820"
    namespace: str = "soperator"
    user: str = "root"
    identity: Identity = NoToken()
    metrics: str = ":8080"
    monitoring: str = ":8081"
    collectors: tuple[Collector, ...] = COLLECTORS
    pace: Pace = field(default_factory=Pace)
    origin: Origin = Origin.CONTROLLER
    lookback: timedelta = timedelta(hours=1)
    squeue: tuple[str, ...] = ()  # the command, where there is one
    budget: Budget = field(default_factory=Budget)
    sampling: Sampling = field(default_factory=Sampling)
    worker_selector: str = ""
    nodeset_label: str = "slurm.nebius.ai/nodeset"
    group_label: str = "topology.nebius.com/nvl-instance-group-id"

    @property
    def needs_kubernetes(self) -> bool:
        """Say whether the API server is asked for anything."""
        return isinstance(self.identity, SecretToken) or Collector.TOPOLOGY in self.collectors

    @property
    def selector(self) -> str:
        """Return the labels by which worker pods are told."""
        return self.worker_selector or (
            f"app.kubernetes.io/instance={self.cluster},slurm.nebius.ai/worker=true"
        )
