"""What ended jobs had and used."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exporter.efficiency import Efficiency, remember
from shoal.exporter.ended import LATE_S
from shoal.exporter.snapshot import EndedSeen
from shoal.slurmapi.accounting import CpuTime, JobCondition, JobTime, JobTres, PastJob, Tres

NOW = 1_800_000_000


def ended(job_id=1, end=NOW, **more):
    known = {
        "partition": "all",
        "account": "lab",
        "nodes": "w-0",
        "state": JobCondition(("COMPLETED",)),
        "time": JobTime(end - 20, end - 10, end, total=CpuTime(15, 500_000)),
        "tres": JobTres((Tres("cpu", count=4), Tres("gres", "gpu", 2))),
    }
    return PastJob(job_id, **{**known, **more})


def looked(*looks):
    memory = Efficiency()
    for n, jobs in enumerate(looks):
        memory = remember(memory, EndedSeen(jobs, NOW + 30 * n))
    return memory


def test_a_job_counts_what_it_had_and_what_it_used():
    memory = looked([], [ended()])
    assert memory.cpu_seconds == {("all", "lab"): 40.0}
    assert memory.cpu_seconds_used == {("all", "lab"): 15.5}
    assert memory.gpu_seconds == {("all", "lab"): 20.0}
    assert memory.jobs == {("all", "lab", "COMPLETED"): 1}


def test_a_job_that_is_told_again_counts_once():
    assert looked([], [ended()], [ended()], [ended()]).jobs == {("all", "lab", "COMPLETED"): 1}


def test_what_had_ended_before_the_first_look_never_counts():
    assert not looked([ended()], [ended()]).jobs


def test_a_job_that_never_had_a_node_had_nothing():
    memory = looked([], [ended(nodes="None assigned", state=JobCondition(("CANCELLED",)))])
    assert memory.cpu_seconds == {("all", "lab"): 0.0}
    assert memory.jobs == {("all", "lab", "CANCELLED"): 1}


def test_what_will_not_be_told_again_is_forgotten():
    memory = looked([], [ended()], *([[]] * (LATE_S // 10)))
    assert not memory.known


@given(st.lists(st.lists(st.tuples(st.integers(1, 5), st.integers(-60, 0)))))
def test_every_end_counts_at_most_once(looks):
    memory, told = Efficiency(), set()
    for n, ends in enumerate(looks):
        # As slurmdbd tells them: those of the last two minutes, over and over.
        now = NOW + 30 * n
        jobs = [ended(job_id, now + late) for job_id, late in ends]
        if memory.began:
            told |= {(job.job_id, job.time.end) for job in jobs}
        memory = remember(memory, EndedSeen(jobs, now))
    assert sum(memory.jobs.values()) <= len(told)
