"""The first thing that is wrong is the reason that is shown."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.conditions import Failed, Wanted, ready
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
from shoal.kube.workloads import Workload, WorkloadSpec, WorkloadStatus
from shoal.model.observed import Seen
from shoal.model.part import Absent, Files, KeyRef

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = KeyRef("keys", "slurm.key", "d", field="spec.slurmKeyRef")
NO_KEY = KeyRef("keys", "slurm.key", field="spec.slurmKeyRef")


def pod(name="p-0", *, serving=False, ending=False, trouble=""):
    conditions = (PodCondition("Ready", "True"),) if serving else ()
    state = ContainerState(terminated=Ended(1, "Error", trouble)) if trouble else ContainerState()
    status = PodStatus("Running", conditions=conditions,
                       container_statuses=(ContainerStatus("x", state=state),))  # fmt: skip
    return Pod(
        Meta(name, deletion_timestamp="2026-01-01T00:00:00Z" if ending else None), status=status
    )


def workload(*, current=True):
    seen = WorkloadStatus(observed_generation=2 if current else 1, replicas=1, ready_replicas=1,
                          updated_replicas=1)  # fmt: skip
    return Workload(Meta("w", generation=2), WorkloadSpec(1), seen)


def told(wanted, *, pods=(), before=(), **seen):
    return ready(wanted, Seen(7, NOW, pods=tuple(pods), **seen), before)


def test_a_part_that_has_all_it_wants_is_ready():
    made = told(Wanted((KEY,), pods=1), pods=[pod(serving=True)], workload=workload())
    assert (made.type, made.status, made.reason) == ("Ready", "True", "AsAsked")
    assert made.observed_generation == 7
    assert told(Wanted()).status == "True"
    assert told(Wanted(pods=0)).status == "True"


@pytest.mark.parametrize(
    ("need", "words"),
    [
        (NO_KEY, "spec.slurmKeyRef: Secret keys, key slurm.key is not there"),
        (Files("f", field="spec.configFileRefs[0]"), "spec.configFileRefs[0]: ConfigMap f is not"),
        (Absent("Accounting", "a", "spec.x"), "spec.x: Accounting a is not there"),
        (KeyRef("j", "k", kind="ConfigMap", field="spec.jwksKeyRef"), "ConfigMap j, key k is not"),
    ],
)  # fmt: skip
def test_what_is_missing_is_told_by_the_field_that_names_it_and_with_a_cure(need, words):
    made = told(Wanted((KEY, need), pods=1))
    assert (made.status, made.reason) == ("False", "Missing")
    assert words in made.message
    assert "create it" in made.message


def test_all_that_is_missing_is_told_at_once():
    made = told(Wanted((NO_KEY, Files("f", field="spec.x"))))
    assert "spec.slurmKeyRef" in made.message
    assert "spec.x" in made.message


def test_an_object_that_could_not_be_written_is_told():
    made = told(Wanted(), refused=("Service s: it belongs to Job j",))
    assert (made.reason, made.message) == ("Refused", "Service s: it belongs to Job j")


def test_a_pod_that_says_why_it_fails_is_quoted_and_the_others_counted():
    made = told(
        Wanted(pods=3), pods=[pod(), pod("p-1", trouble="no such key"), pod("p-2", trouble="x")]
    )
    assert made.reason == "PodsFailing"
    assert "pod p-1: x ended with code 1: no such key (and 1 more)" in made.message
    assert "kubectl logs p-1" in made.message


def test_a_pod_that_is_being_ended_fails_nobody():
    made = told(Wanted(pods=1), pods=[pod(serving=True), pod("p-1", ending=True, trouble="killed")])
    assert made.status == "True"


def test_a_pod_that_serves_again_fails_nobody():
    assert told(Wanted(pods=1), pods=[pod(serving=True, trouble="before")]).status == "True"


def test_pods_that_are_on_their_way_are_counted():
    made = told(Wanted(pods=2), pods=[pod(serving=True), pod("p-1")])
    assert (made.reason, made.message) == ("Starting", "1 of 2 pods are ready")


def test_a_pod_that_serves_its_last_moments_does_not_count():
    made = told(Wanted(pods=1), pods=[pod(serving=True, ending=True)])
    assert made.reason == "Starting"


def test_while_pods_are_replaced_a_part_is_not_ready():
    made = told(Wanted(pods=1), pods=[pod(serving=True)], workload=workload(current=False))
    assert (made.reason, made.message) == ("Starting", "pods are being replaced")


def test_what_goes_on_is_told_and_makes_nothing_unready():
    waits = ("3 workers still with jobs: w-1, w-2, w-5",)
    made = told(Wanted(pods=1, waits=waits), pods=[pod(serving=True)])
    assert (made.status, made.reason) == ("True", "AsAsked")
    assert made.message == "1 pod is ready; 3 workers still with jobs: w-1, w-2, w-5"
    made = told(Wanted(pods=2, waits=waits), pods=[pod(serving=True)])
    assert made.message == "1 of 2 pods are ready; 3 workers still with jobs: w-1, w-2, w-5"


def test_a_pod_that_fails_is_told_with_what_waits_for_it():
    waits = ("the update has stopped",)
    made = told(Wanted(pods=1, waits=waits), pods=[pod(trouble="no such key")])
    assert made.reason == "PodsFailing"
    assert made.message.endswith("; the update has stopped")


def test_what_is_wrong_is_told_without_what_goes_on():
    made = told(Wanted((NO_KEY,), pods=1, waits=("workers end again and again",)))
    assert "again" not in made.message


ORDER = ["before", "Missing", "Refused", "PodsFailing", "Starting"]


@given(st.sets(st.sampled_from(ORDER)))
def test_what_is_nearer_to_the_cause_is_told_first(wrong):
    pods = [pod(trouble="x")] if "PodsFailing" in wrong else []
    needs = (NO_KEY,) if "Missing" in wrong else (KEY,)
    made = told(
        Wanted(needs, pods=1 if "Starting" in wrong else None),
        pods=pods,
        before=(None, Failed("before", "of its own") if "before" in wrong else None),
        refused=("x",) if "Refused" in wrong else (),
    )  # fmt: skip
    first = next((reason for reason in ORDER if reason in wrong), "AsAsked")
    assert made.reason == first


def test_a_container_that_waits_is_told_too():
    state = ContainerState(waiting=Waiting("ImagePullBackOff", "no such image"))
    waiting = Pod(
        Meta("p"), status=PodStatus(container_statuses=(ContainerStatus("x", state=state),))
    )
    assert "ImagePullBackOff: no such image" in told(Wanted(pods=1), pods=[waiting]).message
