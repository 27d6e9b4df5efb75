"""What is told of workers as events, once, when it was done. Pure.

Reasons are those of slinky.slurm.net where it has one, as alerts and people know them. What is only
waited for is no event: the NodeSet's condition tells that.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..decide.ghosts import FINAL
from ..decide.heal import LOST
from ..decide.place import RENAMED
from ..decide.plan import (
    Action,
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    RequeueJob,
    ResumeWorker,
)
from ..decide.rollout import UPDATE
from ..decide.scale import SCALE_IN
from ..decide.wanted import Wanted
from ..decide.workers import DELETION
from ..model.nodeset import Mode, Strategy, Update
from ..model.workers import Muster
from ..runtime.events import Happening, Type

OF_STRATEGY = "{strategy}"  # the reason is what the update strategy is called


@dataclass(frozen=True)
class Row:
    """What is told of an action: of a kind, for a reason (a pattern), in a mode."""

    kind: type[Action]
    why: str
    reason: str
    note: str  # with places for {who} and {why}
    many: str
    type: Type = "Normal"
    mode: Mode | None = None  # any

    def fits(self, action: Action, mode: Mode) -> bool:
        """Say whether it is told of `action`."""
        of_mode = self.mode in (None, mode)
        return of_mode and isinstance(action, self.kind) and bool(re.match(self.why, action.why))


ANY = ""
GOES, GO = "{who} takes no more jobs, and goes when it has none", "and go when they have none"
IN_TURN = "{who} takes no more jobs, and is replaced when it has none"
CORDONED = "{who} takes no more jobs: {why}"
NO_MORE = "{} workers take no more jobs"
ENDED = r"it ended \({}\)"

# The first row that fits counts.
ROWS: Sequence[Row] = (
    Row(CreateWorker, ANY, "SuccessfulCreate", "created {who}", "created {} workers"),
    Row(DrainWorker, re.escape(SCALE_IN), "ScalingDown", GOES, f"{NO_MORE}, {GO}"),
    Row(
        DrainWorker,
        re.escape(UPDATE),
        OF_STRATEGY,
        IN_TURN,
        f"{NO_MORE}, and are replaced when they have none",
    ),
    Row(DrainWorker, re.escape(DELETION), "Draining", GOES, f"{NO_MORE}, {GO}"),
    Row(DrainWorker, re.escape(RENAMED), "HostnameMismatch", GOES, f"{NO_MORE}, {GO}"),
    Row(DrainWorker, "Pod is pending termination", "ScalingDown", GOES, f"{NO_MORE}, {GO}"),
    Row(DrainWorker, r"Pod \(\S+\) was cordoned$", "PodCordon", CORDONED, NO_MORE),
    # In the words of whoever cordoned it.
    Row(DrainWorker, ANY, "NodeCordon", CORDONED, f"{NO_MORE}: their nodes are cordoned"),
    Row(ResumeWorker, ANY, "Resumed", "{who} takes jobs again", "{} workers take jobs again"),
    Row(
        RequeueJob,
        re.escape(FINAL),
        "JobLost",
        "cancelled job {who}: {why}",
        "cancelled {} jobs that had lost their process, and may not be requeued",
        "Warning",
    ),
    Row(
        RequeueJob,
        ANY,
        "JobRequeued",
        "requeued job {who}: {why}",
        "requeued {} jobs that had lost their process",
        "Warning",
    ),
    Row(
        DeleteWorker,
        re.escape(LOST),
        "SlurmNodeNotRegistered",
        "deleted {who}: {why}",
        "deleted {} workers that Slurm does not know, and in which no step runs",
        "Warning",
    ),
    Row(
        DeleteWorker,
        ENDED.format("Failed"),
        "FailedDaemonPod",
        "deleted {who}: {why}",
        "deleted {} workers that failed",
        "Warning",
        Mode.EVERY_NODE,
    ),
    Row(
        DeleteWorker,
        ENDED.format("Succeeded"),
        "SucceededDaemonPod",
        "deleted {who}: {why}",
        "deleted {} workers that had ended",
        mode=Mode.EVERY_NODE,
    ),
    Row(DeleteWorker, ANY, "SuccessfulDelete", "deleted {who}: {why}", "deleted {} workers"),
    Row(
        ForgetNode,
        ANY,
        "DefunctSlurmNodePruned",
        "Slurm forgets node {who}: {why}",
        "Slurm forgets {} nodes",
    ),
)
# What was done, as an event has it: Drain, not DrainWorker.
_VERBS = {kind: re.sub(r"(Worker|Node)$", "", kind.__name__) for kind in {r.kind for r in ROWS}}


def told(wanted: Wanted, done: Iterable[Action]) -> list[tuple[Happening, int]]:
    """Return the events of what was done, each with how often; of most actions there are none."""
    found: dict[Row, tuple[Happening, int]] = {}
    nodeset = wanted.nodeset
    for action in done:
        row = next((row for row in ROWS if row.fits(action, nodeset.mode)), None)
        if row is None:
            continue
        what, count = found.get(row, (None, 0))
        found[row] = (what or _happening(wanted, row, action), count + 1)
    return list(found.values())


def _happening(wanted: Wanted, row: Row, action: Action) -> Happening:
    reason = row.reason.format(strategy=wanted.nodeset.update.strategy.value)
    note = row.note.replace("{who}", _who(wanted, action)).replace("{why}", action.why)
    return Happening(reason, _VERBS[row.kind], note, row.many, row.type)


def _who(wanted: Wanted, action: Action) -> str:
    match action:
        case CreateWorker(number=int(number)):
            return wanted.nodeset.pod_name(number)
        case CreateWorker(node=node):
            return f"a worker on node {node}"
        case DrainWorker() | ResumeWorker() | DeleteWorker():
            return action.pod
        case ForgetNode(node=node):
            return node
        case RequeueJob(job_id=job, node=node):
            return f"{job} of {node}"
        case _:
            raise AssertionError(action)


# -- what begins


@dataclass(frozen=True)
class Before:
    """What the status said before a pass."""

    desired: int
    revision: str  # empty: nothing


def begun(before: Before, now: Muster) -> list[Happening]:
    """Return the events of what a pass has begun: another number of workers, an update."""
    found = []
    if before.desired != now.desired:
        reason = "ScalingUp" if now.desired > before.desired else "ScalingDown"
        words = f"from {before.desired} to {now.desired} workers"
        found.append(Happening(reason, "Scale", words))
    old = any(w.living and w.revision != now.revision for w in now.fleet.workers)
    if before.revision not in ("", now.revision) and old:
        update = now.nodeset.update
        words = f"workers are replaced by those of revision {now.revision}"
        how = _HOW[update.strategy](update)
        found.append(Happening(update.strategy.value, "Update", f"{words}{how}"))
    return found


def conflicting(holders: Mapping[str, str]) -> list[Happening]:
    """Return the events of claims that belong to others; `holders` are these, by claim."""
    many = "{} claims belong to others, and are left alone"
    return [
        Happening(
            "ConflictingController",
            "HoldClaim",
            f"claim {claim} belongs to {holder}, and is left alone",
            many,
            "Warning",
        )
        for claim, holder in holders.items()
    ]


_HOW: dict[Strategy, Callable[[Update], str]] = {
    Strategy.ROLLING: lambda update: f", at most {update.max_unavailable} at a time",
    Strategy.ON_DELETE: lambda _: " when they are deleted",
    Strategy.SCHEDULED: lambda update: (
        f" in maintenance window {update.window.reservation}" if update.window else ""
    ),
}
