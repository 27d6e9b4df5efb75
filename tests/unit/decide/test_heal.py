"""Workers that Slurm does not know.

slurm-operator deletes all of them at once, as soon as they are ready (reference 3.14).
"""

from itertools import pairwise

import pytest

from shoal.decide.heal import GRACE, LONGEST, NO_NODES, heal, remember
from shoal.decide.plan import DeleteWorker, LookInside, Wait
from shoal.decide.wanted import Healing
from shoal.model.nodeset import Strategy, Update

from .fleets import NOW, fleet, slurm_node, wanted, worker
from .worlds import Answer, Stage, grown, settled

OTHERS = (slurm_node("other-0"),)


def lost(*workers, since=NOW - GRACE, tries=0, slurm=OTHERS, **fields):
    """Return what is done about workers that Slurm has not known since then."""
    known = {w.name: Healing(since, tries) for w in workers}
    return heal(
        wanted(len(workers), healing=known), fleet(*workers, slurm=slurm, **fields), workers
    )


def kinds(actions):
    return [type(action) for action in actions]


def ended(actions):
    return [action.pod for action in actions if isinstance(action, DeleteWorker)]


def none_inside(*workers):
    return {w.uid: False for w in workers}


def test_a_worker_that_slurm_knows_is_left_alone():
    assert lost(worker(), slurm="DOWN") == []


@pytest.mark.parametrize("answer", [None, ()])
def test_no_answer_and_an_empty_table_end_nobody(answer):
    one = worker()
    done = lost(one, slurm=answer, steps=none_inside(one))
    assert ended(done) == []
    assert [a.why for a in done] == ([] if answer is None else [NO_NODES])


def test_a_worker_is_given_time_and_then_looked_into_and_then_ended():
    one = worker()
    assert kinds(lost(one, since=NOW)) == [Wait]
    assert kinds(heal(wanted(), fleet(one, slurm=OTHERS), [one])) == [Wait]
    assert kinds(lost(one)) == [LookInside, Wait]
    assert ended(lost(one, steps=none_inside(one))) == ["w-0"]


def test_a_worker_with_steps_is_never_ended():
    one = worker()
    assert kinds(lost(one, steps={one.uid: True})) == [Wait]


@pytest.mark.parametrize(("many", "few"), [(1, 1), (9, 1), (40, 4)])
def test_of_many_only_a_few_go_at_a_time(many, few):
    """slurm-operator 1.2.1 deletes all at once: 2,650 deletions of 50 pods in six minutes."""
    every = [worker(n) for n in range(many)]
    assert len(ended(lost(*every, steps=none_inside(*every)))) == few


@pytest.mark.parametrize(
    "another",
    [
        worker(4, ready=False, created=NOW),
        worker(4, host="", created=NOW),
        worker(4, began=False, created=NOW),
        worker(4, deleting=True),
        worker(4, ready=False, deleting=True),
    ],
)
def test_nobody_goes_while_another_one_is_on_its_way_back(another):
    every = [worker(n) for n in range(4)]
    assert ended(lost(*every, another, steps=none_inside(*every))) == []


@pytest.mark.parametrize(
    "another",
    [
        worker(4, host="", created=NOW - LONGEST),
        worker(4, began=False, created=NOW - LONGEST),
        worker(4, ready=False, deleting=True, deleted=NOW - LONGEST),
    ],
)
def test_one_that_does_not_come_back_is_not_waited_for_for_ever(another):
    every = [worker(n) for n in range(4)]
    assert ended(lost(*every, another, steps=none_inside(*every))) == ["w-0"]


@pytest.mark.parametrize(
    ("replicas", "since", "few"), [(4, NOW, 0), (4, NOW - LONGEST, 1), (3, NOW, 1)]
)
def test_one_that_was_replaced_and_is_not_there_yet_is_on_its_way_too(replicas, since, few):
    every = [worker(n) for n in range(3)]
    known = {w.name: Healing(NOW - GRACE) for w in every} | {"w-3": Healing(since, 1, since)}
    seen = fleet(*every, slurm=OTHERS, steps=none_inside(*every))
    assert len(ended(heal(wanted(replicas, healing=known), seen, every))) == few


@pytest.mark.parametrize("one", [worker(ready=False), worker(began=False), worker(deleting=True)])
def test_a_worker_that_is_not_ready_is_not_lost(one):
    assert lost(one, steps=none_inside(one)) == []


