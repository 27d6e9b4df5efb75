"""Scaling, cut short after any action, with a Slurm that is silent at times."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.decide import workers
from shoal.decide.plan import CreateWorker, DeleteWorker
from shoal.decide.scale import SCALE_IN

from .worlds import Answer, Operator, World, grown, settled

REPLICAS = st.integers(0, 6)
CUTS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(Answer)), max_size=6)


@given(REPLICAS, REPLICAS, st.sets(st.integers(0, 5)), CUTS)
def test_scaling_converges_however_often_it_is_cut_short_and_loses_no_job(few, many, busy, cuts):
    world, operator = grown(few)
    for number in busy:
        world.job(f"w-{number}")
    world.replicas = many
    for operator.left, operator.answer in cuts:
        for _ in range(3):
            operator.step()
        operator.crash()
        world.tick(10)
    operator.answer = Answer.WHOLE
    assert settled(world, operator)
    assert len(world.pods) == many


@given(REPLICAS, REPLICAS)
def test_workers_do_not_come_and_go_in_one_plan(few, many):
    world, _ = grown(few)
    world.replicas = many
    for _ in range(3):
        made = workers.plan(world.wanted, world.fleet(world.slurm(), {}))
        created = sum(isinstance(action, CreateWorker) for action in made)
        ended = [a for a in made if isinstance(a, DeleteWorker) and a.why == SCALE_IN]
        assert not created or not ended
        assert len(world.pods) + created <= max(many, len(world.pods))
        Operator(world).all_at_once()


@given(REPLICAS)
def test_a_scale_in_that_is_taken_back_ends_nobody(replicas):
    world, operator = grown(6)
    for number in range(6):
        world.job(f"w-{number}")
    there = {pod.uid for pod in world.pods.values()}
    world.replicas = replicas
    operator.all_at_once()
    world.replicas = 6
    assert settled(world, operator)
    assert {pod.uid for pod in world.pods.values()} == there
    assert all(record.serving for record in world.records.values())


def test_a_world_without_workers_is_at_rest():
    world = World(replicas=0)
    assert Operator(world).all_at_once() == ()
