from shoal.controllers.nodeset import Memory
from shoal.decide.plan import CreateWorker, DrainWorker, Wait


def drains(*numbers):
    return tuple(DrainWorker("surplus", f"w-{n}", f"w-{n}") for n in numbers)


def comes(*numbers):
    return tuple(CreateWorker("asked for", n) for n in numbers)


def test_a_pass_that_drained_is_followed_at_once_by_one_that_sees_who_is_drained():
    assert Memory().goes_on(drains(1), left=False)


def test_a_drain_that_comes_to_nothing_is_not_followed_at_once_again():
    memory = Memory()
    memory.goes_on(drains(1, 2), left=False)
    assert not memory.goes_on(drains(2), left=False)
    assert memory.goes_on(drains(2, 3), left=False)


def test_a_portion_is_followed_at_once_by_the_next_one():
    memory = Memory()
    assert memory.goes_on(comes(1, 2), left=True)
    assert memory.goes_on(comes(3, 4), left=True)
    assert not memory.goes_on(comes(5), left=False)


def test_a_portion_that_comes_to_nothing_is_not_tried_again_at_once():
    memory = Memory()
    memory.goes_on((*comes(1, 2), Wait("busy", 14.0)), left=True)
    assert not memory.goes_on((*comes(1, 2), Wait("busy", 15.0)), left=True)


def test_a_plan_that_was_done_whole_is_followed_by_no_other():
    assert not Memory().goes_on((*comes(1, 2), Wait("busy", 15.0)), left=False)
