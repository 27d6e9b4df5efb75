"""When a new configuration reaches slurmctld: only one that Slurm accepts. Pure.

slurmctld ends on a configuration that it does not understand, and takes the cluster with it. So a
new one is first tried by a slurmctld beside it, which has no state, no nodes and no jobs. The
configuration in use stays until the verdict is there, and for good when it is bad.
"""

import enum
from dataclasses import dataclass

AGAIN_S = 10.0  # between the beginnings of two trials of one configuration


class Verdict(enum.Enum):
    """What the trial says."""

    NONE = enum.auto()  # there is no trial of this configuration
    PENDING = enum.auto()
    GOOD = enum.auto()
    BAD = enum.auto()
    UNKNOWN = enum.auto()  # it ended without a verdict


@dataclass(frozen=True)
class Candidate:
    """A configuration that is wanted, and what is known about it."""

    digest: str
    published: str | None  # digest of the one in use; None: there is none yet
    verdict: Verdict = Verdict.NONE
    words: str = ""  # of the trial
    began_s: float = 0.0  # how long ago the trial began, where there is one


@dataclass(frozen=True)
class Publish:
    """Put it to use."""

    why: str


@dataclass(frozen=True)
class Try:
    """Have it tried, or wait for that."""

    why: str


@dataclass(frozen=True)
class Hold:
    """Keep the one in use."""

    why: str


@dataclass(frozen=True)
class Again:
    """Have it tried anew: now, or after a while in which the trial that failed stays."""

    why: str
    after_s: float = 0.0


def publish(candidate: Candidate) -> Publish | Try | Hold | Again:
    """Decide what becomes of a configuration."""
    if candidate.published is None:
        return Publish("there is none yet")
    if candidate.published == candidate.digest:
        return Publish("it is in use")
    match candidate.verdict:
        case Verdict.NONE | Verdict.PENDING:
            why = "Slurm has not said yet whether it accepts the new configuration"
            return Try(f"{why}: {candidate.words}" if candidate.words else why)
        case Verdict.GOOD:
            return Publish("Slurm accepts it")
        case Verdict.BAD:
            return Hold(candidate.words or "it does not say why")
        case Verdict.UNKNOWN:
            why = "the trial of the new configuration ended without a verdict"
            told = f"{why}: {candidate.words}" if candidate.words else why
            # The end of a trial wakes us, and so does its deletion: only its age tells "a while".
            return Again(told, min(max(AGAIN_S - candidate.began_s, 0.0), AGAIN_S))
