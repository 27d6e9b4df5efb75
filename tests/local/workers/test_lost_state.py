"""A slurmctld that has lost what it knew: nobody with a running step is ended by us.

Without its state it is not started, unless the user says so. Nodes that it has lost come back.
"""

import os
import shutil
import signal

import pytest

from ..clusters import kill, wait_for
from ..slinky.site import Site
from .jobs import PATIENCE_S
from .nodesets import Workers, stays, timed
from .processes import processes

# How long an unknown worker is given, and longer.
GRACE_S = 75
# A worker is looked at every few seconds, and one goes at a time.
HEALED_S = 600
POD = "slurm-controller-0"
ACCEPT = "controller.slinky.slurm.net/accept-empty-state"
NOTED = "controller.slinky.slurm.net/has-state"
NO_NODES = "Slurm has no nodes at all"


@pytest.mark.long
def test_a_slurmctld_without_its_state_costs_no_worker_with_a_running_step(
    make_site, record_property
):
    site = make_site("forgetful")
    site.wait("controller/slurm", "restapi/slurm")
    workers = Workers(site, "known")
    workers.make(3)
    idle, busy = (workers.node(0), workers.node(1)), workers.node(2)
    job, old = workers.start(busy), workers.uids()
    forget(site)
    with timed(record_property, "the loss is told after"):
        told(site)
    stays("the step", job.has_steps, 20)
    give_up(site)
    stays("every worker, and the step", lambda: workers.uids() == old and job.has_steps(), GRACE_S)
    # Slurm tells nothing of nodes it has forgotten; one that registers breaks the ice.
    site.kubectl("delete", "pod", idle[0])
    with timed(record_property, "the idle ones serve again after"):
        served(workers, *idle)
    assert job.has_steps()
    assert workers.uids()[busy] == old[busy]
    job.end()
    with timed(record_property, "the busy one serves again after its job by"):
        served(workers, *idle, busy)


@pytest.mark.long
def test_a_slurmctld_whose_volume_is_empty_starts_only_on_the_users_word(
    make_site, record_property
):
    site = make_site("stateless")
    site.wait("controller/slurm")
    wait_for("the state to be noted", lambda: NOTED in notes(site), timeout_s=PATIENCE_S)
    with timed(record_property, "the loss is told after"):
        forget(site, with_pod=True)
        told(site)
    (main,) = site.pod_of("slurmctld")["status"]["containerStatuses"]
    assert "waiting" in main["state"]
    assert main["restartCount"] == 0
    with timed(record_property, "it starts after the word by"):
        give_up(site)
        site.wait("controller/slurm")
    wait_for("the word to be taken away", lambda: ACCEPT not in notes(site), timeout_s=PATIENCE_S)
    assert NOTED in notes(site)


@pytest.mark.long
def test_nodes_that_slurm_has_lost_come_back_and_the_busy_worker_is_left_alone(
    workers, record_property
):
    workers.make(3)
    idle, busy = (workers.node(0), workers.node(1)), workers.node(2)
    job, old = workers.start(busy), workers.uids()
    delete_records(workers.site, *idle)
    with timed(record_property, "the idle ones serve again after"):
        served(workers, *idle)
    assert workers.uids()[busy] == old[busy]
    assert job.runs()
    job.end()
    job.ended_well()


@pytest.mark.long
def test_an_empty_table_of_nodes_costs_no_worker_and_is_told(make_site, record_property):
    site = make_site("emptied")
    site.wait("controller/slurm", "restapi/slurm")
    workers = Workers(site, "lost")
    workers.make(3)
    old, all_ = workers.uids(), [workers.node(number) for number in range(3)]
    delete_records(site, *all_)
    wait_for(
        "word of it",
        lambda: site.condition(f"nodeset/{workers.name}")["message"],
        lambda seen: NO_NODES in seen,
        HEALED_S,  # Slurm does not count a record that is gone as a change
    )
    stays("every worker", lambda: workers.uids() == old, GRACE_S)
    site.kubectl("delete", "pod", all_[0])
    with timed(record_property, "all serve again after one was made anew by hand by"):
        served(workers, *all_)
    assert not set(old.values()) & set(workers.uids().values())


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


def delete_records(site: Site, *nodes: str) -> None:
    """Have Slurm forget nodes whose slurmd runs."""
    site.run("scontrol", "delete", f"nodename={','.join(nodes)}")


def served(workers: Workers, *names: str) -> None:
    """Wait until these workers, and no other, could run a job."""
    wait_for(
        f"{', '.join(names)} to serve again",
        lambda: {name for name, seen in workers.nodes().items() if seen.state == "idle"},
        lambda seen: seen == set(names),
        HEALED_S,
    )
