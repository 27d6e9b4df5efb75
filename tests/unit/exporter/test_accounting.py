"""What is told of ended jobs."""

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.accounting import AccountingCollector
from shoal.exporter.ended import EndedJobs

from .builders import NOW, value

LOOP = VirtualLoop


async def test_jobs_that_end_are_told_with_what_they_had():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    slurm.slurmctld.add("w-0")
    before = slurm.slurmctld.start("w-0", account="lab")
    slurm.slurmctld.end(before.job_id)
    collector = AccountingCollector(EndedJobs(fake_client(slurm), steps=True), lambda: now)
    assert not "".join(collector.tell(await collector.gather(), now))

    job = slurm.slurmctld.start("w-0", account="lab", cpus=4)
    now += 30
    slurm.slurmctld.end(job.job_id, "FAILED")
    for _ in range(3):
        text = "".join(collector.tell(await collector.gather(), now))
    whose = {"partition": "all", "account": "lab"}
    assert value(text, "slurm_ended_jobs_total", state="FAILED", **whose) == 1
    assert value(text, "slurm_ended_jobs_total", state="COMPLETED", **whose) is None
    assert value(text, "slurm_ended_jobs_cpu_seconds_allocated_total", **whose) == 120
    assert value(text, "slurm_ended_jobs_cpu_seconds_used_total", **whose) == 0


async def test_what_was_read_and_not_told_is_read_again():
    now = NOW
    slurm = FakeSlurm(now=lambda: now)
    slurm.slurmctld.add("w-0")
    collector = AccountingCollector(EndedJobs(fake_client(slurm)), lambda: now)
    list(collector.tell(await collector.gather(), now))
    slurm.slurmctld.end(slurm.slurmctld.start("w-0").job_id)
    now += 1
    await collector.gather()  # and dropped, as a newer one was there
    now += 300
    seen = await collector.gather()
    assert [job.job_id for job in seen.jobs] == [1]
