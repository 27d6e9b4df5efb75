"""When a workload has settled."""

import msgspec
import pytest

from shoal.kube.workloads import Workload


def read(generation=3, replicas=2, **status):
    whole = {"observedGeneration": 3, "replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}
    body = {"metadata": {"generation": generation}, "spec": {"replicas": replicas}}
    return msgspec.convert({**body, "status": whole | status}, Workload)


def test_all_pods_ready_and_of_the_newest_spec_is_settled():
    assert read().settled
    assert read(replicas=0, replicas_=0, readyReplicas=0, updatedReplicas=0).settled


@pytest.mark.parametrize(
    "status", [{"observedGeneration": 2}, {"readyReplicas": 1}, {"updatedReplicas": 1}]
)
def test_what_is_still_on_its_way_is_not(status):
    assert not read(**status).settled


def test_one_that_its_controller_has_not_seen_is_not_settled():
    fresh = msgspec.convert({"metadata": {"generation": 1}, "spec": {}}, Workload)
    assert fresh.spec.replicas == 1
    assert not fresh.settled
    without_pods = msgspec.convert(
        {"metadata": {"generation": 1}, "spec": {"replicas": 0}}, Workload
    )
    assert not without_pods.settled


def test_the_end_of_surplus_pods_is_not_waited_for():
    assert read(replicas=1).settled
