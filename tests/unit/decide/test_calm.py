"""Workers about whom there is nothing to do are left in peace until something is new of them.

That nothing is missed by it is seen in every pass of every history of `worlds.py`.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.decide.calm import others
from shoal.decide.plan import ShowState, Wait
from shoal.decide.wanted import NOBODY
from shoal.decide.workers import decide
from shoal.model.nodeset import Strategy, Update

from .fleets import NOW, PodCondition, fleet, kube_node, slurm_node, wanted, worker
from .worlds import CORDON, World, grown

IDLE = PodCondition("SlurmNodeStateIdle", "True")
ASKED = wanted(3)


def calm_worker(number, **fields):
    return worker(number, conditions=[IDLE], **fields)


def seen(*others_, **fields):
    return fleet(calm_worker(0), calm_worker(1), *(others_ or [calm_worker(2)]), **fields)


def after(there, asked=ASKED):
    """Return the wish with what is remembered after a pass."""
    return replace(asked, calm=decide(asked, there).calm)


def looked_at(asked, there):
    return [worker.name for worker in others(asked, there)]


def test_a_worker_about_whom_there_was_nothing_to_do_is_not_looked_at_again():
    there = seen()
    assert looked_at(ASKED, there) == ["w-0", "w-1", "w-2"]
    asked = after(there)
    assert looked_at(asked, there) == []
    assert looked_at(after(there, asked), replace(there, now=NOW.replace(year=2030))) == []


NEWS = {
    "its pod": lambda there: replace(there, workers=(*there.workers[:2], calm_worker(2))),
    "its Slurm node": lambda there: replace(
        there, slurm={**there.slurm, "w-2": slurm_node("w-2", "IDLE+DRAIN")}
    ),
    "its Kubernetes node": lambda there: replace(
        there, nodes={**there.nodes, "k-2": kube_node("k-2", unschedulable=True)}
    ),
    "Slurm no longer knows it": lambda there: replace(
        there, slurm={name: node for name, node in there.slurm.items() if name != "w-2"}
    ),
    "its Kubernetes node is gone": lambda there: replace(
        there, nodes={name: node for name, node in there.nodes.items() if name != "k-2"}
    ),
}


@pytest.mark.parametrize("news", NEWS)
def test_a_worker_is_looked_at_when_something_is_new_of_it(news):
    there = seen()
    assert looked_at(after(there), NEWS[news](there)) == ["w-2"]


@pytest.mark.parametrize("slurm", [None, {}])
def test_all_are_looked_at_when_slurm_does_not_answer(slurm):
    there = seen()
    assert len(looked_at(after(there), replace(there, slurm=slurm))) == 3


@pytest.mark.parametrize(
    "fields", [{"replicas": 4}, {"uid": "u"}, {"places": True}, {"shown": frozenset({"Disk"})}]
)
def test_all_are_looked_at_when_something_else_is_wished(fields):
    there = seen()
    asked = replace(wanted(**{"replicas": 3, **fields}), calm=after(there).calm)
    assert len(looked_at(asked, there)) == 3


OTHERS = {
    "it is not ready": (calm_worker(2, ready=False), "IDLE", {}),
    "it ends": (calm_worker(2, deleting=True), "IDLE", {}),
    "Slurm has a reason": (calm_worker(2), "IDLE", {"reason": "slow disk"}),
    "something is to be done": (worker(2), "IDLE", {}),
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_worker_that_something_is_the_matter_with_is_looked_at_each_time(why):
    one, state, fields = OTHERS[why]
    nodes = [slurm_node("w-0"), slurm_node("w-1"), slurm_node("w-2", state, **fields)]
    there = seen(one, slurm=nodes)
    assert looked_at(after(there), there) == ["w-2"]


def test_a_worker_that_slurm_does_not_know_is_looked_at_each_time():
    there = seen(slurm=[slurm_node("w-0"), slurm_node("w-1")])
    assert looked_at(after(there), there) == ["w-2"]


GOING = {
    "fewer are wanted": wanted(2),
    "an update": wanted(3, of={"update": Update(Strategy.ROLLING)}),
}


@pytest.mark.parametrize("why", GOING)
def test_while_some_go_and_others_stay_nobody_is_left_in_peace(why):
    there = seen(calm_worker(2, revision="old"))
    assert decide(GOING[why], there).calm is NOBODY


def test_what_is_done_about_others_is_done_all_the_same():
    there = seen()
    asked = after(there)
    busy = replace(there, slurm={**there.slurm, "w-1": slurm_node("w-1", "MIXED")})
    (show,) = [a for a in decide(asked, busy).plan if isinstance(a, ShowState)]
    assert show.pod == "w-1"
    lost = NEWS["Slurm no longer knows it"](there)
    assert any(isinstance(action, Wait) for action in decide(asked, lost).plan)


def test_those_that_are_gone_are_forgotten():
    there = seen()
    fewer = replace(there, workers=there.workers[:2])
    asked = replace(wanted(2), calm=after(there).calm)
    assert decide(asked, fewer).calm.sights.keys() == {"uid-w-0", "uid-w-1"}


# -- any history, with peace between its events


def cordons(world: World, name: str) -> None:
    host = world.pods[name].host
    world.hosts[host] = not world.hosts[host]


def cordons_pod(world: World, name: str) -> None:
    told = world.pods[name].annotations
    told[CORDON] = "false" if told.get(CORDON) == "true" else "true"


def says(reason: str, *, drain: bool) -> Callable[[World, str], None]:
    def say(world: World, name: str) -> None:
        record = world.records[name]
        record.drain = drain
        record.say(reason, world.now)
        record.note = record.reason if record.serving else ""

    return say


EVENTS: dict[str, Callable[[World, str], None]] = {
    "a node is cordoned, or no longer": cordons,
    "a pod is cordoned, or no longer": cordons_pod,
    "an admin drains": says("bad disk", drain=True),
    "an admin drains without a word": says("", drain=True),
    "an admin notes": says("slow disk", drain=False),
    "an admin resumes": says("", drain=False),
    "a job comes": lambda world, name: world.job(name, 60),
    "a kubelet is silent": lambda world, name: world.flap(name),
    "a slurmd is silent": lambda world, name: world.mute(name),
    "a pod dies": lambda world, name: world.die(name),
    "more are wanted": lambda world, _: setattr(world, "replicas", 5),
    "fewer are wanted": lambda world, _: setattr(world, "replicas", 3),
    "another image is wanted": lambda world, _: setattr(world, "revision", "r2"),
}
HISTORY = st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), st.integers(0, 3)), max_size=8)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(HISTORY)
def test_whatever_happens_to_workers_that_were_left_in_peace_is_seen(history):
    world, operator = grown(4)
    for what, number in history:
        if f"w-{number}" in world.pods and f"w-{number}" in world.records:
            EVENTS[what](world, f"w-{number}")
        for _ in range(4):
            operator.all_at_once()
            world.tick(30)


def test_the_worlds_in_which_nothing_may_be_missed_have_workers_in_peace():
    world, operator = grown(5)
    before = operator.spared
    for _ in range(3):
        operator.all_at_once()
        world.tick(30)
    assert operator.spared - before == 15
