from dataclasses import replace

import pytest

from shoal.decide.claims import conflicts, with_claims
from shoal.decide.plan import CreateClaim, CreateWorker, DeleteWorker, DrainWorker, HoldClaim, Wait
from shoal.decide.rollout import UPDATE
from shoal.decide.scale import OTHER_MODE, SCALE_IN
from shoal.model.nodeset import Mode, Retention
from shoal.render.nodeset import claims

from .fleets import NAMING, fleet, nodeset, wanted, worker

SCRATCH = {"metadata": {"name": "scratch"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
CACHE = {"metadata": {"name": "cache"}, "spec": {}}
OWNER = {
    "apiVersion": "slinky.slurm.net/v1beta1",
    "kind": "NodeSet",
    "metadata": {"name": "w", "namespace": "ns", "uid": "uid-of-w"},
}
BY_SET = {
    "apiVersion": "slinky.slurm.net/v1beta1",
    "kind": "NodeSet",
    "name": "w",
    "uid": "uid-of-w",
    "controller": True,
    "blockOwnerDeletion": False,
}
NEITHER, SET, WORKER, BOTH = (
    Retention(),
    Retention(delete_with_set=True),
    Retention(delete_with_worker=True),
    Retention(delete_with_set=True, delete_with_worker=True),
)
ALL = (NEITHER, SET, WORKER, BOTH)


def by_pod(name="w-0", uid="uid-w-0"):
    return {**BY_SET, "apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}


def claim(name="scratch-w-0", *owners, **meta):
    return {"metadata": {"name": name, "resourceVersion": "7", "ownerReferences": owners, **meta}}


def decided(plan=(), *workers, there=(), retention=NEITHER, templates=(SCRATCH,), **of):
    wish = wanted(of={"claims": templates, "retention": retention, **of}, uid="uid-of-w")
    seen = replace(fleet(*workers), claims={c["metadata"]["name"]: c for c in there})
    return with_claims(wish, seen, tuple(plan), OWNER)


def ends(why=SCALE_IN):
    return DeleteWorker(why, "w-0", "uid-w-0")


# -- made before the workers


def test_a_plan_without_claims_stays_as_it_is():
    plan = (CreateWorker("", 0), ends(), Wait("", 1.0))
    assert decided(plan, worker(), templates=()) == plan


def test_a_workers_claims_are_made_before_it():
    first, second, last = decided([CreateWorker("", 3)], templates=(SCRATCH, CACHE))
    assert [first.claim, second.claim] == ["scratch-w-3", "cache-w-3"]
    assert isinstance(first, CreateClaim)
    assert last == CreateWorker("", 3)


def test_a_claim_is_called_as_the_workers_pod_calls_it():
    plan = [CreateWorker("", 3), CreateWorker("", None, "k-1", "host-1")]
    made = [a for a in decided(plan, padding=3) if isinstance(a, CreateClaim)]
    shape = nodeset(claims=(SCRATCH,), padding=3)
    rendered = [obj["metadata"]["name"] for a in made for obj in claims(shape, a.whose, a.owners)]
    assert [a.claim for a in made] == rendered == ["scratch-w-003", "scratch-w-host-1"]


def test_a_claim_that_was_kept_serves_again():
    plan = (CreateWorker("", 0),)
    assert decided(plan, there=[claim()]) == plan


@pytest.mark.parametrize("retention", ALL)
def test_a_new_claim_goes_with_the_nodeset_only_where_that_is_asked(retention):
    made, _ = decided([CreateWorker("", 0)], retention=retention)
    assert made.owners == ((BY_SET,) if retention.delete_with_set else ())


def test_the_owners_of_a_new_claim_are_rendered_and_none_where_there_is_none():
    shape = nodeset(claims=(SCRATCH,))
    (held,), (free,) = claims(shape, "0", (BY_SET,)), claims(shape, "0")
    assert held["metadata"]["ownerReferences"] == [BY_SET]
    assert "ownerReferences" not in free["metadata"]


@pytest.mark.parametrize(
    "gone",
    [
        claim(deletionTimestamp="2026-03-01T12:00:00Z"),
        claim("scratch-w-0", by_pod(uid="uid-before")),
        claim("scratch-w-0", {**BY_SET, "uid": "uid-of-a-nodeset-before"}),
    ],
    ids=["deleted", "of a worker before", "of a NodeSet before"],
)
def test_a_worker_waits_until_a_claim_that_is_lost_is_gone(gone):
    (wait, other) = decided([CreateWorker("", 0), DrainWorker("", "p", "n")], there=[gone])
    assert isinstance(wait, Wait)
    assert "scratch-w-0" in wait.why
    assert other == DrainWorker("", "p", "n")


def test_a_claim_that_somebody_else_controls_does_not_keep_a_worker_away():
    plan = (CreateWorker("", 0),)
    other = {**BY_SET, "kind": "Backup", "name": "b", "uid": "uid-b"}
    assert decided(plan, there=[claim("scratch-w-0", other)]) == plan


def test_a_claim_that_somebody_deleted_is_made_again_for_a_worker_that_waits_for_it():
    (made,) = decided([], worker(began=False))
    assert (made.claim, made.whose) == ("scratch-w-0", "0")


def test_a_claim_is_not_made_under_a_worker_that_runs():
    assert decided([], worker()) == ()


# -- who holds them


@pytest.mark.parametrize("retention", ALL)
def test_a_claim_that_is_held_as_asked_is_left_alone(retention):
    owners = (BY_SET,) if retention.delete_with_set else ()
    there = [claim("scratch-w-0", *owners)]
    assert decided([], worker(), there=there, retention=retention) == ()


@pytest.mark.parametrize("retention", [SET, BOTH])
def test_a_claim_goes_with_the_nodeset_once_that_is_asked(retention):
    (held,) = decided([], worker(), there=[claim()], retention=retention)
    assert held == HoldClaim(held.why, "scratch-w-0", "7", (BY_SET,), "uid-w-0")


@pytest.mark.parametrize("retention", [NEITHER, WORKER])
@pytest.mark.parametrize("number", [0, 5], ids=["of a worker", "left behind"])
def test_a_claim_stays_when_the_nodeset_goes_once_that_is_asked(retention, number):
    there = [claim(f"scratch-w-{number}", BY_SET)]
    (held,) = decided([], worker(), there=there, retention=retention)
    assert (held.claim, held.owners) == (f"scratch-w-{number}", ())


def test_a_claim_that_was_left_behind_is_given_to_nobody():
    assert decided([], there=[claim()], retention=BOTH) == ()


@pytest.mark.parametrize(("retention", "before"), [(WORKER, ()), (BOTH, (BY_SET,))])
def test_a_claim_goes_with_a_worker_that_is_scaled_in(retention, before):
    there = [claim("scratch-w-0", *before)]
    held, end = decided([ends()], worker(), there=there, retention=retention)
    assert held == HoldClaim(held.why, "scratch-w-0", "7", (by_pod(),), "uid-w-0")
    assert end == ends()


@pytest.mark.parametrize(("retention", "owners"), [(NEITHER, ()), (SET, (BY_SET,))])
def test_a_claim_outlives_a_worker_that_is_scaled_in_where_that_is_asked(retention, owners):
    there = [claim("scratch-w-0", *owners)]
    assert decided([ends()], worker(), there=there, retention=retention) == (ends(),)


@pytest.mark.parametrize("why", [UPDATE, OTHER_MODE, "it ended (Failed)", "Slurm does not know it"])
@pytest.mark.parametrize(("retention", "owners"), [(WORKER, ()), (BOTH, (BY_SET,))])
def test_only_scaling_in_costs_a_claim(why, retention, owners):
    there = [claim("scratch-w-0", *owners)]
    assert decided([ends(why)], worker(), there=there, retention=retention) == (ends(why),)


@pytest.mark.parametrize("annotated", [True, False])
def test_a_cordon_never_costs_a_claim(annotated):
    # slurm-operator takes the annotation of a cordoned pod for scaling in.
    marks = {NAMING.annotations.pod_cordon: "true"} if annotated else {}
    plan = (DrainWorker("cordoned", "w-0", "w-0"),)
    assert decided(plan, worker(annotations=marks), there=[claim()], retention=WORKER) == plan


def test_a_claim_is_not_given_away_before_its_worker_is_drained():
    plan = (DrainWorker(SCALE_IN, "w-0", "w-0"), Wait("it still runs jobs", 15.0))
    assert decided(plan, worker(), there=[claim()], retention=WORKER) == plan


@pytest.mark.parametrize(("retention", "owners"), [(WORKER, ()), (BOTH, (BY_SET,))])
def test_a_worker_that_stays_after_all_keeps_its_claim(retention, owners):
    there = [claim("scratch-w-0", by_pod())]
    (held,) = decided([], worker(), there=there, retention=retention)
    assert held.owners == owners


def test_a_worker_that_is_updated_after_all_keeps_its_claim():
    there = [claim("scratch-w-0", by_pod())]
    held, end = decided([ends(UPDATE)], worker(), there=there, retention=WORKER)
    assert (held.owners, held.uid, end) == ((), "uid-w-0", ends(UPDATE))


def test_what_goes_with_a_worker_is_settled_once_it_is_ended():
    there = [claim("scratch-w-0", by_pod())]
    assert decided([], worker(deleting=True), there=there, retention=WORKER) == ()


@pytest.mark.parametrize("retention", ALL)
@pytest.mark.parametrize(
    "other",
    [{**BY_SET, "kind": "Backup", "uid": "uid-b"}, by_pod(uid="uid-before")],
    ids=["foreign", "stale"],
)
def test_a_claim_that_somebody_else_controls_is_left_alone(retention, other):
    there = [claim("scratch-w-0", other)]
    assert decided([ends()], worker(), there=there, retention=retention) == (ends(),)


def test_owners_that_others_have_added_beside_ours_stay():
    beside = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "uid-c"}
    there = [claim("scratch-w-0", beside, BY_SET)]
    held, _ = decided([ends()], worker(), there=there, retention=BOTH)
    assert held.owners == (beside, by_pod())


def test_an_owner_does_not_stand_there_twice():
    loose = {key: value for key, value in BY_SET.items() if key != "controller"}
    (held,) = decided([], worker(), there=[claim("scratch-w-0", loose)], retention=SET)
    assert held.owners == (BY_SET,)


def test_a_claim_that_is_being_deleted_is_left_alone():
    there = [claim(deletionTimestamp="2026-03-01T12:00:00Z")]
    assert decided([], worker(), there=there, retention=SET) == ()


def test_a_worker_finds_its_claim_though_numbers_have_more_digits_now():
    there = [claim("scratch-w-0")]
    (held,) = decided([], worker(), there=there, retention=SET, padding=3)
    assert held.claim == "scratch-w-0"


def test_the_worker_of_a_kubernetes_node_has_claims_under_its_hostname():
    there = worker(7, node="host-7", mode=Mode.EVERY_NODE)
    (held,) = decided([], there, there=[claim("scratch-w-host-7")], retention=SET)
    assert held.claim == "scratch-w-host-7"


# -- told


def told_of(*there, retention=BOTH):
    wish = wanted(of={"claims": (SCRATCH,), "retention": retention}, uid="uid-of-w")
    seen = replace(fleet(worker()), claims={c["metadata"]["name"]: c for c in there})
    return conflicts(wish, seen, OWNER)


def test_a_claim_of_somebody_else_is_told_where_it_should_go_with_us():
    job = {**BY_SET, "kind": "Job", "name": "j", "uid": "uid-of-j"}
    for retention in (SET, WORKER, BOTH):
        assert told_of(claim("scratch-w-0", job), retention=retention) == {"scratch-w-0": "Job j"}
    assert told_of(claim("scratch-w-0", job), retention=NEITHER) == {}


def test_claims_of_ours_of_former_pods_and_of_nobody_are_no_conflict():
    mine = claim("scratch-w-0", BY_SET), claim("scratch-w-1", by_pod()), claim("scratch-w-2")
    assert told_of(*mine, claim("scratch-w-3", by_pod("w-3", "gone"))) == {}
