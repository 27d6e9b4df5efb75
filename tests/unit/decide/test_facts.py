import json

import pytest

from shoal.decide.facts import NOT_NOTED, Told, facts, told_of

from .fleets import NAMING, fleet, kube_node, slurm_node, wanted, worker

FEATURES = NAMING.annotations.features
PLACE = NAMING.annotations.topology
COMMENT = (
    '{"namespace":"ns","podName":"w-0","node":"k-0","nodeSetName":"w","nodeSetUID":"uid-of-w"}'
)


def told(node, annotations=None, there=None, *, uid="", shape="", **options):
    there = there or worker()
    seen = fleet(there, slurm=[node], kube=[kube_node(annotations=annotations)])
    return list(facts(wanted(uid=uid, shape=shape), seen, [there], **options))


def test_a_worker_whose_kubernetes_node_says_nothing_leaves_slurm_alone():
    node = slurm_node(features=("w", "gpu"), active_features=("w",), topology="topo:s1")
    assert told(node) == []


# -- features


def test_slurm_is_told_the_features_of_the_kubernetes_node_under_our_prefix():
    node = slurm_node(features=("w",), active_features=("w",))
    (action,) = told(node, {FEATURES: " ib, a100 ,ib,,"})
    assert action.features == ("w", "k8s/a100", "k8s/ib")
    assert action.active_features == ("w", "k8s/a100", "k8s/ib")
    assert (action.node, action.comment, action.topology) == ("w-0", None, None)


def test_features_of_others_stay():
    node = slurm_node(features=("w", "k8s/old", "nps4", "nps1"), active_features=("w", "nps1"))
    (action,) = told(node, {FEATURES: "new"})
    assert action.features == ("w", "nps4", "nps1", "k8s/new")
    assert action.active_features == ("w", "nps1", "k8s/new")


def test_features_that_slurm_has_in_another_order_are_not_told_again():
    ours = ("k8s/b", "w", "k8s/a")
    assert told(slurm_node(features=ours, active_features=ours), {FEATURES: "a,b"}) == []


@pytest.mark.parametrize("annotations", [{}, {FEATURES: ""}], ids=["without", "empty"])
def test_features_that_the_kubernetes_node_no_longer_has_go(annotations):
    node = slurm_node(features=("w", "k8s/ib"), active_features=("k8s/ib",))
    (action,) = told(node, annotations)
    assert (action.features, action.active_features) == (("w",), ())


def test_the_last_feature_goes_too():
    (action,) = told(slurm_node(features=("k8s/ib",)))
    assert (action.features, action.active_features) == ((), ())


def test_features_that_are_there_but_not_active_become_active():
    node = slurm_node(features=("w", "k8s/ib"), active_features=("w",))
    (action,) = told(node, {FEATURES: "ib"})
    assert (action.features, action.active_features) == (("w", "k8s/ib"), ("w", "k8s/ib"))


# -- topology


def test_slurm_is_told_where_the_kubernetes_node_is():
    (action,) = told(slurm_node(topology="topo:s1"), {PLACE: "topo:s2"})
    assert action.topology == "topo:s2"
    assert (action.features, action.active_features, action.comment) == (None, None, None)


def test_a_place_that_slurm_knows_is_not_told_again():
    assert told(slurm_node(topology="topo:s2"), {PLACE: "topo:s2"}) == []


def test_an_older_slurm_which_shows_no_place_is_not_told_one_in_every_pass():
    assert told(slurm_node(topology=""), {PLACE: "topo:s2"}, places=False) == []


# -- whose it is


def test_slurm_is_told_whose_worker_it_is():
    (action,) = told(slurm_node(), uid="uid-of-w")
    assert action.comment == COMMENT
    assert list(json.loads(action.comment)) == [
        "namespace", "podName", "node", "nodeSetName", "nodeSetUID",
    ]  # fmt: skip


def test_a_comment_keeps_the_shape_that_the_record_was_made_with():
    (action,) = told(slurm_node(), uid="uid-of-w", shape="round")
    assert told_of(action.comment).shape == "round"
    assert told(slurm_node(comment=action.comment), uid="uid-of-w", shape="round") == []
    assert told(slurm_node(comment=action.comment), uid="uid-of-w", shape="square") == []


def test_of_a_record_that_an_outdated_worker_made_nobody_claims_to_know_the_shape():
    old = worker(revision="old")
    (action,) = told(slurm_node(), there=old, uid="uid-of-w", shape="square")
    assert told_of(action.comment).shape == NOT_NOTED
    assert told(slurm_node(comment=action.comment), uid="uid-of-w", shape="square") == []


def test_a_comment_is_written_once():
    assert told(slurm_node(comment=COMMENT), uid="uid-of-w") == []


def test_a_comment_of_a_worker_before_is_replaced():
    (action,) = told(slurm_node(comment=COMMENT.replace("k-0", "k-7")), uid="uid-of-w")
    assert action.comment == COMMENT


def test_only_the_comment_is_told_when_a_worker_comes_to_another_kubernetes_node():
    # Upstream sets the node idle on that occasion, whatever state it was in.
    node = slurm_node(state="DOWN+DRAIN", comment=COMMENT.replace("k-0", "k-7"), reason="bad fan")
    (action,) = told(node, uid="uid-of-w")
    assert (action.features, action.active_features, action.topology) == (None, None, None)


@pytest.mark.parametrize(
    "comment", ["rack 7, see #12", '{"ticket": 12}', "{broken", COMMENT[:-1] + ',"ticket":12}']
)
def test_an_admins_own_comment_is_never_overwritten(comment):
    assert told(slurm_node(comment=comment), uid="uid-of-w") == []


def test_a_pod_that_is_not_ready_is_not_said_to_be_the_nodes():
    assert told(slurm_node(), there=worker(ready=False), uid="uid-of-w") == []


def test_a_comment_of_ours_is_understood_and_no_other():
    assert told_of(COMMENT) == Told("ns", "w-0", "k-0", "w", "uid-of-w")
    assert told_of('{"namespace": "ns", "podName": "w-0"}') == Told("ns", "w-0")
    assert [told_of(text) for text in ("", "rack 7", '{"ticket": 12}', "{\udcff}")] == [None] * 4


# -- what is not known


def test_nothing_is_told_while_slurm_does_not_answer_or_does_not_know_the_node():
    there = worker()
    kube = [kube_node(annotations={FEATURES: "ib", PLACE: "topo:s1"})]
    for slurm in (None, []):
        assert list(facts(wanted(uid="u"), fleet(there, slurm=slurm, kube=kube), [there])) == []


def test_features_stay_while_the_kubernetes_node_is_not_known():
    there, node = worker(), slurm_node(features=("k8s/ib",), active_features=("k8s/ib",))
    assert list(facts(wanted(), fleet(there, slurm=[node], kube=[]), [there])) == []


def test_nothing_is_told_of_a_worker_that_ends():
    node = slurm_node(features=("k8s/ib",))
    assert told(node, there=worker(deleting=True), uid="uid-of-w") == []


def test_what_is_the_same_for_many_nodes_is_told_apart_from_whose_each_is():
    workers = [worker(number) for number in range(3)]
    kube = [kube_node(f"k-{n}", annotations={FEATURES: "ib"}) for n in range(3)]
    found = list(facts(wanted(uid="u"), fleet(*workers, kube=kube), workers))
    alike = [action for action in found if action.comment is None]
    assert len(alike) == 3
    assert len({(a.why, a.features, a.active_features, a.topology) for a in alike}) == 1
