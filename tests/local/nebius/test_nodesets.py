"""NodeSets: workers of several shapes, each scaled, updated and deleted on its own."""

import pytest

from ..clusters import is_ready, wait_for
from ..workers.nodesets import stays, timed

pytestmark = pytest.mark.long
KIND = "nodesets.slurm.nebius.ai"


@pytest.fixture(scope="module")
def shapes(make_site):
    """Give a cluster whose workers are of two NodeSets."""
    made = make_site("nodesets")
    made.apply("nodesets")
    made.available()
    made.idle(3)
    return made


def pods(shapes, name: str) -> set[str]:
    """Name the pods of a NodeSet that are ready."""
    label = f"--selector=slurm.nebius.ai/nodeset={name}"
    return {p["metadata"]["name"] for p in shapes.cluster.get("pods", label) if is_ready(p)}


def test_partitions_and_features_are_those_of_nodesets(shapes):
    said = shapes.run("sinfo", "--noheader", "--Node", "--format=%R %N %f").out
    found = {tuple(line.split()[:2]) for line in said.splitlines()}
    every = {"small-0", "small-1", "large-0"}
    assert found >= {("main", name) for name in every} | {("large", "large-0")}
    assert not found & {("large", "small-0"), ("large", "small-1")}
    assert "big" in said
    assert shapes.run("srun", "--chdir=/", "--constraint=big", "hostname").out.strip() == "large-0"


def test_a_nodesets_own_volume_is_found_in_the_jail_by_its_jobs(shapes):
    shapes.run("srun", "--chdir=/", "--partition=large", "touch", "/scratch/mark")
    assert shapes.run("ls", "/mnt/jail.upper/scratch", pod="large-0").out.split() == ["mark"]
    # The folder is in the jail, for all to see; what is in it is that worker's own.
    elsewhere = ("srun", "--chdir=/", "--nodelist=small-0", "ls", "/scratch")
    assert shapes.run(*elsewhere).out.split() == []


def test_a_nodeset_can_be_scaled_under_jobs(shapes, record_property):
    with timed(record_property, "a second serves after"):
        shapes.kubectl("scale", f"{KIND}/large", "--replicas=2")
        wait_for("two", lambda: pods(shapes, "large"), lambda seen: seen == {"large-0", "large-1"})
        shapes.idle(4)
    # The one whose job may end sooner goes, once that is known.
    kept, busy = shapes.start("large-0", "--time=60"), shapes.start("large-1", "--time=30")
    shapes.kubectl("scale", f"{KIND}/large", "--replicas=1")
    wait_for("it to drain", lambda: shapes.node("large-1"), lambda s: s.startswith("draining|"))
    stays("both jobs", lambda: kept.runs() and busy.runs())
    busy.end()
    busy.ended_well()
    wait_for("one", lambda: pods(shapes, "large"), lambda seen: seen == {"large-0"})
    kept.end()
    kept.ended_well()
    scale = shapes.kubectl("get", f"{KIND}/large", "--subresource=scale", "--output=json").out
    assert "slurm.nebius.ai/nodeset=large" in scale


def test_a_nodeset_that_is_deleted_waits_for_its_job_and_its_partition_stays(shapes):
    job = shapes.start("large-0")
    shapes.kubectl("delete", KIND, "large", "--wait=false")
    wait_for("it to drain", lambda: shapes.node("large-0"), lambda s: s.startswith("draining|"))
    stays("the job", lambda: job.runs() and pods(shapes, "large") == {"large-0"})
    job.end()
    job.ended_well()
    wait_for("it to go", lambda: shapes.cluster.exists(KIND, "large"), lambda there: not there)
    wait_for(
        "words of it",
        lambda: shapes.part("NodeSetRefsResolved"),
        lambda seen: seen["status"] == "False" and "large" in seen["message"],
    )
    shapes.idle(2)
    assert "large" in shapes.run("sinfo", "--noheader", "--format=%R").out.split()
    shapes.completes(shapes.submit("--chdir=/", "--wrap=srun hostname"))


def test_a_cluster_that_is_deleted_waits_for_jobs_on_nodesets(shapes):
    job = shapes.start("small-1")
    shapes.kubectl("delete", "--wait=false", "slurmcluster/slurm", f"{KIND}/small")
    wait_for("the idle to go", lambda: pods(shapes, "small"), lambda seen: seen == {"small-1"})
    stays("the job", job.runs)
    job.end()
    job.ended_well()
    wait_for(
        "all to go",
        lambda: [name for name in shapes.pods() if "jail" not in name],
        lambda seen: not seen,
    )
