"""Scaling, cut short after any action, with a Slurm that is silent at times."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.plan import CreateWorker, DeleteWorker
from shoal.decide.scale import scale

from .worlds import Seen, World, make_nodeset

NUMBERS = st.integers(0, 7)


@st.composite
def worlds(draw):
    numbers = draw(st.sets(NUMBERS, max_size=6))
    flags = st.booleans()
    made = {
        n: Seen(n, draw(flags), draw(flags), draw(flags), draw(flags), draw(flags)) for n in numbers
    }
    return World(made)


@given(
    worlds(), st.integers(0, 6), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6)
)
def test_scaling_converges_however_often_it_is_cut_short_and_loses_no_job(world, wanted, cuts):
    nodeset = make_nodeset(wanted)
    for cut, silent in cuts:
        for action in scale(nodeset, world.seen(silent=silent))[:cut]:
            world.carry_out(action)
    for _ in range(20):
        for action in scale(nodeset, world.seen()):
            world.carry_out(action)
        world.pass_time()
    assert len(world.workers) == wanted
    assert scale(nodeset, world.seen()) == ()


@given(worlds(), st.integers(0, 6))
def test_what_is_unknown_never_kills(world, wanted):
    for action in scale(make_nodeset(wanted), world.seen(silent=True)):
        if isinstance(action, DeleteWorker):
            worker = world.workers[int(action.pod.removeprefix("w-"))]
            assert worker.over or not worker.ran


@given(worlds(), st.integers(0, 6))
def test_workers_do_not_come_and_go_in_one_plan(world, wanted):
    made = scale(make_nodeset(wanted), world.seen())
    created = sum(isinstance(action, CreateWorker) for action in made)
    retired = [a for a in made if isinstance(a, DeleteWorker) and "surplus" in a.why]
    assert not created or not retired
    assert len(world.workers) + created <= max(wanted, len(world.workers))
