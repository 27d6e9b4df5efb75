"""What is done to workers with jobs on them, step by step; each ends with every job ended well."""

from collections.abc import Mapping

from ..clusters import wait_for
from . import jobs
from .jobs import PATIENCE_S
from .nodesets import SCALE_IN, UPDATE, Record, Workers, stays, timed

MANY = 60
NO_IMAGE = "localhost:1/there-is-none:1"


def scale_in(workers: Workers, record: Record) -> None:
    """Scale to one, to zero and back while two of three have jobs."""
    sooner, later = workers.node(1), workers.node(2)
    workers.make(3)
    first = jobs.start(workers.site, sooner, "--time=30")
    last = jobs.start(workers.site, later, "--time=60")
    with timed(record, "to one, the idle is gone after"):
        workers.scale(1)
        workers.only(sooner, later)
    # What was read of the jobs may be older than they are, and the choice be another at first.
    workers.drains(sooner, SCALE_IN)
    wait_for(
        f"{later} to be kept",
        lambda: workers.node_of(later).state,
        lambda state: state in ("mixed", "allocated"),
    )
    assert first.runs()
    with timed(record, "to one, the busy is gone after its job by"):
        first.end()
        first.ended_well()
        workers.only(later)
    workers.scale(0)
    workers.drains(later, SCALE_IN)
    stays("the last worker with a job", lambda: later in workers.pods() and last.runs())
    with timed(record, "to zero, the busy is gone after its job by"):
        last.end()
        last.ended_well()
        workers.only()
    with timed(record, "back to two after"):
        workers.scale(2)
        workers.serve(2)


def rollout(workers: Workers, record: Record) -> None:
    """Renew three workers while one has a job."""
    workers.make(3)
    busy, others = workers.node(2), (workers.node(0), workers.node(1))
    job = jobs.start(workers.site, busy)
    old = workers.uids()
    workers.renew("second")
    with timed(record, "the idle ones serve anew after"):
        workers.renewed(old, *others)
    workers.drains(busy, UPDATE)
    assert job.runs()
    assert workers.uids()[busy] == old[busy]
    with timed(record, "all serve anew after the job by"):
        job.end()
        job.ended_well()
        wait_for(
            "the busy one to be another",
            lambda: workers.uids().get(busy),
            lambda uid: uid not in (None, old[busy]),
            PATIENCE_S,
        )
        workers.serve(3)
    assert not set(old.values()) & set(workers.uids().values())


def bad_image(workers: Workers, record: Record) -> None:
    """Ask for an image that nobody has, and take it back."""
    workers.make(3)
    job = jobs.start(workers.site, workers.node(2))
    old = workers.uids()
    # The rest of the spec stays as it is, so that going back is going back.
    image = f"shoal/slurmd:{workers.site.series}"
    workers.site.patch(f"nodeset/{workers.name}", {"slurmd": {"image": NO_IMAGE}})
    with timed(record, "the first is without an image after"):
        wait_for("a worker without an image", lambda: _without_image(workers), timeout_s=PATIENCE_S)
    stays("the others", lambda: len(_left(workers, old)) == 2 == len(workers.pods()) - 1, 10)
    assert job.runs()
    (lame,) = _without_image(workers)
    cause = f"no more than 1 of 3 may be out of service: {lame}: the pod does not come up"
    wait_for(
        f"word of {lame}",
        lambda: workers.site.condition(f"nodeset/{workers.name}")["message"],
        lambda told: cause in told,
    )
    with timed(record, "gone back after"):
        workers.site.patch(f"nodeset/{workers.name}", {"slurmd": {"image": image}})
        workers.serve(3)
    left = _left(workers, old)
    assert len(left) == 2
    assert workers.node(2) in left
    job.end()
    job.ended_well()


def _without_image(workers: Workers) -> list[str]:
    return [
        name
        for name, pod in workers.pods().items()
        for status in pod["status"].get("initContainerStatuses", [])
        if status["state"].get("waiting", {}).get("reason") in ("ErrImagePull", "ImagePullBackOff")
    ]


def _left(workers: Workers, old: Mapping[str, str]) -> set[str]:
    return {name for name, uid in workers.uids().items() if old[name] == uid}


def deletion(workers: Workers, record: Record) -> None:
    """Delete the NodeSet while one worker has a job and slurmctld remembers one of the other."""
    site = workers.site
    workers.make(2)
    busy, idle = workers.node(0), workers.node(1)
    past = site.submit(f"--partition={workers.name}", f"--nodelist={idle}", "--wrap=hostname")
    site.completes(past)
    job = jobs.start(site, busy)
    with timed(record, "the idle is gone after"):
        site.kubectl("delete", "nodeset", workers.name, "--wait=false")
        workers.only(busy)
    stays("the worker with a job", lambda: busy in workers.pods() and job.runs())
    with timed(record, "all is gone after the job by"):
        job.end()
        job.ended_well()
        wait_for(
            "the NodeSet to go",
            lambda: site.cluster.exists("nodeset", workers.name),
            lambda there: not there,
            PATIENCE_S,
        )
        words = ("sinfo", "--noheader", "--all", "--format=%R %N")
        wait_for(
            "Slurm to forget it",
            lambda: site.run(*words, check=False),
            lambda done: done.code == 0 and workers.name not in done.out,
            PATIENCE_S,
        )
        nodes = site.run("scontrol", "show", "nodes", "--oneliner", check=False).out
        assert f"NodeName={workers.name}-" not in nodes
    assert site.state(past) == "COMPLETED"
    job.ended_well()


def whole_cluster(workers: Workers, record: Record, text: str) -> None:
    """Delete everything at once, as `kubectl delete -f` does, while one worker has a job."""
    site = workers.site
    workers.make(2)
    job = jobs.start(site, workers.node(0))
    with timed(record, "the idle is gone after"):
        site.kubectl("delete", "--wait=false", f"nodeset/{workers.name}")
        site.kubectl("delete", "--wait=false", "--filename=-", stdin=text)
        workers.only(workers.node(0))
    stays("the job of a cluster that is deleted", job.runs, 8)
    with timed(record, "all is gone after the job by"):
        job.end()
        job.ended_well()
        words = ("get", "nodesets,controllers,restapis,pods", "--output=name")
        wait_for(
            "everything to go",
            lambda: site.kubectl(*words).out,
            lambda seen: not seen,
            PATIENCE_S,
        )


def stream(workers: Workers, record: Record) -> None:
    """Renew all workers while short jobs come to whoever is free, so that some come just then."""
    workers.make(3)
    site, old = workers.site, workers.uids()
    words = (f"--partition={workers.name}", f"--array=1-{MANY}", "--wrap=sleep 2")
    number = site.submit(*words)
    workers.renew("second")
    # Slurm forgets the first ones, where the last come minutes later.
    ended: dict[str, tuple[str, str]] = {}
    with timed(record, f"all are renewed and {MANY} jobs have ended after"):
        wait_for(
            "the end of every job",
            lambda: ended.update(jobs.ended(site, number)) or len(ended),
            lambda seen: seen == MANY,
            PATIENCE_S,
        )
        wait_for(
            "every worker to be another",
            workers.uids,
            lambda seen: len(seen) == 3 and not set(seen.values()) & set(old.values()),
            PATIENCE_S,
        )
        workers.serve(3)
    again = [task for task, how in ended.items() if how != ("COMPLETED", "0")]
    assert not again, jobs.said_of(site, number, again)
