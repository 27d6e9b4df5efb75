"""What a decision returns: actions, each with its reason. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ..kube.objects import Object


@dataclass(frozen=True)
class Action:
    """One thing to do, and why; `why` goes to the event, the log and the test."""

    why: str


@dataclass(frozen=True)
class CreateWorker(Action):
    """Start a worker: the one of a number, or the one of a Kubernetes node."""

    number: int | None
    node: str = ""  # of Kubernetes, where it has to run; empty: anywhere
    hostname: str = ""  # where its number does not say it


@dataclass(frozen=True)
class DrainWorker(Action):
    """Let a worker take no new jobs; `why` is the reason that Slurm is told."""

    pod: str
    node: str  # in Slurm


@dataclass(frozen=True)
class ResumeWorker(Action):
    """Let a worker take jobs again that we had kept from it, or that was down for our doing."""

    pod: str
    node: str  # in Slurm
    down: bool = False  # it is more than drained
    note: str = ""  # an admin's, that its reason is to be again


@dataclass(frozen=True)
class RequeueJob(Action):
    """Put a run of a job that has lost its process back into the queue, or end it."""

    job_id: int
    node: str  # in Slurm, that its script ran on
    start: datetime  # of that run


@dataclass(frozen=True)
class DeleteWorker(Action):
    """Stop that very worker."""

    pod: str
    uid: str


@dataclass(frozen=True)
class LookInside(Action):
    """See whether steps of jobs run in a worker of which Slurm knows nothing."""

    pod: str
    uid: str


@dataclass(frozen=True)
class MarkWorker(Action):
    """Change labels and annotations of a worker's pod; None takes one away."""

    pod: str
    uid: str
    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ShowState(Action):
    """Give a worker's pod these conditions of its Slurm node, and take others of that kind away."""

    pod: str
    uid: str
    conditions: Mapping[str, str]  # type -> message; all are true


@dataclass(frozen=True)
class TellSlurm(Action):
    """Change what Slurm knows of a worker; None leaves it as it is."""

    node: str  # in Slurm
    comment: str | None = None
    features: tuple[str, ...] | None = None
    active_features: tuple[str, ...] | None = None
    topology: str | None = None


@dataclass(frozen=True)
class ForgetNode(Action):
    """Delete a node's record in Slurm."""

    node: str


@dataclass(frozen=True)
class CreateClaim(Action):
    """Make a claim of a worker's, before the worker; that it is there already is as good."""

    claim: str
    whose: str  # the worker's number as names have it, or its hostname
    owners: tuple[Object, ...] = ()  # references; nobody else may be added


@dataclass(frozen=True)
class HoldClaim(Action):
    """Give a claim these owners and no other; where that cannot be done, its worker stays."""

    claim: str
    version: str  # the one that was seen: what has changed meanwhile is looked at anew
    owners: tuple[Object, ...]  # references
    uid: str = ""  # its worker's; empty: it has none


@dataclass(frozen=True)
class Wait(Action):
    """Do nothing yet, and look again."""

    again_s: float


Plan = tuple[Action, ...]
FEW = 3  # things that are waited for, in a message


def waits(plan: Plan) -> tuple[str, ...]:
    """Return what a plan waits for, in words that stay the same while nothing changes."""
    found = tuple(dict.fromkeys(action.why for action in plan if isinstance(action, Wait)))
    more = len(found) - FEW
    return found if more <= 0 else (*found[:FEW], f"and {more} more")
