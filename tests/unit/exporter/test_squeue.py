"""squeue's command line and output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.exporter.squeue import FIELDS, PART, command, read

MARK = "c0ffee"
PLAIN = {
    "JobID": "4", "State": "RUNNING", "Reason": "None", "Partition": "all", "UserName": "alice",
    "UserID": "1001", "Account": "lab", "ArrayJobID": "4", "ArrayTaskID": "N/A",
    "SubmitTime": "1794779961", "StartTime": "1794779962", "EndTime": "1826315961",
    "NodeList": "w-0", "tres-alloc": "cpu=2,mem=10M,node=1,billing=2,gres/gpu=1",
    "STDERR": "(null)", "STDOUT": "/tmp/%j.out", "Name": "wrap",
}  # fmt: skip


def printed(**more):
    values = [({**PLAIN, **more})[name] for name in FIELDS]
    return PART.join((values[0], MARK, *values[1:], "\n"))


def one(**more):
    (job,) = read(printed(**more).split("\n"), MARK)
    return job


def test_a_line_tells_all_of_a_job():
    job = one()
    assert (job.job_id, job.state, job.holds, job.partition) == ("4", "RUNNING", True, "all")
    assert (job.user, job.user_id, job.account, job.name) == ("alice", "1001", "lab", "wrap")
    assert (job.submit, job.start, job.end) == (1794779961, 1794779962, 1826315961)
    assert (job.cpus, job.memory_mib, job.gpus, job.nodes) == (2, 10, 1, "w-0")
    assert (job.standard_output, job.standard_error) == ("/tmp/%j.out", "")
    assert (job.array_job, job.array_task, job.tasks) == ("", "", 1)


def test_a_task_and_what_waits_of_an_array_are_told_apart():
    task = one(ArrayJobID="1", ArrayTaskID="3")
    assert (task.array_job, task.array_task, task.tasks) == ("1", "3", 1)
    rest = one(State="PENDING", ArrayJobID="4", ArrayTaskID="0-5,8%2")
    assert (rest.array_job, rest.array_task, rest.tasks) == ("4", "", 7)


@pytest.mark.parametrize("word", ["N/A", "NONE", "Unknown"])
def test_a_time_that_there_is_not_is_none(word):
    assert one(StartTime=word).start == 0


def test_a_name_can_hold_what_parts_fields():
    assert one(Name=f"a{PART}b|c").name == f"a{PART}b|c"


def test_a_name_with_line_breaks_makes_no_jobs():
    forged = PART.join(["9", "guess", "RUNNING", "None"])
    jobs = list(read(printed(Name=f"evil\n{forged}\nmore").split("\n"), MARK))
    assert [(job.job_id, job.name) for job in jobs] == [("4", "evil")]


def test_a_line_break_in_a_path_costs_the_rest_of_that_line_alone():
    jobs = list(read(printed(STDERR="a\nb").split("\n"), MARK))
    assert [(job.job_id, job.standard_error, job.name) for job in jobs] == [("4", "a", "")]


@given(st.text(st.characters(codec="utf-8")))
def test_no_name_changes_who_a_jobs_owner_is(name):
    jobs = list(read(printed(Name=name).split("\n"), MARK))
    assert [(job.job_id, job.user, job.account) for job in jobs] == [("4", "alice", "lab")]


def test_a_line_that_is_no_job_is_named():
    with pytest.raises(ValueError, match="squeue printed"):
        one(JobID="four")


def test_times_are_asked_for_as_numbers_by_whatever_runs_squeue():
    words = command(("nsenter", "-t", "1", "--", "/opt/squeue"), MARK)
    assert words[:7] == (
        "nsenter", "-t", "1", "--", "env", "TZ=UTC0", "SLURM_TIME_FORMAT=%s",
    )  # fmt: skip
    assert words[7] == "/opt/squeue"
    assert f"JobID:{PART}{MARK}{PART}" in words[-1]
