"""What is done about the workers of a NodeSet, as a whole."""

from datetime import timedelta

import pytest

from shoal.decide.plan import (
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    LookInside,
    ResumeWorker,
    Wait,
)
from shoal.decide.rollout import UPDATE
from shoal.decide.scale import SCALE_IN
from shoal.decide.workers import DELETION, order_matters, plan
from shoal.model.nodeset import Mode, Strategy, Update

from .fleets import NAMING, NOW, fleet, kube_node, slurm_node, wanted, worker
from .worlds import CORDON, Answer, grown, settled

DEADLINE = NAMING.annotations.pod_deadline

TOLD = (CreateWorker, DrainWorker, ResumeWorker, DeleteWorker, LookInside, Wait)


def done(asked, seen):
    """Return what is done beside showing what is known."""
    return [action for action in plan(asked, seen) if isinstance(action, TOLD)]


def ends(asked, seen):
    return [a.pod for a in plan(asked, seen) if isinstance(a, DeleteWorker)]


def test_nothing_is_done_when_all_is_as_asked():
    assert done(wanted(2), fleet(worker(0), worker(1))) == []


def test_a_surplus_worker_is_drained_then_waited_for_and_then_ended():
    there = (worker(0), worker(1))
    idle = slurm_node("w-0")
    reason = f"slurm-operator: {SCALE_IN}"
    assert done(wanted(1), fleet(*there)) == [
        DrainWorker(SCALE_IN, "w-1", "w-1"),
        Wait("1 worker being drained: w-1", 15.0),
    ]
    late = {"w-0": NOW + timedelta(hours=2), "w-1": NOW + timedelta(hours=1)}
    both = [slurm_node("w-0", "MIXED"), slurm_node("w-1", "MIXED+DRAIN", reason=reason)]
    busy = fleet(*there, slurm=both, ends=late)
    assert done(wanted(1), busy) == [Wait("1 worker still with jobs: w-1", 15.0)]
    drained = fleet(*there, slurm=[idle, slurm_node("w-1", "IDLE+DRAIN", reason=reason)])
    assert done(wanted(1), drained) == [DeleteWorker(SCALE_IN, "w-1", "uid-w-1")]


def test_an_idle_worker_goes_in_the_place_of_one_with_jobs():
    there = (worker(0), worker(1))
    reason = f"slurm-operator: {SCALE_IN}"
    slurm = [slurm_node("w-0"), slurm_node("w-1", "MIXED+DRAIN", reason=reason)]
    made = done(wanted(1), fleet(*there, slurm=slurm, ends={"w-1": NOW}))
    assert made[0] == DrainWorker(SCALE_IN, "w-0", "w-0")
    assert made[1] == ResumeWorker("nothing speaks against it any more", "w-1", "w-1")


@pytest.mark.parametrize("answer", [None, ()])
@pytest.mark.parametrize("strategy", Strategy)
def test_an_unknown_answer_ends_nobody_that_may_have_a_job(answer, strategy):
    there = [worker(n, revision="old", ready=n % 2 == 0) for n in range(4)]
    asked = wanted(2, of={"update": Update(strategy, "100%")})
    assert ends(asked, fleet(*there, slurm=answer)) == []
    # slurm-operator takes "no client" for "drained" here (reference 3.2).
    assert ends(wanted(deleted_at=NOW), fleet(*there, slurm=answer)) == []


def test_a_table_that_lost_its_nodes_ends_nobody_into_whom_nobody_looked():
    there = [worker(n) for n in range(4)]
    seen = fleet(*there, slurm=[slurm_node("other-0")])
    made = done(wanted(0), seen)
    assert [type(a) for a in made] == [LookInside] * 4 + [Wait]
    steps = {w.uid: w.number == 1 for w in there}
    looked = fleet(*there, slurm=[slurm_node("other-0")], steps=steps)
    assert ends(wanted(0), looked) == ["w-0", "w-2", "w-3"]


def test_a_user_may_give_its_jobs_up():
    seen = fleet(worker(0), worker(1), slurm=None)
    assert ends(wanted(1, forced=True), seen) == ["w-1"]
    assert ends(wanted(2, forced=True), seen) == []


def test_a_deleted_nodeset_drains_all_and_starts_nobody():
    made = done(wanted(3, deleted_at=NOW), fleet(worker(0), worker(1, began=False)))
    assert made == [
        DrainWorker(DELETION, "w-0", "w-0"),
        DeleteWorker(DELETION, "w-1", "uid-w-1"),
        Wait("1 worker being drained: w-0", 15.0),
    ]


