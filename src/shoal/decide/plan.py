"""What a decision returns: actions, each with its reason. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """One thing to do, and why; `why` goes to the event, the log and the test."""

    why: str


@dataclass(frozen=True)
class CreateWorker(Action):
    """Start the worker of this number."""

    number: int


@dataclass(frozen=True)
class DrainWorker(Action):
    """Let a worker take no new jobs."""

    pod: str
    node: str  # in Slurm
    again_s: float  # until one looks how far it is: no event tells


@dataclass(frozen=True)
class DeleteWorker(Action):
    """Stop that very worker."""

    pod: str
    uid: str


@dataclass(frozen=True)
class Wait(Action):
    """Do nothing yet, and look again."""

    again_s: float


Plan = tuple[Action, ...]
