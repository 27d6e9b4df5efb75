"""Maintenance in every mode, begun while a job runs: it ends by itself, and then all goes."""

from collections.abc import Callable, Iterable

import pytest

from ..clusters import is_ready, wait_for
from ..workers.nodesets import stays, timed
from .site import SLURMCTLD, Rooted, Working

DOWN = "downscale"
DELETE = "downscaleAndDeletePopulateJail"
OVERWRITE = "downscaleAndOverwritePopulateJail"
SKIP = "skipPopulateJail"
FILLS = "job.batch/slurm-populate-jail"
# One fills the jail, the others have the image of slurmctld pulled.
BESIDE = ("populate-jail", "placeholder")
MARK = "/mnt/jail/home/mark"
DRAINING = "draining|slurm-operator: Pod is pending termination for scale-in"

long = pytest.mark.long


def begin(slurm: Rooted, mode: str, record: Callable[[str, object], None]) -> Working:
    """Return the job that a maintenance waits for."""
    slurm.run("touch", MARK)
    job = slurm.start("worker-0")
    with timed(record, "the idle worker is gone after"):
        slurm.change({"maintenance": mode})
        slurm.only_workers("slurm-worker-0")
    wait_for("the busy one to drain", lambda: slurm.node("worker-0"), lambda s: s == DRAINING)
    stays("slurmctld with a job", lambda: is_ready(slurm.pods()[SLURMCTLD]) and job.runs())
    return job


def members(pods: Iterable[str]) -> set[str]:
    """Return the pods that take part in Slurm."""
    return {name for name in pods if not any(word in name for word in BESIDE)}


def finish(slurm: Rooted, job: Working, record: Callable[[str, object], None]) -> None:
    """See all pods go when the job has ended, and slurmctld not before the last worker."""

    def look() -> set[str]:
        pods = slurm.pods()
        if any("-worker-" in name for name in pods):
            assert "deletionTimestamp" not in pods[SLURMCTLD]["metadata"]
        return members(pods)

    with timed(record, "nothing is left after the job by"):
        job.end()
        wait_for("all pods to go", look, lambda seen: not seen)
    amiss = slurm.told()["amiss"]
    assert slurm.part("ControllersAvailable")["reason"] == "Maintenance", amiss


def end(slurm: Rooted, job: Working, record: Callable[[str, object], None]) -> None:
    """See the cluster serve again, and remember the job."""
    with timed(record, "available again after"):
        slurm.change({"maintenance": "none"})
        slurm.available()
    slurm.idle(2)
    slurm.accounted(job.number, "COMPLETED|0:0|0", "State,ExitCode,Restarts")
    slurm.completes(slurm.submit("--chdir=/", "--nodes=2", "--wrap=srun hostname"))
    assert slurm.named("jobs") == {FILLS}


def marked(slurm: Rooted) -> bool:
    return slurm.run("test", "-e", MARK, check=False).code == 0


def test_downscale_waits_for_a_job_and_slurmctld_goes_last(slurm, record_property):
    filled = slurm.cluster.get("job", "slurm-populate-jail")["metadata"]["uid"]
    job = begin(slurm, DOWN, record_property)
    finish(slurm, job, record_property)
    end(slurm, job, record_property)
    assert marked(slurm)
    assert slurm.cluster.get("job", "slurm-populate-jail")["metadata"]["uid"] == filled


@long
def test_the_job_that_fills_is_deleted_and_runs_again_and_changes_nothing(slurm, record_property):
    job = begin(slurm, DELETE, record_property)
    wait_for("the Job to go", lambda: slurm.named("jobs"), lambda seen: not seen)
    finish(slurm, job, record_property)
    end(slurm, job, record_property)
    assert marked(slurm)


@long
def test_a_jail_is_overwritten_once_nobody_uses_it(slurm, record_property):
    job = begin(slurm, OVERWRITE, record_property)
    assert marked(slurm)
    finish(slurm, job, record_property)
    slurm.kubectl("wait", "--for=create", FILLS, "--timeout=60s")
    slurm.kubectl("wait", "--for=condition=Complete", FILLS, "--timeout=120s")
    end(slurm, job, record_property)
    assert not marked(slurm)


@long
def test_an_overwriting_that_is_over_is_not_done_again_by_an_operator_that_starts(slurm, operator):
    slurm.change({"maintenance": OVERWRITE})
    wait_for("all to go", lambda: members(slurm.pods()), lambda seen: not seen)
    slurm.kubectl("wait", "--for=create", FILLS, "--timeout=60s")
    slurm.kubectl("wait", "--for=condition=Complete", FILLS, "--timeout=120s")
    slurm.change({"maintenance": "none"})
    slurm.available()
    slurm.run("touch", MARK)
    operator.kill()
    operator.start()
    slurm.change({"maintenance": SKIP})
    slurm.change({"maintenance": "none"})
    slurm.available()
    stays("what users wrote since", lambda: marked(slurm), 10)


@long
def test_a_jail_that_is_the_users_to_fill_changes_nothing_for_a_job(slurm):
    job = slurm.start("worker-0")
    before = {name: pod["metadata"]["uid"] for name, pod in slurm.pods().items()}
    slurm.change({"maintenance": SKIP})
    slurm.available()
    slurm.change({"maintenance": "none"})
    slurm.available()
    assert {name: pod["metadata"]["uid"] for name, pod in slurm.pods().items()} == before
    assert job.runs()
    job.end()
    job.ended_well()


@long
def test_a_maintenance_that_is_called_off_leaves_the_job_and_its_worker_alone(slurm):
    job = slurm.start("worker-0")
    slurm.change({"maintenance": DOWN})
    slurm.only_workers("slurm-worker-0")
    slurm.change({"maintenance": "none"})
    slurm.available()
    slurm.idle(1)
    assert job.runs()
    job.end()
    job.ended_well()
    slurm.idle(2)
