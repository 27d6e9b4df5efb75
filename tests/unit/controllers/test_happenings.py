"""What is done about workers is told as few events, each with the reason that people know."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shoal.controllers.happenings import Before, begun, conflicting, told
from shoal.decide.cordons import cordon
from shoal.decide.ghosts import FINAL, GHOST
from shoal.decide.heal import LOST
from shoal.decide.place import EXPELLED, RENAMED
from shoal.decide.plan import (
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    LookInside,
    MarkWorker,
    RequeueJob,
    ResumeWorker,
    ShowState,
    TellSlurm,
    Wait,
)
from shoal.decide.rollout import UPDATE
from shoal.decide.scale import SCALE_IN
from shoal.decide.wanted import Wanted
from shoal.decide.workers import DELETION
from shoal.dialects.slinky import naming
from shoal.kube.nodes import Node, NodeSpec
from shoal.kube.objects import Meta
from shoal.kube.pods import Pod, PodSpec
from shoal.model.nodeset import Mode, NodeSet, Strategy, Update, Window
from shoal.model.part import Part
from shoal.model.workers import Fleet, Muster, Worker

NAMING = naming.NAMING
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SET = NodeSet(Part("w", "ns", {}, {}), "w", "w-", "s", "b")


def make_wanted(**fields) -> Wanted:
    return Wanted(replace(SET, **fields), NAMING, "new")


def drained(why: str) -> DrainWorker:
    return DrainWorker(why, "w-1", "w-1")


def ended(why: str) -> DeleteWorker:
    return DeleteWorker(why, "w-1", "uid")


def make_worker(revision: str = "old", *, annotations=None) -> Worker:
    meta = Meta("w-1", "ns", uid="uid", annotations=annotations or {})
    return Worker(Pod(meta, PodSpec("k-1")), "w-1", 1, revision, Mode.REPLICAS.value)


def cordoned(*, node: bool) -> str:
    marks = {} if node else {NAMING.annotations.pod_cordon: "true"}
    host = Node(Meta("k-1"), NodeSpec(unschedulable=node))
    worker = make_worker(annotations=marks)
    why = cordon(
        worker, Fleet((worker,), NOW, nodes={"k-1": host}), NAMING.annotations, frozenset()
    )
    assert why
    return why


DAEMON = {"mode": Mode.EVERY_NODE}
SCHEDULED = {"update": Update(Strategy.SCHEDULED)}
CASES = [
    (CreateWorker("x", 7), {}, "Normal SuccessfulCreate Create: created w-7"),
    (
        CreateWorker("x", None, "k-1", "k-1"),
        DAEMON,
        "Normal SuccessfulCreate Create: created a worker on node k-1",
    ),
    (drained(SCALE_IN), {}, "Normal ScalingDown Drain: w-1 takes no more jobs, and goes"),
    (drained(EXPELLED.format("a taint")), DAEMON, "Normal ScalingDown Drain: w-1 takes no more"),
    (drained(UPDATE), {}, "Normal RollingUpdate Drain: w-1 takes no more jobs, and is replaced"),
    (drained(UPDATE), SCHEDULED, "Normal ScheduledUpdate Drain: w-1 takes no more jobs, and is"),
    (drained(DELETION), {}, "Normal Draining Drain: w-1 takes no more jobs, and goes"),
    (drained(RENAMED), DAEMON, "Normal HostnameMismatch Drain: w-1 takes no more jobs, and goes"),
    (
        drained(cordoned(node=True)),
        {},
        "Normal NodeCordon Drain: w-1 takes no more jobs: Node (k-1) was cordoned",
    ),
    (
        drained("fan broken"),
        {},
        "Normal NodeCordon Drain: w-1 takes no more jobs: fan broken",
    ),
    (
        drained(cordoned(node=False)),
        {},
        "Normal PodCordon Drain: w-1 takes no more jobs: Pod (ns/w-1) was cordoned",
    ),
    (ResumeWorker("x", "w-1", "w-1"), {}, "Normal Resumed Resume: w-1 takes jobs again"),
    (RequeueJob(GHOST, 7, "w-1", NOW), {}, "Warning JobRequeued RequeueJob: requeued job 7 of w-1"),
    (RequeueJob(FINAL, 7, "w-1", NOW), {}, "Warning JobLost RequeueJob: cancelled job 7 of w-1"),
    (ended(LOST), {}, "Warning SlurmNodeNotRegistered Delete: deleted w-1: Slurm does not know"),
    (ended("it ended (Failed)"), DAEMON, "Warning FailedDaemonPod Delete: deleted w-1: it ended"),
    (ended("it ended (Succeeded)"), DAEMON, "Normal SucceededDaemonPod Delete: deleted w-1: it"),
    (ended("it ended (Failed)"), {}, "Normal SuccessfulDelete Delete: deleted w-1: it ended"),
    (ended(SCALE_IN), {}, f"Normal SuccessfulDelete Delete: deleted w-1: {SCALE_IN}"),
    (
        ForgetNode("its Kubernetes node is gone", "k-9"),
        DAEMON,
        "Normal DefunctSlurmNodePruned Forget: Slurm forgets node k-9: its Kubernetes node is gone",
    ),
]


@pytest.mark.parametrize(("action", "of", "words"), CASES, ids=lambda x: str(x)[:40])
def test_an_action_is_told_with_the_reason_that_people_know(action, of, words):
    ((what, count),) = told(make_wanted(**of), [action])
    assert f"{what.type} {what.reason} {what.action}: {what.note}".startswith(words)
    assert count == 1


@pytest.mark.parametrize(
    "action",
    [
        Wait("1 worker still with jobs: w-1", 15.0),
        LookInside("x", "w-1", "uid"),
        MarkWorker("x", "w-1", "uid"),
        ShowState("x", "w-1", "uid", {}),
        TellSlurm("x", "w-1"),
    ],
)
def test_what_is_waited_for_looked_at_or_shown_is_no_event(action):
    assert told(make_wanted(), [action]) == []


def test_a_thousand_of_a_kind_are_one_event_that_counts_them():
    ((what, count),) = told(make_wanted(), [CreateWorker("x", n) for n in range(1000)])
    assert (what.many, count) == ("created {} workers", 1000)


def test_drains_for_different_reasons_are_different_events():
    found = told(make_wanted(), [drained(SCALE_IN), drained(UPDATE), drained(SCALE_IN)])
    assert [(what.reason, count) for what, count in found] == [
        ("ScalingDown", 2),
        ("RollingUpdate", 1),
    ]


@pytest.mark.parametrize("action", [row[0] for row in CASES])
def test_of_every_event_it_can_be_said_how_many_there_are(action):
    ((what, _),) = told(make_wanted(), [action])
    assert what.many.count("{}") == 1


# -- what begins


def muster(desired: int = 2, *workers: Worker, update: Update | None = None) -> Muster:
    nodeset = replace(SET, update=update or Update())
    return Muster(nodeset, Fleet(workers, NOW), 1, "new", desired)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (0, 2, ["ScalingUp Scale: from 0 to 2 workers"]),
        (5, 2, ["ScalingDown Scale: from 5 to 2 workers"]),
        (2, 2, []),
    ],
)
def test_scaling_is_told_once_when_the_number_changes(before, now, words):
    found = begun(Before(before, "new"), muster(now))
    assert [f"{what.reason} {what.action}: {what.note}" for what in found] == words


WINDOW = Window("SlurmOperatorMaint-w", NOW, timedelta(hours=1))


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (Update(), "RollingUpdate: workers are replaced by those of revision new, at most 25% at"),
        (
            Update(Strategy.ON_DELETE),
            "OnDelete: workers are replaced by those of revision new when",
        ),
        (
            Update(Strategy.SCHEDULED, window=WINDOW),
            "ScheduledUpdate: workers are replaced by those of revision new in maintenance window "
            "SlurmOperatorMaint-w",
        ),
    ],
)
def test_an_update_is_told_once_when_it_begins(update, words):
    now = muster(2, make_worker(), update=update)
    (what,) = begun(Before(2, "old"), now)
    assert f"{what.reason}: {what.note}".startswith(words)
    assert begun(Before(2, "new"), now) == []


def test_the_first_revision_and_one_without_old_workers_are_no_update():
    assert begun(Before(2, ""), muster(2, make_worker())) == []
    assert begun(Before(2, "old"), muster(2, make_worker("new"))) == []


def test_a_claim_of_somebody_else_is_told_as_a_conflict():
    (what,) = conflicting({"data-w-0": "Job j"})
    assert (what.type, what.reason) == ("Warning", "ConflictingController")
    assert what.note == "claim data-w-0 belongs to Job j, and is left alone"
    assert what.many.count("{}") == 1
