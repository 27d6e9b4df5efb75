"""What slurmctld may lose while workers are there, and what becomes of these."""

import os
import shutil
import signal
import time

import pytest

from ..clusters import kill, wait_for
from ..slinky.site import Site
from . import upheavals
from .jobs import PATIENCE_S, start
from .nodesets import SCALE_IN, Record, Workers, stays, timed
from .processes import processes

POD = "slurm-controller-0"
ACCEPT = "controller.slinky.slurm.net/accept-empty-state"
NOTED = "controller.slinky.slurm.net/has-state"
NO_NODES = "Slurm has no nodes at all"
# How long an unknown worker is given, and longer.
GRACE_S = 75
# By then a slurmd that slurmctld asked when it began has answered.
ASKED_S, TRIES = 5, 6
# A worker is looked at every few seconds, and one goes at a time.
HEALED_S = 600


def restarted(workers: Workers, record: Record) -> None:
    """Have slurmctld's pod deleted while workers are scaled in."""
    interrupted(workers, upheavals.slurmctld_deleted, 0, record)


def interrupted(
    workers: Workers, upheaval: upheavals.Upheaval, seconds: float, record: Record
) -> None:
    """Scale to zero with jobs on two of three, and let something happen meanwhile."""
    site = workers.site
    workers.make(3)
    busy = [workers.node(0), workers.node(1)]
    job, short = start(site, busy[0]), start(site, busy[1])
    with upheaval(site, seconds):
        workers.scale(0)
        short.end()
    with timed(record, "those without jobs are gone afterwards by"):
        workers.only(busy[0])
    short.ended_well()
    workers.drains(busy[0], SCALE_IN)
    stays("the worker with a job", lambda: busy[0] in workers.pods() and job.runs(), 3)
    with timed(record, "the last is gone after its job by"):
        job.end()
        job.ended_well()
        workers.only()


def emptied(workers: Workers, record: Record) -> None:
    """Scale in after somebody had Slurm forget all nodes: nobody knows then who has jobs."""
    site = workers.site
    workers.make(2)
    old = workers.uids()
    delete_records(site, *old)
    with timed(record, "it is told after"):
        # Slurm does not count a record that is gone as a change; whoever drains looks anew.
        workers.scale(1)
        no_nodes(workers, PATIENCE_S)
    stays("every worker", lambda: workers.uids() == old, 20)
    # Idle ones, made anew by hand as the condition says.
    site.kubectl("delete", "pod", *workers.pods())
    with timed(record, "the one that is left serves again after"):
        workers.only(workers.node(0))
        workers.serve(1)


def forgotten(workers: Workers, record: Record) -> None:
    """Take slurmctld's state away under a running step."""
    workers.make(2)
    job, old = workers.start(workers.node(0)), workers.uids()
    forget(workers.site)
    with timed(record, "the loss is told after"):
        told(workers.site)
    stays("every worker, and the step", lambda: workers.uids() == old and job.has_steps(), 15)
    job.end()


def given_up(workers: Workers, record: Record) -> None:
    """Start slurmctld on an empty state by the user's word, under a running step."""
    site = workers.site
    workers.make(3)
    idle, busy = (workers.node(0), workers.node(1)), workers.node(2)
    job, old = workers.start(busy), workers.uids()
    forget(site)
    with timed(record, "the loss is told after"):
        told(site)
    stays("the step", job.has_steps, 20)
    give_up(site)
    stays("every worker, and the step", lambda: workers.uids() == old and job.has_steps(), GRACE_S)
    # Slurm tells nothing of nodes it has forgotten; one that registers breaks the ice.
    site.kubectl("delete", "pod", idle[0])
    with timed(record, "the idle ones serve again after"):
        served(workers, *idle)
    assert job.has_steps()
    assert workers.uids()[busy] == old[busy]
    job.end()
    with timed(record, "the busy one serves again after its job by"):
        served(workers, *idle, busy)


def volume_emptied(workers: Workers, record: Record) -> None:
    """Take slurmctld's state away with its pod: nothing but the user's word starts it."""
    site = workers.site
    wait_for("the state to be noted", lambda: NOTED in notes(site), timeout_s=PATIENCE_S)
    with timed(record, "the loss is told after"):
        forget(site, with_pod=True)
        told(site)
    (main,) = site.pod_of("slurmctld")["status"]["containerStatuses"]
    assert "waiting" in main["state"]
    assert main["restartCount"] == 0
    with timed(record, "it starts after the word by"):
        give_up(site)
        site.wait("controller/slurm")
    wait_for("the word to be taken away", lambda: ACCEPT not in notes(site), timeout_s=PATIENCE_S)
    assert NOTED in notes(site)