def test_a_worker_that_ended_is_cleared_away_also_when_it_is_wanted():
    made = done(wanted(2), fleet(worker(0, phase="Failed"), worker(1)))
    assert made == [DeleteWorker("it ended (Failed)", "w-0", "uid-w-0")]


def test_workers_come_before_anything_else_is_told():
    # An uncordon that Slurm refused kept slurm-operator from starting workers (249, 250).
    drained = slurm_node("w-0", "IDLE+DRAIN", reason="slurm-operator: earlier")
    made = done(wanted(3), fleet(worker(0), worker(1), slurm=[drained]))
    assert [type(a) for a in made][:2] == [CreateWorker, ResumeWorker]
    assert {a.node for a in made if isinstance(a, ResumeWorker)} == {"w-0"}


@pytest.mark.parametrize("strategy", Strategy)
def test_a_pod_that_a_user_cordoned_stays_cordoned(strategy):
    # slurm-operator takes the annotation away within a pass under RollingUpdate.
    one = worker(0, annotations={NAMING.annotations.pod_cordon: "true"})
    reason = "slurm-operator: Pod (ns/w-0) was cordoned"
    asked = wanted(1, of={"update": Update(strategy)})
    (drain,) = done(asked, fleet(one))
    assert drain == DrainWorker("Pod (ns/w-0) was cordoned", "w-0", "w-0")
    assert done(asked, fleet(one, slurm=[slurm_node("w-0", "IDLE+DRAIN", reason=reason)])) == []


def test_a_cordoned_pod_stays_drained_over_many_passes():
    world, operator = grown(3)
    world.pods["w-1"].annotations[CORDON] = "true"
    for _ in range(5):
        operator.all_at_once()
        world.tick(30)
        assert world.pods["w-1"].annotations[CORDON] == "true"
        assert world.records["w-1"].drain
    del world.pods["w-1"].annotations[CORDON]
    operator.all_at_once()
    assert world.records["w-1"].serving


def test_who_goes_says_so_rather_than_that_its_node_is_cordoned():
    seen = fleet(worker(0), kube=[kube_node("k-0", unschedulable=True)])
    assert done(wanted(0), seen)[0] == DrainWorker(SCALE_IN, "w-0", "w-0")


def test_an_update_of_a_worker_that_an_admin_drained_keeps_the_admins_reason():
    world, operator = grown(1)
    record = world.records["w-0"]
    record.drain = True
    record.say("bad disk", world.now)
    world.revision = "r2"
    for _ in range(8):
        operator.all_at_once()
        world.tick(30)
    assert world.pods["w-0"].revision == "r2"
    assert record.drain
    # What slurmctld added when the pod ended.
    assert record.reason.removesuffix(" : Not responding") == "bad disk"


def test_a_message_names_a_few_of_many():
    made = done(wanted(0), fleet(*(worker(n) for n in range(5))))
    assert made[-1] == Wait("5 workers being drained: w-0, w-1, w-2, ...", 15.0)


@pytest.mark.parametrize(
    ("replicas", "revision", "matters"),
    [(2, "new", False), (1, "new", True), (0, "new", False), (2, "old", True)],
)
def test_deadlines_matter_while_some_go_and_others_stay(replicas, revision, matters):
    there = [worker(0), worker(1, revision=revision)]
    assert order_matters(wanted(replicas), there) is matters


def test_deadlines_are_written_while_a_scale_in_waits_and_gone_when_it_is_done():
    world, operator = grown(2)
    for name in ("w-0", "w-1"):
        world.job(name, 600)
    world.replicas = 1
    operator.all_at_once()
    assert all(DEADLINE in pod.annotations for pod in world.pods.values())
    assert settled(world, operator)
    assert [DEADLINE in pod.annotations for pod in world.pods.values()] == [False]


def test_on_every_node_an_update_goes_by_the_number_of_workers():
    there = [
        worker(name=f"w-{n}", host=f"k-{n}", node=f"k-{n}", mode=Mode.EVERY_NODE, revision="old")
        for n in range(4)
    ]
    asked = wanted(of={"mode": Mode.EVERY_NODE, "update": Update(max_unavailable="50%")})
    made = done(asked, fleet(*there))
    assert [(a.why, a.node) for a in made[:-1]] == [(UPDATE, "k-0"), (UPDATE, "k-1")]


@pytest.mark.parametrize("answer", [Answer.PARTIAL, Answer.EMPTY, Answer.NONE])
def test_a_list_that_leaves_out_a_busy_worker_does_not_end_it(answer):
    world, operator = grown(4)
    for name in world.pods:
        world.job(name, 3600)
    world.replicas, operator.answer = 0, answer
    for _ in range(20):
        operator.all_at_once()
        world.tick(30)
    assert len(world.pods) == 4