def test_each_try_is_given_twice_the_time():
    one = worker()
    assert ended(lost(one, tries=1, steps=none_inside(one))) == []
    assert ended(lost(one, tries=1, since=NOW - 2 * GRACE, steps=none_inside(one))) == ["w-0"]
    assert ended(lost(one, tries=99, since=NOW - LONGEST, steps=none_inside(one))) == ["w-0"]


# -- what is remembered


def test_it_is_remembered_since_when_a_worker_is_unknown_and_until_it_is_known():
    one, earlier = worker(), {"w-0": Healing(NOW - GRACE)}
    unknown, known = fleet(one, slurm=OTHERS), fleet(one)
    assert remember(wanted(), unknown, ()) == {"w-0": Healing(NOW)}
    assert remember(wanted(healing=earlier), unknown, ()) == earlier
    assert remember(wanted(healing=earlier), known, ()) == {}


@pytest.mark.parametrize("answer", [None, ()])
def test_nothing_is_forgotten_while_slurm_says_nothing(answer):
    earlier = {"w-0": Healing(NOW - GRACE, 3)}
    assert remember(wanted(healing=earlier), fleet(worker(), slurm=answer), ()) == earlier


def test_the_time_of_the_next_one_begins_when_it_runs():
    asked = wanted(healing={"w-0": Healing(NOW - GRACE, 1)})
    assert remember(asked, fleet(worker(), slurm=OTHERS), {"uid-w-0"})["w-0"].tries == 2
    late = fleet(worker(ready=False), slurm=OTHERS)
    assert remember(asked, late, ())["w-0"] == Healing(NOW, 1)


def test_a_try_is_remembered_while_there_is_no_pod():
    tried, long_ago = Healing(NOW, 2, NOW), Healing(NOW, 2, NOW - LONGEST)
    asked = wanted(healing={"w-0": tried, "w-1": long_ago, "w-2": Healing(NOW)})
    assert remember(asked, fleet(slurm=OTHERS), ()) == {"w-0": tried}


def test_a_slurmd_that_never_registers_is_replaced_more_and_more_seldom():
    world, operator = grown(3)
    made = []
    for minute in range(120):
        before = world.made
        for _ in range(4):
            world.tick(15)
            world.records.pop("w-1", None)
            operator.all_at_once()
        made += [minute] * (world.made - before)
    pauses = [later - sooner for sooner, later in pairwise(made)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 5 < LONGEST.total_seconds() / 60 <= pauses[-1]


# -- the day on which slurmctld loses its table


def test_a_lost_table_is_healed_a_worker_at_a_time_and_no_step_is_lost():
    world, operator = grown(6)
    world.job("w-2", 1200)
    world.lose_table(others=True)
    for _ in range(100):
        operator.all_at_once()
        assert sum(pod.ending or pod.ready_since is None for pod in world.pods.values()) <= 1
        world.tick(20)
    assert settled(world, operator)
    assert {f"w-{n}" for n in range(6)} <= world.records.keys()


def test_a_worker_that_finds_no_node_keeps_nobody_else_lost():
    world, operator = grown(4)
    world.hosts = {pod.host: False for pod in world.pods.values()}
    world.replicas = 6
    world.lose_table(others=True)
    assert settled(world, operator)
    running = [pod.name for pod in world.pods.values() if pod.stage is Stage.RUNNING]
    assert len(running) == 4
    assert set(running) <= world.records.keys()


def test_an_image_that_cannot_be_pulled_keeps_nobody_else_lost():
    world, operator = grown(4, update=Update(Strategy.ON_DELETE), bad={"bad"})
    world.revision = "bad"
    world.die("w-1")
    world.lose_table(others=True)
    for _ in range(150):
        operator.all_at_once()
        world.tick(30)
    # Each of the others was replaced in its turn, and comes up as soon as it can.
    assert all(pod.stage is Stage.PULLING for pod in world.pods.values())
    world.bad.clear()
    assert settled(world, operator)
    assert {f"w-{n}" for n in range(4)} <= world.records.keys()


@pytest.mark.parametrize("answer", [Answer.EMPTY, Answer.NONE])
def test_an_answer_without_nodes_ends_nobody_however_long_it_lasts(answer):
    world, operator = grown(4)
    operator.answer = answer
    world.replicas, world.revision = 1, "r2"
    for _ in range(60):
        operator.all_at_once()
        world.tick(30)
    assert len(world.pods) == 4
    assert not any(pod.ending for pod in world.pods.values())
