import pytest

from shoal.decide.state import Past, state_lost
from shoal.kube.objects import Meta
from shoal.kube.pods import (
    ContainerState,
    ContainerStatus,
    Ended,
    Pod,
    PodCondition,
    PodStatus,
    Waiting,
)
from shoal.model.controller import STATE_LOST

CURE = "say so"


def container(name, code=None, *, ready=False, again=False):
    """Return a container that ended with `code`; `again`: it waits to be started again."""
    end = ContainerState(terminated=Ended(code)) if code is not None else ContainerState()
    if again:
        waits = ContainerState(waiting=Waiting("CrashLoopBackOff"))
        return ContainerStatus(name, ready, 1, waits, end)
    return ContainerStatus(name, ready, 0, end)


FOUND = container("state", 0, ready=True)
LOST = container("state", STATE_LOST)
AGAIN = container("state", STATE_LOST, again=True)


def pod(*, ready=False, deleting=False, guard=(FOUND,), main=()):
    meta = Meta(
        "slurm-controller-0", uid="p", deletion_timestamp="2026-01-01" if deleting else None
    )
    conditions = (PodCondition("Ready", "True" if ready else "False"),)
    status = PodStatus(
        conditions=conditions, init_container_statuses=guard, container_statuses=main
    )
    return Pod(meta, status=status)


def test_a_new_cluster_starts_on_an_empty_state():
    assert not Past("me").expects
    assert not Past("me", pods=(pod(),)).expects


def test_once_slurmctld_serves_its_state_is_noted_and_expected_from_then_on():
    past = Past("me", pods=(pod(ready=True),))
    assert past.note == "me"
    assert past.expects
    assert Past("me", noted="me", pods=(pod(ready=True),)).note is None


@pytest.mark.parametrize("past", [Past("me", noted="me"), Past("me", expected=True)])
def test_one_of_the_two_notes_is_enough(past):
    assert past.expects


def test_a_copy_of_a_cluster_under_another_uid_starts_on_an_empty_state():
    assert not Past("copy", noted="original").expects


@pytest.mark.parametrize(
    "seen", [pod(ready=True, guard=()), pod(ready=True, deleting=True)], ids=["unguarded", "going"]
)
def test_a_pod_whose_state_nobody_looked_for_proves_no_state(seen):
    # It may be of a time when the state went with its pod.
    past = Past("me", pods=(seen,))
    assert past.note is None
    assert not past.expects


@pytest.mark.parametrize("guard", [LOST, AGAIN], ids=["ended", "waits"])
def test_a_lost_state_is_told_with_its_danger_and_both_cures(guard):
    failed = state_lost(Past("me", noted="me", pods=(pod(guard=(guard,)),)), CURE)
    assert failed is not None
    assert failed.reason == "StateLost"
    for words in ("still run on the workers", "restore the volume", CURE, "slurm-controller-0"):
        assert words in failed.message


def test_a_state_that_is_gone_at_a_start_in_the_same_pod_is_told_too():
    main = container("slurmctld", STATE_LOST, again=True)
    assert state_lost(Past("me", noted="me", pods=(pod(main=(main,)),)), CURE)


@pytest.mark.parametrize(
    "seen",
    [
        pod(guard=(container("state", STATE_LOST, again=True, ready=True),)),
        pod(main=(container("slurmctld", 1, again=True),)),
        pod(guard=(LOST,), deleting=True),
        pod(guard=(container("other", STATE_LOST),)),
    ],
    ids=["found since", "another end", "going", "somebody else"],
)
def test_other_ends_are_no_lost_state(seen):
    assert state_lost(Past("me", noted="me", pods=(seen,)), CURE) is None


def test_the_users_word_ends_the_waiting_and_counts_for_one_start():
    blocked = Past("me", noted="me", accepted=True, pods=(pod(guard=(AGAIN,)),))
    assert not blocked.expects
    assert blocked.blocked
    assert not blocked.spent
    assert state_lost(blocked, CURE) is None
    runs = Past("me", noted="me", accepted=True, pods=(pod(ready=True),))
    assert runs.spent
    assert runs.expects
