"""When a cluster's shared root is filled, filled anew, and fit to be used. Pure.

A Job fills it, and says so when it is done. It does not change once it is there: to fill the root
anew it is deleted and made again. Nothing is ever replaced in a root that pods use.
"""

import enum
from dataclasses import dataclass

from ..model.maintenance import Mode

AGAIN_S = 10.0  # while pods end


class Progress(enum.Enum):
    """How far a Job is."""

    RUNNING = enum.auto()
    DONE = enum.auto()
    FAILED = enum.auto()  # for good: it has tried often enough


@dataclass(frozen=True)
class Filling:
    """The Job that fills the root, as it was seen."""

    uid: str
    progress: Progress
    anew: bool = False  # made for a maintenance that is not known to be over
    going: bool = False  # deleted, and its pods not gone yet
    trouble: str = ""  # why it gets no further


@dataclass(frozen=True)
class Root:
    """What is wanted of the root, and who uses it."""

    mode: Mode
    overwrite: bool = False  # the user wants whatever is in it replaced
    users: int = 0  # pods that have it, also those that end
    writers: int = 0  # pods that fill it, also of a Job that is gone


@dataclass(frozen=True)
class MakeJob:
    """Fill the root."""

    why: str
    anew: bool = False


@dataclass(frozen=True)
class DeleteJob:
    """Take that very Job away, with its pods."""

    why: str
    uid: str


@dataclass(frozen=True)
class MarkJob:
    """Take note that the maintenance is over for which that very Job was made."""

    why: str
    uid: str


@dataclass(frozen=True)
class Verdict:
    """What to do now, and whether pods may come that have the root."""

    filled: bool
    words: str = ""  # why not
    action: MakeJob | DeleteJob | MarkJob | None = None
    again_s: float | None = None


FILLING = "the shared root is being filled"


def populate(root: Root, job: Filling | None) -> Verdict:
    """Decide what becomes of the root."""
    match root.mode:
        case Mode.SKIP:
            return _skipped(job)
        case Mode.DELETE:
            return _deleted(job)
        case Mode.OVERWRITE:
            return _anew(root, job)
        case Mode.NONE | Mode.DOWNSCALE:
            return _once(root, job)


def _skipped(job: Filling | None) -> Verdict:
    """Leave the root to the user; but one that is being replaced is fit for nobody."""
    if job is not None and job.anew and job.progress is Progress.RUNNING:
        return _progress(job)
    return Verdict(filled=True)


def _deleted(job: Filling | None) -> Verdict:
    words = "the Job that fills the shared root is taken away for maintenance"
    if job is None or job.going:
        return Verdict(filled=False, words=words)
    return Verdict(filled=False, words=words, action=DeleteJob(words, job.uid))


def _anew(root: Root, job: Filling | None) -> Verdict:
    if job is None:
        return _make(root, anew=True)
    if job.anew or job.going:
        return _progress(job)
    why = "the shared root is to be filled anew"
    return Verdict(filled=False, words=why, action=DeleteJob(why, job.uid))


def _once(root: Root, job: Filling | None) -> Verdict:
    if job is None:
        return _make(root, anew=False)
    told = _progress(job)
    if told.filled and job.anew and root.mode is Mode.NONE:
        # Or the next maintenance would take it for its own.
        return Verdict(filled=True, action=MarkJob("its maintenance is over", job.uid))
    return told


def _make(root: Root, *, anew: bool) -> Verdict:
    if (anew or root.overwrite) and root.users:
        who = "1 pod uses it" if root.users == 1 else f"{root.users} pods use it"
        words = f"the shared root is not replaced as long as {who}"
        return Verdict(filled=False, words=words, again_s=AGAIN_S)
    if root.writers:
        words = "the pods of the Job before, which fill the shared root, are not gone yet"
        return Verdict(filled=False, words=words, again_s=AGAIN_S)
    return Verdict(filled=False, words=FILLING, action=MakeJob(FILLING, anew))


def _progress(job: Filling) -> Verdict:
    if job.going:
        words = "the Job that filled the shared root is not gone yet"
        return Verdict(filled=False, words=words, again_s=AGAIN_S)
    match job.progress:
        case Progress.DONE:
            return Verdict(filled=True)
        case Progress.RUNNING:
            words = f"{FILLING}: {job.trouble}" if job.trouble else FILLING
            return Verdict(filled=False, words=words)
        case Progress.FAILED:
            cure = "see its logs, and delete it to have it tried again"
            words = f"the Job that fills the shared root has given up: {job.trouble}; {cure}"
            return Verdict(filled=False, words=words)
