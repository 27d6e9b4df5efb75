"""Jobs that lost their process before Slurm could know: none of them stays RUNNING for ever."""

from ..clusters import wait_for
from .jobs import Job
from .nodesets import Record, Workers, stays, timed
from .processes import end_container

# Slurm has a minute to see it, and a job that was requeued is not started again at once.
FOUND_S = 300


def young(workers: Workers, record: Record) -> None:
    """End the containers of two jobs, one of which may be requeued, and of a third's none."""
    workers.make(3)
    site, old = workers.site, workers.uids()
    safe = workers.start(workers.node(2))
    again, never = workers.start(workers.node(0)), workers.start(workers.node(1), "--no-requeue")
    for job in (again, never):
        end_container(site.cluster, workers.pods()[job.pod], "slurmd")
    with timed(record, "the job that may not is ended after"):
        wait_for("its end", lambda: state(never), lambda seen: seen == ("CANCELLED", "0"), FOUND_S)
    with timed(record, "the job that may runs again afterwards by"):
        wait_for("its start", lambda: state(again), lambda seen: seen == ("RUNNING", "1"), FOUND_S)
    reasons = {event["reason"] for event in site.cluster.get("events")}
    assert {"JobRequeued", "JobLost"} <= reasons
    assert workers.uids() == old
    stays("the job that had its process", safe.runs, 3)
    for job in (again, safe):
        job.end()
    safe.ended_well()
    site.completes(again.number)


def state(job: Job) -> tuple[str, str]:
    """Return the state of a job, and how often it was started again."""
    seen = job.fields()
    return seen.get("JobState", ""), seen.get("Restarts", "")
