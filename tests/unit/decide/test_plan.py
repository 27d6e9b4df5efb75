"""What a plan waits for, in few words."""

from shoal.decide.plan import CreateWorker, Wait, waits


def test_what_is_waited_for_is_told_once_and_in_order():
    plan = (Wait("b", 1.0), CreateWorker("x", 1), Wait("a", 2.0), Wait("b", 3.0))
    assert waits(plan) == ("b", "a")
    assert waits(()) == ()


def test_of_many_things_a_few_are_told_and_the_others_counted():
    plan = tuple(Wait(f"claim {n} is being deleted", 1.0) for n in range(5))
    told = waits(plan)
    assert told[:3] == tuple(f"claim {n} is being deleted" for n in range(3))
    assert told[3:] == ("and 2 more",)
