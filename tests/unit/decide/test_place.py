"""One worker on every node that fits."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shoal.decide import place
from shoal.decide.facts import comment_of
from shoal.decide.plan import DeleteWorker, Wait
from shoal.decide.scale import OTHER_MODE
from shoal.decide.wanted import Healing
from shoal.kube.nodes import Taint
from shoal.model.nodeset import Mode
from shoal.model.part import PodWishes

from . import fleets
from .fleets import NAMING, NOW, fleet, kube_node, slurm_node, wanted

OVERRIDE = NAMING.annotations.hostname_override
MINUTE = timedelta(minutes=1)


def every(spec=None, **fields):
    made = wanted(of={"mode": Mode.EVERY_NODE}, **fields)
    pods = PodWishes(spec=spec or {})
    return replace(made, nodeset=replace(made.nodeset, part=replace(made.nodeset.part, pods=pods)))


def worker(host="k-0", name="w-a", **fields):
    """Return the worker of a node; its Slurm node is called as the node is."""
    return fleets.worker(name=name, host=host, **{"node": host, "mode": Mode.EVERY_NODE, **fields})


def places(change):
    return [(made.number, made.node, made.hostname) for made in change.create]


# -- who comes


def test_every_node_that_fits_gets_a_worker_that_is_called_as_the_node_is():
    kube = [kube_node("b"), kube_node("a.example.org"), kube_node("c", labels={"gpu": "no"})]
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]
    }}}}  # fmt: skip
    change = place.on_nodes(every(spec), fleet(kube=kube))
    assert places(change) == [(None, "a.example.org", "a"), (None, "b", "b")]
    assert {made.why for made in change.create} == {"a node that fits"}


def test_a_nodes_annotation_gives_its_worker_another_name():
    kube = [kube_node("a.b", annotations={OVERRIDE: "gpu-7"})]
    assert places(place.on_nodes(every(), fleet(kube=kube))) == [(None, "a.b", "gpu-7")]


def test_nothing_is_done_when_every_node_has_its_worker():
    change = place.on_nodes(every(), fleet(worker("a"), worker("b", "w-b")))
    assert (change.create, change.going) == ((), {})


def test_without_a_list_of_nodes_nobody_comes_and_nobody_goes():
    seen = fleet(worker(), fleets.worker(3), worker("", "w-c", node="k-9"), kube=[])
    change = place.on_nodes(every(), seen)
    assert (change.create, change.going) == ((), {})
    assert place.desired(every(), seen) == 3


@pytest.mark.parametrize(
    "there",
    [
        worker(deleting=True),
        worker(phase="Failed"),
        worker("", node="k-0"),
        fleets.worker(0),
        worker(node="other"),
    ],
)
def test_a_node_is_free_only_once_its_last_worker_is_gone(there):
    change = place.on_nodes(every(), fleet(there, kube=[kube_node()]))
    assert change.create == ()


def test_a_node_gets_no_worker_while_that_of_another_nodeset_is_there_under_its_name():
    seen = fleet(kube=[kube_node("a"), kube_node("b")], others=frozenset({"a"}))
    assert places(place.on_nodes(every(), seen)) == [(None, "b", "b")]
    (told,) = place.clashes(every(), seen)
    assert isinstance(told, Wait)
    assert "Node (a)" in told.why


def test_a_node_that_is_being_deleted_gets_no_worker():
    leaving = kube_node()
    meta = fleets.Meta("k-0", deletion_timestamp="2026-03-01T12:00:00Z")
    change = place.on_nodes(every(), fleet(kube=[type(leaving)(meta)]))
    assert change.create == ()


def test_the_taint_of_workers_keeps_no_worker_away():
    kube = [kube_node(taints=[Taint(NAMING.worker_taint, "", "NoExecute")])]
    change = place.on_nodes(every(), fleet(worker("b"), kube=[*kube, kube_node("b")]))
    assert [made.node for made in change.create] == ["k-0"]
    assert not change.going


def test_of_two_nodes_with_one_hostname_only_one_gets_a_worker_and_the_other_is_told_of():
    kube = [kube_node("a.east"), kube_node("a.west")]
    assert places(place.on_nodes(every(), fleet(kube=kube))) == [(None, "a.east", "a")]
    seen = fleet(worker("a.west", node="a"), kube=kube)
    assert places(place.on_nodes(every(), seen)) == []
    (wait,) = place.clashes(every(), seen)
    assert isinstance(wait, Wait)
    assert "a.east" in wait.why
    assert OVERRIDE in wait.why
    assert place.clashes(every(), fleet(worker("a"), kube=[kube_node("a"), kube_node("b")])) == []


# -- cordons; slurm-operator 259 and 39


def test_a_cordoned_node_keeps_its_worker_and_gets_no_other():
    cordoned = [kube_node("a", unschedulable=True), kube_node("b", unschedulable=True)]
    change = place.on_nodes(every(), fleet(worker("a"), kube=cordoned))
    assert (change.create, change.going) == ((), {})


def test_a_node_gets_its_worker_in_the_pass_that_sees_it_uncordoned_259():
    assert not place.on_nodes(every(), fleet(kube=[kube_node(unschedulable=True)])).create
    assert place.on_nodes(every(), fleet(kube=[kube_node()])).create


def test_a_template_that_tolerates_cordons_has_its_workers_on_cordoned_nodes_259():
    tolerant = {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}
    taint = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
    seen = fleet(worker("b"), kube=[kube_node(unschedulable=True, taints=[taint]), kube_node("b")])
    assert [made.node for made in place.on_nodes(every(tolerant), seen).create] == ["k-0"]
    assert place.returns(every(tolerant), seen)(worker())


def test_a_worker_on_a_cordoned_node_would_not_come_back_and_others_would_259():
    cordoned, other, waiting = worker("a"), worker("b", "w-b"), worker("", "w-c", node="a")
    kube = [kube_node("a", unschedulable=True), kube_node("b")]
    back = place.returns(every(), fleet(cordoned, other, kube=kube))
    assert [back(w) for w in (cordoned, other, waiting)] == [False, True, True]
    assert back(fleets.worker(0, host="a"))
    assert not place.returns(every(), fleet(kube=[]))(worker())


def test_a_cordon_takes_a_node_out_of_what_is_desired_only_while_it_has_no_worker_259():
    kube = [kube_node(name, unschedulable=name != "c") for name in "abc"]
    assert place.desired(every(), fleet(worker("a"), kube=kube)) == 2


# -- who goes


def test_workers_of_the_other_mode_go():
    numbered = fleets.worker(0)
    change = place.on_nodes(every(), fleet(numbered, worker("k-1", "w-b")))
    assert change.going == {numbered.uid: OTHER_MODE}


def test_a_worker_goes_from_a_node_that_no_longer_matches_and_the_reason_says_so():
    change = place.on_nodes(every({"nodeSelector": {"gpu": "yes"}}), fleet(worker()))
    ((uid, why),) = change.going.items()
    assert uid == worker().uid
    assert "node selector" in why


def test_a_worker_goes_for_a_taint_that_ends_pods_and_stays_for_one_that_keeps_new_ones_away():
    kube = [
        kube_node("a", taints=[Taint("broken", "", "NoExecute")]),
        kube_node("b", taints=[Taint("full", "", "NoSchedule")]),
    ]
    first, second = worker("a"), worker("b", "w-b")
    going = place.on_nodes(every(), fleet(first, second, kube=kube)).going
    assert list(going) == [first.uid]
    assert "broken:NoExecute" in going[first.uid]


@pytest.mark.parametrize("state", ["not-ready", "unreachable"])
def test_a_worker_on_a_node_that_is_not_heard_of_stays(state):
    taint = Taint(f"node.kubernetes.io/{state}", "", "NoExecute")
    seen = fleet(worker(), kube=[kube_node(ready=False, taints=[taint])])
    assert not place.on_nodes(every(), seen).going


def test_a_worker_on_a_node_that_is_gone_is_left_to_kubernetes():
    seen = fleet(worker("gone"), worker("gone", "w-b"), worker(name="w-c"), kube=[kube_node()])
    change = place.on_nodes(every(), seen)
    assert (change.create, change.going) == ((), {})


def test_a_worker_that_waits_for_a_node_that_is_gone_goes():
    waiting = worker("", node="gone")
    going = place.on_nodes(every(), fleet(waiting, kube=[kube_node()])).going
    assert going == {waiting.uid: place.NO_NODE}


def test_a_worker_with_another_hostname_than_its_node_wants_goes():
    kube = [kube_node(annotations={OVERRIDE: "new"})]
    going = place.on_nodes(every(), fleet(worker(), kube=kube)).going
    assert going == {worker().uid: place.RENAMED}


def test_workers_that_ended_or_end_are_not_ended_again():
    spec = {"nodeSelector": {"gpu": "yes"}}
    seen = fleet(worker(deleting=True), worker("k-1", "w-b", phase="Failed"))
    assert not place.on_nodes(every(spec), seen).going


# -- more than one on a node


def test_of_several_on_a_node_the_oldest_stays_not_the_newest():
    """slurm-operator 1.2.1 keeps the newest, which its own comment calls the oldest."""
    old = worker(name="w-z", created=NOW - 9 * MINUTE)
    new = worker(name="w-a", created=NOW - MINUTE)
    for workers in ((old, new), (new, old)):
        assert place.on_nodes(every(), fleet(*workers)).going == {new.uid: place.SURPLUS}


def test_of_several_on_a_node_the_one_with_jobs_stays_however_young_it_is():
    old = worker(name="w-old", created=NOW - 9 * MINUTE)
    new = worker(name="w-new", created=NOW - MINUTE)
    steps = fleet(old, new, steps={new.uid: True, old.uid: False})
    assert place.on_nodes(every(), steps).going == {old.uid: place.SURPLUS}
    comment = comment_of(every(), new)
    told = fleet(old, new, slurm=[slurm_node("k-0", "ALLOCATED", comment=comment)])
    assert place.on_nodes(every(), told).going == {old.uid: place.SURPLUS}


def test_of_several_on_a_node_one_that_never_began_goes_before_one_that_runs():
    runs = worker(name="w-runs", created=NOW - MINUTE)
    for idle in (
        worker("", "w-waits", node="k-0", created=NOW - 9 * MINUTE),
        worker(name="w-pulls", began=False, created=NOW - 9 * MINUTE),
    ):
        assert place.on_nodes(every(), fleet(idle, runs)).going == {idle.uid: place.SURPLUS}


def test_a_worker_that_ends_does_not_make_another_one_a_surplus():
    assert not place.on_nodes(every(), fleet(worker(deleting=True), worker(name="w-b"))).going


# -- how many


def test_desired_counts_nodes_that_fit_and_not_workers():
    kube = [kube_node(name) for name in "abc"] + [kube_node("d", labels={"gpu": "no"})]
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]
    }}}}  # fmt: skip
    seen = fleet(
        worker("a"), worker("a", "w-b"), worker("d", "w-c"), worker("gone", "w-d"), kube=kube
    )
    assert place.desired(every(spec), seen) == 3


def test_where_a_number_is_asked_for_it_is_what_is_desired():
    assert place.desired(wanted(7), fleet(kube=[kube_node()])) == 7


# -- workers that ended


def failed(**fields):
    return worker(phase="Failed", **fields)


def test_the_first_that_ends_on_a_node_is_cleared_at_once():
    (action,) = place.ended(every(), fleet(failed(), worker("k-1", "w-b")))
    assert action == DeleteWorker("it ended (Failed)", "w-a", failed().uid)


def test_on_one_node_workers_are_cleared_more_and_more_seldom_up_to_a_quarter_of_an_hour():
    known, now, pauses = {}, NOW, []
    for _ in range(13):
        seen = fleet(failed(), kube=[kube_node()], now=now)
        actions = place.ended(every(failures=known), seen)
        if isinstance(actions[0], Wait):
            pauses.append(actions[0].again_s)
            now += timedelta(seconds=actions[0].again_s)
            seen = replace(seen, now=now)
            actions = place.ended(every(failures=known), seen)
        (action,) = actions
        assert isinstance(action, DeleteWorker)
        known = place.remember(every(failures=known), seen, [action.uid])
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


def test_each_node_has_its_own_pause():
    known = {"k-0": Healing(NOW, 5, NOW)}
    other = failed(name="w-b", host="k-1")
    delete, wait = place.ended(every(failures=known), fleet(failed(), other))
    assert delete.uid == other.uid
    assert wait.again_s == 16


def test_a_worker_that_an_older_template_made_is_cleared_at_once_and_counts_anew():
    known = {"k-0": Healing(NOW, 9, NOW)}
    old = failed(revision="old")
    (action,) = place.ended(every(failures=known), fleet(old))
    assert isinstance(action, DeleteWorker)
    assert place.remember(every(failures=known), fleet(old), [old.uid])["k-0"].tries == 1


def test_what_was_not_cleared_does_not_count_and_old_failures_are_forgotten():
    known = {"k-0": Healing(NOW, 3, NOW), "k-1": Healing(NOW, 3, NOW - 2 * place.LONGEST)}
    kept = place.remember(every(failures=known), fleet(failed()), [])
    assert kept == {"k-0": known["k-0"]}
