"""What nodes went through: counted once, never made up, never going down."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exporter.outages import LONGEST_GAP_S, MOST_REASONS, NodeMemory, remember

from .builders import IDLE, NOW, standing

DOWN = ("DOWN", "false", "false", "false")


def looked(*looks):
    """Return what is remembered after looks of (seconds, nodes)."""
    memory = NodeMemory()
    for seconds, nodes in looks:
        memory = remember(memory, nodes, NOW + seconds)
    return memory


def fails(memory, name="w-0"):
    return sum(memory.fails.get(name, {}).values())


def test_gpu_seconds_are_gpus_times_the_time_between_looks_in_the_state_seen_last():
    busy = ("ALLOCATED", "false", "false", "false")
    memory = looked(
        (0, [standing(gpus=8)]), (30, [standing(gpus=8)]), (40, [standing(gpus=8, state=busy)])
    )
    assert memory.gpu_seconds == {"w-0": {IDLE: 240.0, busy: 80.0}}


def test_a_node_without_gpus_has_no_gpu_seconds():
    assert not looked((0, [standing()]), (30, [standing()])).gpu_seconds


def test_time_in_which_nobody_looked_is_not_counted():
    memory = looked((0, [standing(gpus=1)]), (LONGEST_GAP_S + 1, [standing(gpus=1)]))
    assert memory.gpu_seconds == {"w-0": {IDLE: 0.0}}


def test_a_clock_that_is_set_back_takes_nothing_away():
    memory = looked((0, [standing(gpus=1)]), (30, [standing(gpus=1)]), (10, [standing(gpus=1)]))
    assert memory.gpu_seconds == {"w-0": {IDLE: 30.0}}


def test_a_failure_counts_when_a_known_node_begins_to_fail():
    failed = standing(failed=True, state=DOWN, reason="fire")
    memory = looked((0, [standing()]), (30, [failed]), (60, [failed]))
    assert memory.fails == {"w-0": {(DOWN, "fire"): 1}}


def test_a_node_that_is_seen_for_the_first_time_has_not_failed_before_our_eyes():
    assert not looked((0, [standing(failed=True)]), (30, [standing(failed=True)])).fails
    late = looked((0, []), (30, [standing(failed=True)]))
    assert not late.fails


def test_a_node_that_recovers_and_fails_again_counts_twice():
    up, failed = [standing()], [standing(failed=True)]
    assert fails(looked((0, up), (1, failed), (2, up), (3, failed))) == 2


def test_of_many_reasons_the_newest_are_kept():
    looks = [(0, [standing()])]
    for n in range(2 * MOST_REASONS):
        looks += [(2 * n + 1, [standing(failed=True, reason=str(n))]), (2 * n + 2, [standing()])]
    reasons = [reason for _, reason in looked(*looks).fails["w-0"]]
    assert reasons == [str(n) for n in range(MOST_REASONS, 2 * MOST_REASONS)]


def test_an_outage_is_told_when_it_is_over():
    out = [standing(unavailable=True)]
    during = looked((0, [standing()]), (10, out), (50, out))
    assert (dict(during.unavailable.since), during.unavailable.over) == ({"w-0": NOW + 10}, {})
    after = remember(during, [standing()], NOW + 70)
    assert not after.unavailable.since
    assert after.unavailable.over["w-0"].total == 60


def test_draining_and_outage_are_told_apart():
    memory = looked((0, [standing(draining=True)]), (30, [standing(unavailable=True)]))
    assert memory.draining.over["w-0"].total == 30
    assert not memory.unavailable.over


def test_a_node_that_is_gone_is_forgotten():
    out = standing(unavailable=True, gpus=1, failed=True)
    memory = looked((0, [standing(gpus=1)]), (1, [out]), (2, [standing(gpus=1)]), (3, []))
    assert (memory.gpu_seconds, memory.fails, memory.unavailable.over) == ({}, {}, {})


STANDINGS = st.builds(
    standing,
    st.sampled_from(["w-0", "w-1", "w-2"]),
    state=st.sampled_from([IDLE, DOWN]),
    gpus=st.integers(0, 8),
    reason=st.sampled_from(["", "fire", "water"]),
    failed=st.booleans(),
    unavailable=st.booleans(),
    draining=st.booleans(),
)
LOOKS = st.lists(
    st.tuples(
        st.floats(0, 2 * LONGEST_GAP_S),
        st.lists(STANDINGS, max_size=3, unique_by=lambda node: node.name),
    )
)


@given(LOOKS)
def test_no_counter_of_a_node_that_stays_ever_goes_down(looks):
    memory, now = NodeMemory(), float(NOW)
    for seconds, nodes in looks:
        now += seconds
        after = remember(memory, nodes, now)
        for node in nodes:
            for state, counted in memory.gpu_seconds.get(node.name, {}).items():
                assert not node.gpus or after.gpu_seconds[node.name][state] >= counted
            assert fails(after, node.name) >= fails(memory, node.name)
            if told := memory.unavailable.over.get(node.name):
                assert after.unavailable.over[node.name].count >= told.count
        memory = after


@given(LOOKS)
def test_gpu_seconds_never_exceed_the_time_that_passed(looks):
    memory, now = NodeMemory(), float(NOW)
    for seconds, nodes in looks:
        now += seconds
        memory = remember(memory, nodes, now)
    for states in memory.gpu_seconds.values():
        assert sum(states.values()) <= 8 * (now - NOW) + 1e-6


@given(LOOKS)
def test_a_spell_is_either_under_way_or_over(looks):
    memory, now, outages = NodeMemory(), float(NOW), 0
    for seconds, nodes in looks:
        now += seconds
        before, memory = memory, remember(memory, nodes, now)
        ended = {n.name for n in nodes if n.name in before.unavailable.since and not n.unavailable}
        for name in ended:
            had = before.unavailable.over.get(name)
            told = memory.unavailable.over[name]
            assert told.count == (had.count if had else 0) + 1
            outages += 1
        assert set(memory.unavailable.since) == {n.name for n in nodes if n.unavailable}
    assert outages >= sum(told.count for told in memory.unavailable.over.values())
