"""Slurm's records of workers whose node is gone."""

import json

import pytest

from shoal.decide.defunct import defunct
from shoal.decide.plan import ForgetNode, Wait
from shoal.model.nodeset import Mode

from .fleets import NAMING, NOW, fleet, kube_node, slurm_node, wanted, worker

UID = "uid-of-w"
GONE = ForgetNode("its Kubernetes node is gone", "gone")


def pruning(**fields):
    return wanted(of={"mode": Mode.EVERY_NODE, "prune": True, **fields}, uid=UID)


def comment(node="gone", **fields):
    told = {
        "namespace": "ns",
        "podName": f"w-{node}",
        "node": node,
        "nodeSetName": "w",
        "nodeSetUID": UID,
    }
    return json.dumps({**told, **fields})


def record(name="gone", state="DOWN+NOT_RESPONDING", **fields):
    return slurm_node(name, state, **{"comment": comment(name), **fields})


def forgotten(*records, asked=None, kube=(), workers=(), **fields):
    seen = fleet(*workers, slurm=records, kube=[kube_node(), *kube], **fields)
    return defunct(asked or pruning(), seen)


def test_a_record_goes_whose_node_and_pod_are_gone():
    assert forgotten(record()) == [GONE]


@pytest.mark.parametrize("fields", [{"prune": False}, {"mode": Mode.REPLICAS}])
def test_no_record_goes_unless_it_is_asked_for_and_workers_are_bound_to_nodes(fields):
    assert forgotten(record(), asked=pruning(**fields)) == []


@pytest.mark.parametrize(
    "state",
    [
        "IDLE",
        "DOWN",
        "IDLE+NOT_RESPONDING",
        "DOWN+NOT_RESPONDING+COMPLETING",
        "DOWN+NOT_RESPONDING+MAINTENANCE",
        "DOWN+NOT_RESPONDING+RESERVED",
        "UNKNOWN",
    ],
)
def test_a_record_stays_unless_slurm_has_given_the_node_up_and_nothing_is_on_it(state):
    assert forgotten(record(state=state)) == []


def test_a_record_stays_while_jobs_are_on_it():
    assert forgotten(record(), ends={"gone": NOW}) == []


@pytest.mark.parametrize(
    "told",
    [
        "",
        "rack 7, broken fan",
        "[1, 2]",
        "{",
        f'{{"nodeSetUID": "{UID}"}}',
        comment(namespace="other"),
        comment(nodeSetName="other"),
        comment(nodeSetUID="another"),
        comment(nodeSetName="other", podName=UID),
        comment(node=""),
        comment(node=7),
    ],
)
def test_a_record_stays_unless_its_comment_says_that_it_is_ours(told):
    assert forgotten(record(comment=told)) == []


@pytest.mark.parametrize(
    "there",
    [
        worker(name="w-gone", host="gone", node="x", mode=Mode.EVERY_NODE),
        worker(name="w-b", host="k-0", node="gone", mode=Mode.EVERY_NODE),
        worker(name="w-gone", host="gone", deleting=True, mode=Mode.EVERY_NODE),
    ],
)
def test_a_record_stays_while_there_is_a_pod_of_it(there):
    assert forgotten(record(), workers=[there]) == []


def test_a_record_stays_while_its_node_is_there_under_the_same_hostname():
    assert forgotten(record(), kube=[kube_node("gone")]) == []


def test_a_record_goes_whose_node_has_another_hostname_now():
    renamed = kube_node("gone", annotations={NAMING.annotations.hostname_override: "new"})
    (action,) = forgotten(record(), kube=[renamed])
    assert action == ForgetNode("its Kubernetes node has another hostname now", "gone")


def test_a_record_keeps_what_an_admin_said_of_the_node():
    assert forgotten(record(reason="broken fan")) == []
    assert forgotten(record(reason="broken fan : Not responding")) == []
    assert forgotten(record(reason="Not responding")) == [GONE]
    ours = f"{NAMING.reason_prefix}Pod is terminating"
    assert forgotten(record(reason=ours)) == [GONE]
    assert forgotten(record(reason=ours, comment=comment(note="loud fan"))) == []


def test_nothing_is_pruned_while_nodes_or_records_are_unknown():
    asked = pruning()
    assert defunct(asked, fleet(slurm=[record()], kube=[])) == []
    assert defunct(asked, fleet(slurm=None, kube=[kube_node()])) == []
    assert defunct(asked, fleet(slurm=[], kube=[kube_node()])) == []
    nameless = wanted(of={"mode": Mode.EVERY_NODE, "prune": True})
    assert forgotten(record(comment=comment(nodeSetUID="")), asked=nameless) == []


def test_when_most_records_would_go_at_once_none_goes_and_it_is_said():
    gone = [record(f"g-{n}") for n in range(4)]
    there = [record(f"k-{n}", "IDLE") for n in range(4)]
    assert len(forgotten(*gone, *there)) == 4
    (wait,) = forgotten(*gone, *there[:3])
    assert isinstance(wait, Wait)
    assert "4 of 7" in wait.why


def test_a_few_records_go_even_if_they_are_all():
    assert len(forgotten(*(record(f"g-{n}") for n in range(3)))) == 3
