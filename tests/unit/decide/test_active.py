"""The Service leads to the slurmctld that serves."""

from shoal.decide.active import active
from shoal.kube.objects import Meta
from shoal.kube.pods import Pod, PodCondition, PodStatus

LABEL = "active"


def pod(name: str, *, labelled: bool = False, ready: bool = True, ending: bool = False) -> Pod:
    when = "2026-01-01T00:00:00Z" if ending else None
    labels = {LABEL: "true"} if labelled else {}
    conditions = (PodCondition("Ready", "True" if ready else "False"),)
    return Pod(
        Meta(name, labels=labels, deletion_timestamp=when),
        status=PodStatus("Running", conditions=conditions),
    )


def test_the_first_that_answers_serves():
    pods = [pod("c-0"), pod("c-1", labelled=True)]
    assert active(pods, {"c-0": True, "c-1": True}, LABEL) == "c-0"
    assert active(pods, {"c-0": False, "c-1": True}, LABEL) == "c-1"


def test_where_slurm_does_not_say_the_label_stays():
    pods = [pod("c-0"), pod("c-1", labelled=True)]
    assert active(pods, None, LABEL) == "c-1"
    assert active(pods, {}, LABEL) == "c-1"
    assert active(pods, {"c-0": False, "c-1": False}, LABEL) == "c-1"


def test_without_a_label_or_a_word_of_slurm_the_first_that_is_ready_serves():
    assert active([pod("c-0", ready=False), pod("c-1")], None, LABEL) == "c-1"
    assert active([pod("c-0", ready=False)], None, LABEL) == "c-0"


def test_a_pod_that_ends_does_not_serve_whatever_slurm_says():
    pods = [pod("c-0", labelled=True, ending=True), pod("c-1")]
    assert active(pods, {"c-0": True, "c-1": False}, LABEL) == "c-1"
    assert active([], {"c-0": True}, LABEL) is None
