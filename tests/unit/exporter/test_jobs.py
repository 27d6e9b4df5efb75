"""What is told of jobs."""

import pytest

from shoal.exporter.health import Health
from shoal.exporter.jobs import JobsCollector, JobSeries, Sampling, nodes_of
from shoal.exporter.shared import Shared
from shoal.exporter.snapshot import Place

from .builders import NOW, samples, seen, some_job, value


class Source:
    """A source that tells of one job, so often."""

    def __init__(self, times=1):
        self.times = times

    async def jobs(self):
        return seen(*(some_job() for _ in range(self.times)))


def told(*jobs, sampling=Sampling(), shared=None):  # noqa: B008 - frozen
    collector = JobsCollector(Source(), shared or Shared(), sampling)
    return "".join(collector.tell(seen(*jobs), NOW))


def test_a_job_and_its_times_are_in_its_labels():
    job = some_job(
        7, name='a "b"', user="alice", user_id="1001", mail="a@b.c", reason="None",
        standard_output="/o", standard_error="/e", array_job="6", array_task="0",
    )  # fmt: skip
    (labels,) = (dict(each) for name, each in samples(told(job)) if name == "slurm_job_info")
    assert labels == {
        "job_id": "7", "job_state": "RUNNING", "job_state_reason": "None",
        "slurm_partition": "all", "job_name": 'a "b"', "user_name": "alice", "user_id": "1001",
        "user_mail": "a@b.c", "standard_error": "/e", "standard_output": "/o", "array_job_id": "6",
        "array_task_id": "0", "submit_time": str(NOW - 100), "start_time": str(NOW - 60),
    }  # fmt: skip


def test_only_a_job_that_ended_has_finished():
    def times(job):
        (found,) = (dict(each) for name, each in samples(told(job)) if name == "slurm_job_info")
        return found.get("end_time"), found.get("finished_time")

    assert times(some_job(end=NOW + 500)) == (str(NOW + 500), None)
    assert times(some_job(state="FAILED")) == (str(NOW - 10), str(NOW - 10))


def test_a_job_has_lasted_until_now_or_until_its_end():
    text = told(some_job(1), some_job(2, "COMPLETED"), some_job(3, "PENDING", start=NOW + 9))
    assert value(text, "slurm_job_duration_seconds", job_id="1") == 60
    assert value(text, "slurm_job_duration_seconds", job_id="2") == 50
    assert value(text, "slurm_job_duration_seconds", job_id="3") is None


def test_a_jobs_resources_are_told():
    text = told(some_job(cpus=16, memory_mib=2, gpus=8))
    assert value(text, "slurm_job_cpus", job_id="1") == 16
    assert value(text, "slurm_job_memory_bytes", job_id="1") == 2 << 20
    assert value(text, "slurm_job_gpus", job_id="1") == 8


def test_a_job_is_told_on_each_of_its_nodes_and_where_they_are():
    shared = Shared(places={"w-1": Place("nvl-1", "gpu")})
    text = told(some_job(nodes="w-[0-1]"), shared=shared)
    assert value(text, "slurm_node_job", job_id="1", node_name="w-0") == 1
    where = {"nvlink_instance_group": "nvl-1", "nodeset_name": "gpu"}
    assert value(text, "slurm_node_job", job_id="1", node_name="w-1", **where) == 1


def test_a_hostlist_that_cannot_be_read_costs_that_jobs_nodes_alone():
    assert nodes_of("w-[") == ()
    text = told(some_job(1, nodes="w-["), some_job(2, nodes="w-0"))
    assert value(text, "slurm_node_job", job_id="2", node_name="w-0") == 1


def test_totals_are_told_whatever_becomes_of_single_jobs():
    text = told(
        some_job(), some_job(2, "PENDING", reason="Priority"), sampling=Sampling(JobSeries.OFF)
    )
    assert value(text, "slurm_partition_jobs", partition="all", state="RUNNING") == 1
    assert value(text, "slurm_jobs_pending", partition="all", reason="Priority") == 1
    assert value(text, "slurm_account_cpus_allocated", account="lab") == 4
    assert value(text, "slurm_job_series_ratio") == 0
    assert not [name for name, labels in samples(text) if "job_id" in dict(labels)]


def test_a_sample_is_always_of_the_same_jobs_and_says_how_large_it_is():
    jobs = [some_job(n) for n in range(1, 101)]
    text = told(*jobs, sampling=Sampling(JobSeries.SAMPLED, 20))
    shown = {dict(labels)["job_id"] for name, labels in samples(text) if name == "slurm_job_info"}
    assert shown == {"20", "40", "60", "80", "100"}
    assert value(text, "slurm_job_series_ratio") == 0.05
    assert value(text, "slurm_partition_jobs", partition="all", state="RUNNING") == 100


def test_ends_and_waits_are_told_after_they_were_seen():
    collector = JobsCollector(Source(), Shared())
    for n, job in enumerate((some_job(state="PENDING"), some_job(), some_job(state="FAILED"))):
        text = "".join(collector.tell(seen(job), NOW + 30 * n))
    ended = {"partition": "all", "account": "lab", "state": "FAILED"}
    assert value(text, "slurm_job_outcomes_total", **ended) == 1
    assert value(text, "slurm_job_queue_wait_seconds_count", partition="all") == 1
    assert value(text, "slurm_account_cpu_seconds_allocated_total", account="lab") == 120


@pytest.mark.parametrize("series", JobSeries)
def test_the_share_of_jobs_that_are_shown_is_between_none_and_all(series):
    assert 0 <= Sampling(series, 7).ratio <= 1


async def test_a_job_that_is_told_twice_is_one_job():
    assert len((await JobsCollector(Source(2), Shared()).gather()).jobs) == 1


async def test_the_source_and_what_it_left_unread_are_told_to_the_exporter_itself():
    health = Health.of([])
    collector = JobsCollector(Source(), Shared(), Sampling(), health)
    assert len((await collector.gather()).jobs) == 1
    list(collector.tell(seen(some_job(read=False), source="changes"), NOW))
    assert (health.source, health.unread) == ("changes", 1)
