"""Which nodes a pod may come to, and on which it may stay."""

import pytest

from shoal.kube.nodes import Node, NodeSpec, Taint
from shoal.kube.objects import Meta
from shoal.kube.scheduling import demands


def node(*taints, name="n", cordoned=False, **labels):
    named = {key.replace("_", "-"): value for key, value in labels.items()}
    return Node(Meta(name, labels=named), NodeSpec(cordoned, taints))


def affinity(*terms):
    required = {"nodeSelectorTerms": list(terms)}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    }


def expression(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


def by_labels(*expressions):
    return {"matchExpressions": list(expressions)}


def fits(spec, at):
    return demands(spec).refused(at) == ""


@pytest.mark.parametrize(
    "spec", [{}, {"affinity": None, "nodeSelector": None, "tolerations": None}, {"nodeName": ""}]
)
def test_a_pod_that_asks_for_nothing_fits_everywhere(spec):
    assert fits(spec, node())
    assert not demands(spec).expelled(node())


def test_a_pod_that_names_its_node_fits_that_one_alone():
    assert fits({"nodeName": "n"}, node())
    assert not fits({"nodeName": "n"}, node(name="m"))


def test_all_labels_of_a_node_selector_are_needed():
    spec = {"nodeSelector": {"gpu": "h200", "zone": "a"}}
    assert fits(spec, node(gpu="h200", zone="a", more="x"))
    assert not fits(spec, node(gpu="h200"))
    assert not fits(spec, node(gpu="h200", zone="b"))


@pytest.mark.parametrize(
    ("operator", "values", "told", "met"),
    [
        ("In", ["a", "b"], "b", True),
        ("In", ["a"], "c", False),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "b", True),
        ("NotIn", ["a"], "a", False),
        ("NotIn", ["a"], None, True),
        ("Exists", [], "", True),
        ("Exists", [], None, False),
        ("DoesNotExist", [], None, True),
        ("DoesNotExist", [], "", False),
        ("Gt", ["9"], "10", True),
        ("Gt", ["10"], "10", False),
        ("Gt", ["10"], None, False),
        ("Gt", ["10"], "many", False),
        ("Gt", ["few"], "10", False),
        ("Lt", ["10"], "9", True),
        ("Lt", ["10"], "10", False),
        ("Lt", [], "9", False),
        ("Like", ["a"], "a", False),
    ],
)
def test_an_expression_is_read_as_kubernetes_reads_it(operator, values, told, met):
    spec = affinity(by_labels(expression("k", operator, *values)))
    assert fits(spec, node(**({} if told is None else {"k": told}))) is met


def test_one_term_is_enough_and_all_of_its_expressions_are_needed():
    both = by_labels(expression("a", "Exists"), expression("b", "Exists"))
    spec = affinity(both, by_labels(expression("c", "Exists")))
    assert fits(spec, node(a="", b=""))
    assert fits(spec, node(c=""))
    assert not fits(spec, node(a=""))


@pytest.mark.parametrize("terms", [[], [{}], [{"matchExpressions": [], "matchFields": None}]])
def test_an_affinity_that_asks_for_nothing_is_met_by_no_node(terms):
    assert not fits(affinity(*terms), node())


def test_a_term_may_name_nodes_and_ask_for_labels_as_well():
    named = {"matchFields": [expression("metadata.name", "In", "n")]}
    assert fits(affinity(named), node())
    assert not fits(affinity(named), node(name="m"))
    assert not fits(affinity({**named, **by_labels(expression("a", "Exists"))}), node())
    others = {"matchFields": [expression("metadata.name", "NotIn", "n")]}
    assert not fits(affinity(others), node())


def test_a_label_is_no_field():
    spec = affinity({"matchFields": [expression("metadata.name", "In", "n")]})
    assert not fits(spec, Node(Meta("m", labels={"metadata.name": "n"})))


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "k"}, False),
        ({"key": "l", "value": "v"}, False),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"value": "v"}, False),
        ({"key": "k", "operator": "Around", "value": "v"}, False),
    ],
)
def test_a_toleration_is_read_as_kubernetes_reads_it(toleration, tolerated):
    tainted = node(Taint("k", "v", "NoSchedule"))
    assert fits({"tolerations": [toleration]}, tainted) is tolerated


def test_every_taint_has_to_be_tolerated_but_those_that_only_prefer():
    tainted = node(Taint("k", "", "NoSchedule"), Taint("l", "", "NoExecute"))
    assert not fits({"tolerations": [{"key": "k", "operator": "Exists"}]}, tainted)
    assert fits({}, node(Taint("k", "", "PreferNoSchedule")))


def test_tolerations_that_a_pod_gets_later_count_too():
    asked = demands({}, [{"key": "k", "operator": "Exists"}])
    assert asked.refused(node(Taint("k", "", "NoExecute"))) == ""


def test_a_cordoned_node_gets_no_new_pod_and_keeps_its_own():
    asked = demands({})
    # Its taint comes a moment after the field, and goes a moment after it.
    assert asked.refused(node(cordoned=True)) == "its node is cordoned"
    taint = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
    assert asked.refused(node(taint))
    assert not asked.expelled(node(taint, cordoned=True))


def test_a_pod_that_tolerates_cordons_comes_to_a_cordoned_node():
    spec = {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}
    taint = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
    assert fits(spec, node(taint, cordoned=True))


def test_a_pod_leaves_for_a_taint_that_ends_pods_and_not_for_one_that_keeps_new_ones_away():
    asked = demands({})
    assert not asked.expelled(node(Taint("k", "", "NoSchedule")))
    assert "k:NoExecute" in asked.expelled(node(Taint("k", "", "NoExecute")))
    assert "node selector" in demands({"nodeSelector": {"a": "b"}}).expelled(node())


@pytest.mark.parametrize("key", ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"])
def test_a_pod_stays_on_a_node_that_is_not_heard_of(key):
    silent = node(Taint(key, "", "NoExecute"))
    assert demands({}).refused(silent)
    assert not demands({}).expelled(silent)


def test_a_node_is_unfit_for_what_lasts_and_not_for_what_passes():
    asked = demands({})
    passing = Taint("node.kubernetes.io/disk-pressure", "", "NoSchedule")
    assert asked.unfit(node(passing, cordoned=True)) == ""
    assert "dedicated" in asked.unfit(node(Taint("dedicated", "", "NoSchedule")))
    assert demands({"nodeSelector": {"a": "b"}}).unfit(node())
