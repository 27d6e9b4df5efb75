"""Why a worker that stays takes no jobs."""

import pytest

from shoal.decide.cordons import cordon
from shoal.kube.nodes import NodeCondition

from .fleets import NAMING, fleet, kube_node, worker

KEYS = NAMING.annotations
USUAL = "Node (k-0) was cordoned, Pod (ns/w-0) must be cordoned"
SICK = NodeCondition("GpuSick", "True", "Xid", "79")


def why(one=None, node=None, shown=()):
    one = one or worker()
    seen = fleet(one, kube=[node or kube_node()])
    return cordon(one, seen, KEYS, frozenset(shown))


def test_a_worker_serves_where_nothing_is_cordoned():
    assert why() is None


def test_a_cordoned_node_takes_its_workers_along():
    assert why(node=kube_node(unschedulable=True)) == USUAL


def test_what_the_node_says_of_its_cordon_comes_first_and_on_one_line():
    told = {KEYS.node_cordon_reason: " new\nfan\x07 "}
    node = kube_node(unschedulable=True, annotations=told, conditions=[SICK])
    assert why(node=node, shown={"GpuSick"}) == "new fan"


def test_conditions_explain_a_cordon_only_where_they_are_to_be_shown():
    node = kube_node(unschedulable=True, conditions=[SICK, NodeCondition("Fine", "False")])
    assert why(node=node, shown={"GpuSick", "Fine"}) == "(Xid: 79)"
    assert why(node=node) == USUAL


def test_a_condition_alone_is_no_cordon():
    assert why(node=kube_node(conditions=[SICK]), shown={"GpuSick"}) is None


@pytest.mark.parametrize(("told", "reason"), [("true", "Pod (ns/w-0) was cordoned"), ("no", None)])
def test_a_pod_may_be_cordoned_alone(told, reason):
    assert why(worker(annotations={KEYS.pod_cordon: told})) == reason


def test_a_worker_whose_node_nobody_knows_is_not_cordoned_for_it():
    one = worker()
    assert cordon(one, fleet(one, kube=[]), KEYS, frozenset()) is None
