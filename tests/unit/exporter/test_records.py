"""Jobs of every source in one shape."""

import pytest

from shoal.exporter import records
from shoal.slurmapi.accounting import ArrayPlace, JobCondition, JobTime, JobTres, PastJob, Tres
from shoal.slurmapi.jobs import Job

from .builders import number as of


def test_a_job_of_slurmctlds_is_told_with_all_that_it_has():
    told = records.of_slurmctld(
        Job(
            job_id=7, name="train", job_state=("RUNNING",), state_reason="None", user_name="alice",
            user_id=1001, account="lab", partition="gpu", nodes="w-[0-1]", mail_user="a@b.c",
            tres_alloc_str="cpu=16,mem=2G,node=2,billing=16,gres/gpu=8",
            tres_req_str="cpu=1,mem=1G", array_job_id=of(6), array_task_id=of(0),
            submit_time=of(10), start_time=of(20), end_time=of(30),
        )
    )  # fmt: skip
    assert (told.job_id, told.state, told.holds, told.user_id) == ("7", "RUNNING", True, "1001")
    assert (told.cpus, told.memory_mib, told.gpus) == (16, 2048, 8)
    assert (told.array_job, told.array_task, told.mail) == ("6", "0", "a@b.c")
    assert (told.submit, told.start, told.end) == (10, 20, 30)


def test_a_job_that_has_nothing_yet_is_told_with_what_it_asks_for():
    waits = Job(job_id=1, job_state=("PENDING",), tres_req_str="cpu=4,mem=8G,gres/gpu=1")
    told = records.of_slurmctld(waits)
    assert (told.cpus, told.memory_mib, told.gpus, told.holds) == (4, 8192, 1, False)


def test_a_job_that_is_no_array_has_no_place_in_one():
    told = records.of_slurmctld(Job(job_id=1, job_state=("RUNNING",), array_job_id=of(0)))
    assert (told.array_job, told.array_task, told.tasks) == ("", "", 1)


@pytest.mark.parametrize(
    ("text", "tasks"),
    [("", 1), ("0-3", 4), ("5", 1), ("0-3,7%2", 5), ("0-10:5", 3), ("1,3,...", 2), ("nonsense", 1)],
)
def test_the_tasks_of_an_array_that_wait_are_counted(text, tasks):
    assert records.waiting_tasks(text) == tasks


def test_resources_that_cannot_be_read_are_none():
    assert records.resources("cpu=many") == (0, 0, 0)


def past(**more):
    told = JobTres(
        allocated=(
            Tres("cpu", count=4),
            Tres("mem", count=100),
            Tres("energy", count=-2),
            Tres("gres", "gpu", 2),
            Tres("gres", "shard", 9),
        )
    )
    known = {
        "job_id": 3,
        "state": JobCondition(("COMPLETED",)),
        "time": JobTime(1, 2, 3),
        "tres": told,
        "nodes": "w-0",
    }
    return PastJob(**{**known, **more})


def test_a_job_of_slurmdbds_is_told_with_what_it_had():
    told = records.of_slurmdbd(past(user=None, array=ArrayPlace(2, of(5))))
    assert (told.cpus, told.memory_mib, told.gpus) == (4, 100, 2)
    assert (told.state, told.holds, told.user) == ("COMPLETED", False, "")
    assert (told.array_job, told.array_task) == ("2", "5")
    assert (told.submit, told.start, told.end) == (1, 2, 3)


@pytest.mark.parametrize("nodes", ["None assigned", "(null)"])
def test_words_for_no_nodes_are_no_nodes(nodes):
    assert not records.of_slurmdbd(past(nodes=nodes)).nodes


def test_a_job_of_which_only_the_state_is_known_is_marked():
    told = records.of_state("6", ("PENDING",), 3)
    assert (told.read, told.tasks, told.state, told.holds) == (False, 3, "PENDING", False)