def some_lost(workers: Workers, record: Record) -> None:
    """Have Slurm forget two of three workers while the third has a job."""
    workers.make(3)
    idle, busy = (workers.node(0), workers.node(1)), workers.node(2)
    job, old = workers.start(busy), workers.uids()
    delete_records(workers.site, *idle)
    with timed(record, "the idle ones serve again after"):
        served(workers, *idle)
    assert workers.uids()[busy] == old[busy]
    assert job.runs()
    job.end()
    job.ended_well()


def all_lost(workers: Workers, record: Record) -> None:
    """Have Slurm forget every worker, and make one anew by hand."""
    workers.make(3)
    old, all_ = workers.uids(), [workers.node(number) for number in range(3)]
    delete_records(workers.site, *all_)
    # Slurm does not count a record that is gone as a change.
    no_nodes(workers, HEALED_S)
    stays("every worker", lambda: workers.uids() == old, GRACE_S)
    workers.site.kubectl("delete", "pod", all_[0])
    with timed(record, "all serve again after one was made anew by hand by"):
        served(workers, *all_)
    assert not set(old.values()) & set(workers.uids().values())


# -- what it takes


def delete_records(site: Site, *nodes: str) -> None:
    """Have Slurm forget nodes whose slurmd runs, for good."""
    left = set(nodes)
    for _ in range(TRIES):
        site.run("scontrol", "delete", f"nodename={','.join(sorted(left))}")
        # A slurmctld that has just begun asks every slurmd who it is, and so knows it again.
        time.sleep(ASKED_S)
        known = site.run("sinfo", "--noheader", "--Node", "--format=%N", check=False).out
        left = set(nodes) & set(known.split())
        if not left:
            return
    pytest.fail(f"Slurm knows again, after it was told {TRIES} times to forget: {sorted(left)}")


def no_nodes(workers: Workers, timeout_s: float) -> None:
    """Wait until the NodeSet says that Slurm has no nodes."""
    wait_for(
        "word of the empty table",
        lambda: workers.site.condition(f"nodeset/{workers.name}").get("message", ""),
        lambda seen: NO_NODES in seen,
        timeout_s,
    )


def forget(site: Site, *, with_pod: bool = False) -> None:
    """Empty the StateSave of a slurmctld that is killed: its own end would write it again."""
    (pid,) = processes(site.cluster, site.pod_of("slurmctld"), "slurmctld")
    volume = site.cluster.get("pvc", f"statesave-{POD}")["spec"]["volumeName"]
    os.kill(pid, signal.SIGSTOP)
    if with_pod:
        # A process that is stopped does not hear that it shall end: after a second it is killed.
        site.kubectl("delete", "pod", POD, "--grace-period=1", "--wait=false")
    for file in (site.cluster.folder / "volumes" / volume).iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    if not with_pod:
        kill(pid)


def told(site: Site) -> None:
    """Wait until the Controller says that its state is lost, and what to do."""
    seen = wait_for(
        "word of the lost state",
        lambda: site.condition("controller/slurm"),
        lambda seen: seen.get("reason") == "StateLost",
        PATIENCE_S,
    )
    assert seen["status"] == "False"
    assert f"{ACCEPT}=true" in seen["message"]


def give_up(site: Site) -> None:
    """Let slurmctld start on an empty state, as the condition says."""
    site.kubectl("annotate", "controllers.slinky.slurm.net", "slurm", f"{ACCEPT}=true")
    wait_for(
        "a slurmctld that knows nobody",
        lambda: site.run("sinfo", "--noheader", "--format=%n", check=False),
        lambda done: done.code == 0 and not done.out.strip(),
        PATIENCE_S,
    )


def notes(site: Site) -> dict[str, str]:
    """Return the annotations of the Controller."""
    found: dict[str, str] = site.cluster.get("controller", "slurm")["metadata"]["annotations"]
    return found


def served(workers: Workers, *names: str) -> None:
    """Wait until these workers, and no other, could run a job."""
    wait_for(
        f"{', '.join(names)} to serve again",
        lambda: {name for name, seen in workers.nodes().items() if seen.state == "idle"},
        lambda seen: seen == set(names),
        HEALED_S,
    )
