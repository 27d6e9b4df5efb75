"""Whether a pod serves, whether it is over, and what is wrong with it."""

import msgspec
import pytest

from shoal.kube.pods import Pod


def read(**status):
    return msgspec.convert({"metadata": {"name": "p"}, "spec": {}, "status": status}, Pod)


def container(name="slurmctld", *, ready=False, state=None, last=None):
    return {"name": name, "ready": ready, "state": state or {}, "lastState": last or {}}


def ended(code, message="", reason="Error"):
    return {"terminated": {"exitCode": code, "message": message, "reason": reason}}


def waiting(reason, message=""):
    return {"waiting": {"reason": reason, "message": message}}


@pytest.mark.parametrize(
    ("phase", "over"),
    [("", False), ("Pending", False), ("Running", False), ("Unknown", False), ("Succeeded", True),
     ("Failed", True)],
)  # fmt: skip
def test_a_pod_is_over_when_it_has_ended_for_good(phase, over):
    assert read(phase=phase).over is over


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        ([], False),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "ContainersReady", "status": "True"}], False),
        ([{"type": "Ready", "status": "True", "lastTransitionTime": None}], True),
    ],
)
def test_a_pod_serves_when_it_says_so(conditions, ready):
    assert read(conditions=conditions).ready is ready


TROUBLES = {
    "not scheduled: 0/2 nodes are available": {
        "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}
        ]
    },
    "slurmctld: ImagePullBackOff: no such image": {
        "containerStatuses": [container(state=waiting("ImagePullBackOff", "no such image"))]
    },
    "slurmctld: CreateContainerConfigError": {
        "containerStatuses": [container(state=waiting("CreateContainerConfigError"))]
    },
    # Why it ended says more than that it is waited for.
    "slurmctld ended with code 1: fatal: no key": {
        "containerStatuses": [
            container(
                state=waiting("CrashLoopBackOff", "back-off 10s"),
                last=ended(1, "starting\nfatal: no key\n"),
            )
        ]
    },
    "slurmctld ended with code 137: OOMKilled": {
        "containerStatuses": [container(state=ended(137, "", "OOMKilled"))]
    },
    # It ends well, but it should not end.
    "slurmctld: CrashLoopBackOff": {
        "containerStatuses": [
            container(state=waiting("CrashLoopBackOff"), last=ended(0, "", "Completed"))
        ]
    },
    "initconf ended with code 2: cannot copy": {
        "initContainerStatuses": [container("initconf", state=ended(2, "cannot copy"))],
        "containerStatuses": [container(state=waiting("PodInitializing"))],
    },
    "The node was low on resource: memory.": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
    },
}


@pytest.mark.parametrize("words", TROUBLES)
def test_what_is_wrong_is_said_in_a_line(words):
    assert read(**TROUBLES[words]).trouble == words


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"containerStatuses": [container(state=waiting("ContainerCreating"))]},
        {"containerStatuses": [container(state=waiting("PodInitializing"))]},
        {"containerStatuses": [container(ready=True, last=ended(1, "long ago"))]},
        {"containerStatuses": [container(state=ended(0, "", "Completed"))]},
        {"conditions": [{"type": "PodScheduled", "status": "True"}]},
    ],
)
def test_a_pod_that_is_on_its_way_or_serves_has_no_trouble(status):
    assert read(**status).trouble == ""


def test_a_pod_of_an_api_server_that_says_more_is_read():
    found = msgspec.convert(
        {
            "metadata": {"name": "p", "managedFields": []},
            "spec": {"nodeName": "n", "hostname": "h", "containers": []},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "hostIP": "10.0.0.2"},
        },
        Pod,
    )
    assert (found.spec.node_name, found.spec.hostname) == ("n", "h")
    assert found.status.pod_ip == "10.0.0.1"
