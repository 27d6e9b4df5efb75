"""Squeue's command line and its output."""

from datetime import UTC, datetime, timedelta

import pytest

from shoal.slurm.durations import Open
from shoal.slurm.jobs import HOLDING, RUNNING
from shoal.slurmapi.squeue import COMMAND, STATES, read

OUTPUT = """\
17|RUNNING|2026-11-15T10:00:00|1-00:00:00|w-0|w-[0-3,7]
18|COMPLETING|2026-11-15T09:00:00|UNLIMITED|login|w-4,x-1
19|CONFIGURING|N/A|30:00|n/a|

20|SUSPENDED|Unknown|NOT_SET|w-5|w-5
"""


def test_each_line_is_a_job():
    jobs = list(read(OUTPUT))
    assert [job.job_id for job in jobs] == [17, 18, 19, 20]
    assert [str(job.state) for job in jobs] == ["RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"]
    assert [job.nodes for job in jobs] == ["w-[0-3,7]", "w-4,x-1", "", "w-5"]
    assert [job.batch_host for job in jobs] == ["w-0", "login", "", "w-5"]
    assert jobs[0].start == datetime(2026, 11, 15, 10, tzinfo=UTC)
    assert [job.start for job in jobs[2:]] == [None, None]
    assert [job.limit for job in jobs] == [
        timedelta(days=1), Open.UNLIMITED, timedelta(minutes=30), Open.NOT_SET,
    ]  # fmt: skip


def test_every_job_that_is_asked_for_holds_nodes():
    assert all(job.state.holds_nodes for job in read(OUTPUT))
    assert set(STATES) <= RUNNING | HOLDING


def test_no_jobs_are_no_lines():
    assert list(read("")) == []


@pytest.mark.parametrize(
    "line",
    [
        "slurm_load_jobs error: Unable to contact slurm controller",
        "JOBID|STATE|START_TIME|TIME_LIMIT|EXEC_HOST|NODELIST",
        "17|RUNNING|2026-11-15T10:00:00|1-00:00:00|w-0",
        "17|RUNNING|yesterday|1-00:00:00|w-0|w-0",
        "17|RUNNING|N/A|long|w-0|w-0",
    ],
)
def test_a_line_that_is_no_job_is_not_passed_over(line):
    with pytest.raises(ValueError, match="squeue printed") as caught:
        list(read(f"1|RUNNING|N/A|1:00|w-0|w-0\n{line}\n"))
    assert line[:20] in str(caught.value)


def test_times_are_asked_for_in_one_zone_and_form():
    assert COMMAND[:4] == ("env", "TZ=UTC0", "SLURM_TIME_FORMAT=standard", "squeue")
    assert "--noheader" in COMMAND
