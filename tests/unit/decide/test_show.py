from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from shoal.decide.plan import MarkWorker, ShowState
from shoal.decide.show import show
from shoal.kube.pods import PodCondition

from .fleets import NAMING, NOW, fleet, kube_node, slurm_node, wanted, worker

PROTECT = NAMING.labels.pod_protect
DEADLINE = NAMING.annotations.pod_deadline
PLACE = NAMING.annotations.topology


def shows(*types, message="", status="True"):
    return [PodCondition(f"SlurmNodeState{type_}", status, message=message) for type_ in types]


def states(seen, wish=None):
    plan = show(wish or wanted(), seen, seen.workers)
    return [action for action in plan if isinstance(action, ShowState)]


def marks(seen, wish=None):
    plan = show(wish or wanted(), seen, seen.workers)
    return [action for action in plan if isinstance(action, MarkWorker)]


# -- conditions


def test_a_worker_shows_its_nodes_state_and_slurms_reason():
    seen = fleet(worker(), slurm=[slurm_node(state="IDLE+DRAIN", reason="bad fan")])
    (action,) = states(seen)
    assert (action.pod, action.uid) == ("w-0", "uid-w-0")
    assert action.conditions == {"SlurmNodeStateIdle": "bad fan", "SlurmNodeStateDrain": "bad fan"}


def test_a_worker_that_shows_all_that_is_so_is_left_alone():
    busy = worker(conditions=shows("Mixed"), labels={PROTECT: "true"})
    assert list(show(wanted(), fleet(busy, slurm="MIXED"), [busy])) == []


def test_a_state_that_has_passed_is_taken_away():
    seen = fleet(worker(conditions=shows("Allocated", "Completing")), slurm="ALLOCATED")
    (action,) = states(seen)
    assert action.conditions == {"SlurmNodeStateAllocated": ""}
    assert "SlurmNodeStateCompleting" not in action.conditions


def test_a_new_reason_is_shown_though_the_state_stays():
    there = worker(conditions=shows("Down", message="old"))
    (action,) = states(fleet(there, slurm=[slurm_node(state="DOWN", reason="new")]))
    assert action.conditions == {"SlurmNodeStateDown": "new"}


def test_a_condition_that_somebody_made_false_is_true_again():
    (action,) = states(fleet(worker(conditions=shows("Idle", status="False"))))
    assert action.conditions == {"SlurmNodeStateIdle": ""}


def test_conditions_of_others_are_not_touched():
    other = PodCondition("SlurmIsGreat", "True")
    assert states(fleet(worker(conditions=[other, *shows("Idle")]))) == []


@pytest.mark.parametrize("slurm", [None, []], ids=["silent", "unknown"])
def test_the_last_state_stays_shown_while_slurm_says_nothing(slurm):
    there = worker(conditions=shows("Allocated"), labels={PROTECT: "true"})
    assert list(show(wanted(), fleet(there, slurm=slurm), [there])) == []


@pytest.mark.parametrize("how", [{"deleting": True}, {"phase": "Failed"}])
def test_a_worker_that_has_ended_shows_nothing_more(how):
    there = worker(**how)
    assert list(show(wanted(), fleet(there, slurm="ALLOCATED"), [there])) == []


def test_only_the_workers_asked_about_are_written():
    one, other = worker(0), worker(1)
    found = list(show(wanted(2), fleet(one, other), [other]))
    assert [action.pod for action in found] == ["w-1"]


# -- protection


@pytest.mark.parametrize(
    "state", ["ALLOCATED", "MIXED+DRAIN", "IDLE+COMPLETING", "UNKNOWN", "UNHEARD_OF", ""]
)
def test_a_worker_that_may_have_a_job_is_protected(state):
    (action,) = marks(fleet(worker(), slurm=[slurm_node(state=state)]))
    assert action.labels == {PROTECT: "true"}


@pytest.mark.parametrize("state", ["IDLE", "IDLE+DRAIN", "DOWN+NOT_RESPONDING"])
def test_a_worker_without_a_job_is_not_protected(state):
    (action,) = marks(fleet(worker(labels={PROTECT: "true"}), slurm=state))
    assert action.labels == {PROTECT: None}


@pytest.mark.parametrize("slurm", [None, []], ids=["silent", "unknown"])
@pytest.mark.parametrize("labels", [{}, {PROTECT: "true"}], ids=["bare", "protected"])
def test_protection_stays_as_it_is_while_slurm_says_nothing(slurm, labels):
    assert marks(fleet(worker(labels=labels), slurm=slurm)) == []


@pytest.mark.parametrize("slurm", [None, "ALLOCATED"])
def test_protection_goes_when_the_user_wants_none(slurm):
    seen = fleet(worker(labels={PROTECT: "true"}), slurm=slurm)
    (action,) = marks(seen, wanted(of={"protect": False}))
    assert action.labels == {PROTECT: None}


# -- deadline


def test_a_worker_says_when_the_time_of_its_jobs_is_over():
    there = NOW.astimezone(timezone(timedelta(hours=2))) + timedelta(minutes=30, microseconds=7)
    (action,) = marks(fleet(worker(), ends={"w-0": there}))
    assert action.annotations == {DEADLINE: "2026-03-01T12:30:00Z"}


def test_a_worker_whose_jobs_have_ended_has_no_deadline():
    there = worker(annotations={DEADLINE: "2026-03-01T12:30:00Z"})
    (action,) = marks(fleet(there, ends={}))
    assert action.annotations == {DEADLINE: None}


def test_a_deadline_is_written_once():
    there = worker(annotations={DEADLINE: "2026-03-01T12:00:00Z"})
    assert marks(fleet(there, ends={"w-0": NOW})) == []


def test_a_deadline_goes_once_it_does_not_matter_who_goes_first():
    there = worker(annotations={DEADLINE: "2026-03-01T12:30:00Z"})
    (action,) = show(wanted(), fleet(there, slurm=None), [there], order=False)
    assert action.annotations == {DEADLINE: None}


def test_a_deadline_stays_where_nobody_asked_for_jobs():
    there = worker(annotations={DEADLINE: "2026-03-01T12:30:00Z"})
    assert marks(fleet(there, ends=None)) == []


# -- place


def on(annotations, **pod):
    there = worker(annotations=pod)
    return fleet(there, kube=[kube_node(annotations=annotations)])


def test_a_worker_says_where_its_kubernetes_node_is():
    (action,) = marks(on({PLACE: "topo:s1"}))
    assert action.annotations == {PLACE: "topo:s1"}


def test_a_place_that_the_kubernetes_node_no_longer_has_is_taken_away():
    (action,) = marks(on({}, **{PLACE: "topo:s1"}))
    assert action.annotations == {PLACE: None}


def test_a_worker_is_not_given_an_empty_place():
    assert marks(on({})) == []


def test_a_place_stays_while_the_kubernetes_node_is_not_known():
    there = worker(annotations={PLACE: "topo:s1"})
    assert marks(fleet(there, kube=[])) == []


def test_all_that_changes_on_a_pod_is_written_at_once():
    seen = fleet(worker(), slurm="MIXED", kube=[kube_node(annotations={PLACE: "topo:s1"})])
    (action,) = marks(replace(seen, ends={"w-0": NOW}))
    assert action.labels == {PROTECT: "true"}
    assert action.annotations == {DEADLINE: "2026-03-01T12:00:00Z", PLACE: "topo:s1"}
