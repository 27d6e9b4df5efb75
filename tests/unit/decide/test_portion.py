from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.plan import (
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    MarkWorker,
    ShowState,
    TellSlurm,
    Wait,
)
from shoal.decide.portion import portion


def comes(number):
    return CreateWorker("asked for", number)


def goes(number):
    return DeleteWorker("surplus", f"w-{number}", f"uid-{number}")


def shows(number):
    return ShowState("new", f"w-{number}", f"uid-{number}", {})


def drains(number):
    return DrainWorker("surplus", f"w-{number}", f"w-{number}")


DRAINS = tuple(map(drains, range(9)))
MAKERS = (
    comes,
    goes,
    shows,
    drains,
    lambda n: MarkWorker("new", f"w-{n}", f"uid-{n}"),
    lambda n: TellSlurm("new", f"w-{n}"),
    lambda n: ForgetNode("another one's", f"w-{n}"),
    lambda n: Wait("busy", float(n)),
)


def test_a_plan_that_is_not_too_much_is_done_whole():
    plan = (*map(comes, range(3)), *map(shows, range(3)))
    assert portion(plan, 6) == plan


def test_of_many_workers_the_first_come_now_and_nothing_is_told_of_others_meanwhile():
    plan = (*map(comes, range(5)), *map(shows, range(5)))
    assert portion(plan, 3) == tuple(map(comes, range(3)))


def test_workers_that_go_do_not_wait_for_those_that_come():
    plan = (*map(comes, range(5)), *map(goes, range(5)))
    assert portion(plan, 2) == (comes(0), comes(1), goes(0), goes(1))


def test_what_is_told_has_the_room_that_is_left():
    plan = (comes(0), *map(shows, range(5)))
    assert portion(plan, 3) == (comes(0), shows(0), shows(1))


def test_drains_are_never_left_for_later_and_neither_are_waits():
    plan = (*map(comes, range(5)), *DRAINS, Wait("busy", 15))
    assert portion(plan, 2) == (comes(0), comes(1), *DRAINS, Wait("busy", 15))


@given(st.lists(st.tuples(st.sampled_from(MAKERS), st.integers(0, 99))), st.integers(1, 20))
def test_whatever_a_plan_is_portion_by_portion_all_of_it_is_done(made, most):
    left = [make(number) for make, number in made]
    for _ in range(2 * len(made) + 1):
        now = portion(tuple(left), most)
        for kind in (CreateWorker, DeleteWorker):
            assert sum(isinstance(action, kind) for action in now) <= most
        for action in now:
            left.remove(action)
    assert left == []
