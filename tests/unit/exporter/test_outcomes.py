"""What became of jobs: each start and each end counts once."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exporter.outages import LONGEST_GAP_S
from shoal.exporter.outcomes import JobMemory, remember

from .builders import NOW, seen, some_job

ENDED = ("all", "lab", "COMPLETED")


def looked(*looks):
    """Return what is remembered after looks, 30 s apart."""
    memory = JobMemory()
    for n, told in enumerate(looks):
        memory = remember(memory, told, NOW + 30 * n)
    return memory


def waits(memory):
    return sum(told.count for told in memory.waits.values())


def test_a_job_that_ends_while_we_look_counts_once():
    done = some_job(state="COMPLETED")
    memory = looked(seen(some_job()), seen(done), seen(done), seen(done))
    assert memory.outcomes == {ENDED: 1}


def test_a_job_that_came_and_went_between_two_looks_counts():
    memory = looked(seen(), seen(some_job(state="FAILED")))
    assert memory.outcomes == {("all", "lab", "FAILED"): 1}
    assert waits(memory) == 1


def test_what_had_ended_before_the_first_look_never_counts():
    done = some_job(state="COMPLETED")
    memory = looked(seen(done), seen(done))
    assert (memory.outcomes, waits(memory)) == ({}, 0)


def test_a_job_that_runs_again_and_ends_again_counts_twice():
    first = some_job(state="NODE_FAIL", end=NOW)
    again = some_job(start=NOW + 10)
    second = some_job(state="COMPLETED", start=NOW + 10, end=NOW + 20)
    memory = looked(seen(some_job()), seen(first), seen(again), seen(second))
    assert memory.outcomes == {("all", "lab", "NODE_FAIL"): 1, ENDED: 1}


def test_a_number_that_another_job_has_after_a_lost_state_counts_anew():
    first, other = some_job(state="COMPLETED", end=5), some_job(state="COMPLETED", end=9)
    assert looked(seen(), seen(first), seen(other)).outcomes == {ENDED: 2}


def test_a_start_that_we_see_tells_how_long_the_job_waited():
    memory = looked(seen(some_job(state="PENDING")), seen(some_job()), seen(some_job()))
    assert waits(memory) == 1
    assert memory.waits["all"].total == 40


def test_a_job_that_is_only_said_to_be_completing_has_not_started_anew():
    ending = some_job(state="COMPLETING", end=0)
    looks = (some_job(state="PENDING"), some_job(), ending, some_job(state="COMPLETED"))
    memory = looked(*(seen(job, source="squeue") for job in looks))
    assert (waits(memory), memory.outcomes) == (1, {ENDED: 1})


def test_a_job_that_is_put_back_into_the_queue_waits_anew():
    again = some_job(start=NOW + 50)
    memory = looked(seen(), seen(some_job()), seen(some_job(state="PENDING")), seen(again))
    assert waits(memory) == 2


def test_a_job_that_is_cancelled_in_the_queue_has_not_waited_for_its_start():
    gone = some_job(state="CANCELLED", nodes="")
    memory = looked(seen(some_job(state="PENDING")), seen(gone))
    assert (waits(memory), memory.outcomes) == (0, {("all", "lab", "CANCELLED"): 1})


def test_an_end_counts_when_its_details_are_known():
    unread = some_job(state="COMPLETED", read=False, partition="", account="")
    done = some_job(state="COMPLETED")
    memory = looked(seen(some_job()), seen(unread))
    assert not memory.outcomes
    assert remember(memory, seen(done), NOW + 60).outcomes == {ENDED: 1}


def test_what_ended_before_the_first_look_never_counts_though_its_details_come_later():
    unread, done = some_job(state="COMPLETED", read=False), some_job(state="COMPLETED")
    memory = looked(seen(unread), seen(unread), seen(done), seen(done))
    assert (memory.outcomes, waits(memory)) == ({}, 0)


def test_what_waited_at_the_first_look_counts_though_its_details_come_later():
    unread, runs = some_job(state="PENDING", read=False), some_job()
    assert waits(looked(seen(unread), seen(runs))) == 1


def test_another_source_brings_no_old_ends_back():
    old = some_job(2, state="COMPLETED", end=NOW - 3000, start=NOW - 3100)
    new = some_job(3, state="COMPLETED", end=NOW + 25)
    memory = looked(seen(some_job()), seen(some_job(), old, new, source="slurmdbd"))
    assert memory.outcomes == {ENDED: 1}


def test_seconds_are_what_an_accounts_jobs_hold_times_the_time_between_looks():
    job = some_job(gpus=2)
    waiting = some_job(2, state="PENDING", gpus=8)
    memory = looked(seen(job, waiting), seen(job, waiting), seen(job, waiting))
    assert memory.cpu_seconds == {"lab": 240.0}
    assert memory.gpu_seconds == {"lab": 120.0}


def test_time_in_which_nobody_looked_is_not_counted():
    memory = remember(looked(seen(some_job())), seen(some_job()), NOW + LONGEST_GAP_S + 1)
    assert not memory.cpu_seconds


def test_who_is_no_longer_told_of_is_forgotten():
    done = some_job(state="COMPLETED")
    memory = looked(seen(some_job()), seen(done), seen())
    assert (memory.ended, memory.started) == ({}, {})
    assert memory.outcomes == {ENDED: 1}


STATES = st.sampled_from(["PENDING", "RUNNING", "COMPLETING", "COMPLETED", "FAILED"])


@given(st.lists(st.dictionaries(st.integers(1, 4), st.tuples(STATES, st.booleans()))))
def test_no_counter_goes_down_and_no_job_ends_more_often_than_it_is_seen_to(looks):
    memory, told = JobMemory(), 0
    for n, states in enumerate(looks):
        jobs = [some_job(job_id, state, read=read) for job_id, (state, read) in states.items()]
        after = remember(memory, seen(*jobs), NOW + 30 * n)
        assert all(after.outcomes[key] >= count for key, count in memory.outcomes.items())
        assert all(after.cpu_seconds[key] >= s for key, s in memory.cpu_seconds.items())
        assert waits(after) >= waits(memory)
        told += sum(state in ("COMPLETED", "FAILED") for state, _ in states.values())
        memory = after
    assert sum(memory.outcomes.values()) <= told


COURSE = ["PENDING", "RUNNING", "COMPLETING", "COMPLETED"]


@given(st.lists(st.sampled_from(COURSE), min_size=1))
def test_a_job_that_runs_once_starts_and_ends_once(states):
    order = sorted(states, key=COURSE.index)
    memory = looked(*(seen(some_job(state=state)) for state in order))
    first, last = order[0], order[-1]
    assert sum(memory.outcomes.values()) == int(first != "COMPLETED" and last == "COMPLETED")
    assert waits(memory) <= int(first == "PENDING")
