"""A slurmctld that comes back without its state: nobody with a running step is ended by us."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from ..clusters import below, kill, wait_for
from . import jobs
from .jobs import PATIENCE_S
from .nodesets import Workers, stays, timed

# How long an unknown worker is given, and longer.
GRACE_S = 75


@pytest.mark.long
def test_a_slurmctld_without_its_state_costs_no_worker_with_a_running_step(
    make_site, record_property
):
    site = make_site("forgetful")
    site.wait("controller/slurm", "restapi/slurm")
    workers = Workers(site, "known")
    workers.make(3)
    job, old = jobs.start(site, workers.node(2)), workers.uids()
    forget(site)
    wait_for(
        "word of the lost state",
        lambda: site.condition("controller/slurm"),
        lambda seen: seen.get("reason") == "StateLost",
        PATIENCE_S,
    )
    stays("the step", job.has_steps, 20)
    give_up(site)
    stays("the step", job.has_steps, GRACE_S)
    assert workers.uids()[workers.node(2)] == old[workers.node(2)]
    # Slurm tells nothing of nodes it has forgotten; one that registers breaks the ice.
    site.kubectl("delete", "pod", workers.node(0))
    with timed(record_property, "the idle ones serve again after"):
        wait_for(
            "the idle ones to serve again",
            workers.nodes,
            lambda seen: (
                {n for n, s in seen.items() if s.state == "idle"}
                == {workers.node(0), workers.node(1)}
            ),
            600,
        )
    assert job.has_steps()
    assert workers.uids()[workers.node(2)] == old[workers.node(2)]
    job.end()
    with timed(record_property, "the busy one serves again after its job by"):
        wait_for("all three to serve", workers.nodes, lambda seen: len(seen) == 3, 600)
        workers.serve(3)


def forget(site) -> None:
    """Empty the StateSave of a slurmctld that is killed: its own end would write it again."""
    pod = site.pod_of("slurmctld")
    (pid,) = processes(site.cluster, pod, "slurmctld")
    volume = site.cluster.get("pvc", "statesave-slurm-controller-0")["spec"]["volumeName"]
    os.kill(pid, signal.SIGSTOP)
    for file in (site.cluster.folder / "volumes" / volume).iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    kill(pid)


def give_up(site) -> None:
    """Let slurmctld start on an empty state, as the condition says."""
    words = ("annotate", "controller/slurm", "controller.slinky.slurm.net/accept-empty-state=true")
    site.kubectl(*words)
    wait_for(
        "a slurmctld that knows nobody",
        lambda: site.run("sinfo", "--noheader", "--format=%n", check=False),
        lambda done: done.code == 0 and not done.out.strip(),
        PATIENCE_S,
    )


def processes(cluster, pod, program) -> list[int]:
    """Return the processes of a program in a pod, as this machine knows them."""
    inside = f"/pod{pod['metadata']['uid']}/"
    return [
        pid
        for pid in below(cluster.first_processes()[pod["spec"]["nodeName"]])
        if Path(f"/proc/{pid}/comm").read_text().strip() == program
        and inside in Path(f"/proc/{pid}/cgroup").read_text()
    ]
