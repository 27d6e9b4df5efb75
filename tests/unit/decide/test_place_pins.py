"""Workers that come back to the node they were on."""

import pytest

from shoal.decide import place
from shoal.kube.nodes import Taint
from shoal.model.nodeset import Mode

from .fleets import fleet, kube_node, wanted, worker


def pinned(known=None, **fields):
    return wanted(2, of={"pin": True, **fields}, pinned=known or {})


def test_a_number_is_bound_to_the_node_its_worker_runs_on():
    assert place.pins(pinned(), fleet(worker(0), worker(1))) == {0: "k-0", 1: "k-1"}


@pytest.mark.parametrize("fields", [{"pin": False}, {"mode": Mode.EVERY_NODE}])
def test_nothing_is_bound_unless_it_is_asked_for_and_workers_have_numbers(fields):
    assert place.pins(pinned({0: "k-0"}, **fields), fleet(worker(0))) == {}


@pytest.mark.parametrize(
    "there", [worker(0, host=""), worker(0, phase="Failed"), worker(0, deleting=True)]
)
def test_only_a_worker_that_runs_binds_its_number(there):
    assert place.pins(pinned(), fleet(there, kube=[kube_node()])) == {}


def test_a_number_stays_bound_while_it_has_no_worker():
    known = {0: "k-0", 7: "k-7"}
    seen = fleet(worker(0), kube=[kube_node("k-0"), kube_node("k-7")])
    assert place.pins(pinned(known), seen) == known


def test_a_number_is_free_when_its_node_is_gone():
    assert place.pins(pinned({0: "gone"}), fleet(kube=[kube_node()])) == {}


def test_a_number_that_lost_its_node_is_bound_to_the_one_its_worker_runs_on():
    assert place.pins(pinned({0: "gone"}), fleet(worker(0, host="k-5"))) == {0: "k-5"}


def test_a_number_stays_bound_to_its_first_node_while_that_is_there():
    seen = fleet(worker(0, host="k-5"), kube=[kube_node("k-0"), kube_node("k-5")])
    assert place.pins(pinned({0: "k-0"}), seen) == {0: "k-0"}


def test_no_cordon_and_no_illness_of_a_node_unbinds_a_number():
    ill = [Taint("node.kubernetes.io/disk-pressure", "", "NoSchedule")]
    kube = [kube_node(unschedulable=True, ready=False, taints=ill)]
    assert place.pins(pinned({0: "k-0"}), fleet(kube=kube)) == {0: "k-0"}


def test_a_number_is_free_when_its_node_will_not_do_any_more():
    kube = [kube_node(taints=[Taint("dedicated", "others", "NoSchedule")])]
    assert place.pins(pinned({0: "k-0"}), fleet(worker(0), kube=kube)) == {}


def test_without_a_list_of_nodes_all_stays_bound():
    assert place.pins(pinned({0: "k-0"}), fleet(worker(1), kube=[])) == {0: "k-0"}


def test_a_number_is_free_when_another_worker_has_its_node():
    seen = fleet(worker(0, host="k-1"))
    assert place.pins(pinned({1: "k-1"}), seen) == {0: "k-1"}
    assert place.pins(pinned({1: "k-1"}, oversubscribe=True), seen) == {0: "k-1", 1: "k-1"}
