"""Whether a worker may end now."""

import pytest

from shoal.decide.standing import Standing, began, standing

from .fleets import fleet, slurm_node, worker


def of(one, slurm="IDLE", **fields):
    return standing(one, fleet(one, slurm=slurm, **fields))


@pytest.mark.parametrize(
    ("state", "how"),
    [
        ("IDLE", Standing.SERVING),
        ("MIXED", Standing.SERVING),
        ("IDLE+DRAIN", Standing.FREE),
        ("IDLE+DRAIN+NOT_RESPONDING", Standing.FREE),
        ("MIXED+DRAIN", Standing.BUSY),
        ("ALLOCATED+DRAIN", Standing.BUSY),
        ("IDLE+DRAIN+COMPLETING", Standing.BUSY),
        ("IDLE+DRAIN+UNDRAIN", Standing.SERVING),
        ("DOWN", Standing.FREE),
        ("DOWN+COMPLETING", Standing.SERVING),
        ("UNKNOWN+DRAIN", Standing.UNKNOWN),
        ("NEVER_HEARD_OF+DRAIN", Standing.UNKNOWN),
    ],
)
def test_a_worker_is_free_only_once_slurm_says_that_it_is_drained_or_given_up(state, how):
    assert of(worker(), state) is how


@pytest.mark.parametrize("answer", [None, []])
def test_no_answer_and_an_empty_list_free_nobody(answer):
    assert of(worker(), answer) is Standing.UNKNOWN


@pytest.mark.parametrize("answer", [None, [], "IDLE"])
def test_what_ended_or_never_began_is_free_whatever_slurm_says(answer):
    assert of(worker(phase="Failed"), answer) is Standing.FREE
    assert of(worker(host=""), answer) is Standing.FREE
    assert of(worker(began=False), answer) is Standing.FREE


def test_a_pod_that_was_seen_before_it_began_is_not_free_while_slurm_has_jobs_on_it():
    assert of(worker(began=False), "MIXED") is Standing.SERVING
    assert of(worker(host=""), "MIXED+DRAIN") is Standing.BUSY


def test_a_worker_that_slurm_does_not_know_is_free_only_once_somebody_looked_inside():
    others = [slurm_node("other-0")]
    one = worker()
    assert of(one, others) is Standing.UNREGISTERED
    assert of(one, others, steps={one.uid: True}) is Standing.BUSY
    assert of(one, others, steps={one.uid: False}) is Standing.FREE


def test_what_was_seen_inside_frees_nobody_whom_slurm_knows():
    one = worker()
    assert of(one, "MIXED", steps={one.uid: False}) is Standing.SERVING


def test_without_a_cluster_only_a_look_inside_frees():
    one = worker()
    assert of(one, None, abandoned=True) is Standing.UNREGISTERED
    assert of(one, None, abandoned=True, steps={one.uid: True}) is Standing.BUSY
    assert of(one, None, abandoned=True, steps={one.uid: False}) is Standing.FREE


def test_a_pod_may_have_run_if_it_restarted_or_the_kubelet_does_not_say():
    assert began(worker(restarts=1).pod)
    assert began(worker(began=False, restarts=1).pod)
    assert not began(worker(began=False).pod)
