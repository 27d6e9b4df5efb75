"""The cluster's own workers come, go and are renewed, and slurmctld comes anew, under jobs."""

import pytest

from ..clusters import is_ready, wait_for
from ..workers.nodesets import stays, timed
from .site import SLURMCTLD, Rooted

UPDATE = "draining|slurm-operator: Pod is pending termination for update"
SCALE_IN = "draining|slurm-operator: Pod is pending termination for scale-in"


def uids(slurm: Rooted) -> dict[str, str]:
    """Return the uids of the workers' pods that are ready, by what Slurm calls them."""
    return {
        name.removeprefix("slurm-"): pod["metadata"]["uid"]
        for name, pod in slurm.pods().items()
        if "-worker-" in name and is_ready(pod)
    }


def test_scaling_up_and_down_costs_no_job(slurm, record_property):
    first = slurm.start("worker-0", "--time=60")
    with timed(record_property, "a third serves after"):
        slurm.workers({"size": 3})
        slurm.idle(2)
    last = slurm.start("worker-2", "--time=30")  # so it is the one that goes, once that is known
    with timed(record_property, "the idle is gone after"):
        slurm.workers({"size": 1})
        slurm.only_workers("slurm-worker-0", "slurm-worker-2")
    wait_for("the busy one to drain", lambda: slurm.node("worker-2"), lambda s: s == SCALE_IN)
    stays("the busy ones", lambda: first.runs() and last.runs())
    with timed(record_property, "the busy one is gone after its job by"):
        last.end()
        last.ended_well()
        slurm.only_workers("slurm-worker-0")
    slurm.workers({"size": 2})
    slurm.available()
    first.end()
    first.ended_well()
    slurm.idle(2)


def test_a_job_survives_the_end_of_slurmctlds_pod(slurm, record_property):
    job = slurm.start("worker-1")
    with timed(record_property, "sbatch is accepted again after"):
        slurm.kubectl("delete", "pod", SLURMCTLD)
        later = slurm.submit("--chdir=/", "--wrap=hostname")
    slurm.completes(later)
    assert job.runs()
    job.end()
    job.ended_well()
    slurm.available()


@pytest.mark.long
def test_an_update_renews_one_worker_after_the_other_and_waits_for_jobs(slurm, record_property):
    slurm.workers({"size": 3, "maxUnavailable": 1})
    slurm.idle(3)
    slurm.available()
    old, job = uids(slurm), slurm.start("worker-1")
    fewest = len(old)

    def look() -> dict[str, str]:
        nonlocal fewest
        seen = uids(slurm)
        fewest = min(fewest, len(seen))
        return seen

    def left(seen: dict[str, str]) -> set[str]:
        return set(seen.values()) & set(old.values())

    with timed(record_property, "the idle ones are others after"):
        slurm.workers({"slurmd": {"resources": {"memory": "500Mi"}}})
        wait_for(
            "the busy one to be the last",
            look,
            lambda seen: set(seen) == set(old) and left(seen) == {old["worker-1"]},
            240,
        )
    wait_for("the busy one to drain", lambda: slurm.node("worker-1"), lambda s: s == UPDATE)
    assert job.runs()
    assert fewest == 2
    job.end()
    job.ended_well()
    wait_for(
        "all to be others",
        look,
        lambda seen: set(seen) == set(old) and not left(seen),
    )
    slurm.workers({"size": 2, "maxUnavailable": None, "slurmd": {"resources": {"memory": "512Mi"}}})
    slurm.only_workers("slurm-worker-0", "slurm-worker-1")
    slurm.available()
    slurm.idle(2)


@pytest.mark.long
def test_an_image_that_nobody_has_stops_at_the_first_worker_and_can_be_taken_back(slurm):
    old, job = uids(slurm), slurm.start("worker-0")
    image = f"shoal/worker_slurmd:{slurm.series}"
    slurm.workers({"slurmd": {"image": "localhost:1/there-is-none:1"}})
    wait_for(
        "the one without an image", lambda: set(uids(slurm)), lambda seen: seen == {"worker-0"}
    )
    wait_for(
        "words of it", lambda: slurm.part("WorkersAvailable"), lambda c: "mage" in c["message"]
    )
    stays(
        "the one with a job", lambda: job.runs() and uids(slurm) == {"worker-0": old["worker-0"]}, 8
    )
    slurm.workers({"slurmd": {"image": image}})
    slurm.available()
    slurm.idle(1)
    assert uids(slurm)["worker-0"] == old["worker-0"]
    job.end()
    job.ended_well()
    slurm.idle(2)
