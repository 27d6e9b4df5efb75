"""slurmctld is never started on an empty state where there was one without the user's word."""

import os
import shutil
import signal

import pytest

from ..clusters import wait_for
from .jobs import PATIENCE_S
from .nodesets import timed
from .test_lost_state import processes

POD = "slurm-controller-0"
ACCEPT = "controller.slinky.slurm.net/accept-empty-state"


@pytest.mark.long
def test_a_slurmctld_whose_volume_is_empty_starts_only_on_the_users_word(
    make_site, record_property
):
    site = make_site("stateless")
    site.wait("controller/slurm")
    noted = "controller.slinky.slurm.net/has-state"
    wait_for(
        "the state to be noted",
        lambda: site.cluster.get("controller", "slurm")["metadata"].get("annotations", {}),
        lambda notes: noted in notes,
        PATIENCE_S,
    )
    with timed(record_property, "the loss is told after"):
        lose(site)
        told = wait_for(
            "the condition",
            lambda: site.condition("controller/slurm"),
            lambda seen: seen.get("reason") == "StateLost",
            PATIENCE_S,
        )
    assert told["status"] == "False"
    assert f"{ACCEPT}=true" in told["message"]
    (main,) = site.pod_of("slurmctld")["status"]["containerStatuses"]
    assert "waiting" in main["state"]
    assert main["restartCount"] == 0
    with timed(record_property, "it starts after the word by"):
        site.kubectl("annotate", "controllers.slinky.slurm.net", "slurm", f"{ACCEPT}=true")
        site.wait("controller/slurm")
    notes = wait_for(
        "the word to be taken away",
        lambda: site.cluster.get("controller", "slurm")["metadata"]["annotations"],
        lambda seen: ACCEPT not in seen,
        PATIENCE_S,
    )
    assert noted in notes


def lose(site) -> None:
    """Empty the volume while slurmctld is stopped, and end it so that it cannot write it again."""
    pod = site.pod_of("slurmctld")
    (pid,) = processes(site.cluster, pod, "slurmctld")
    volume = site.cluster.get("pvc", "statesave-slurm-controller-0")["spec"]["volumeName"]
    os.kill(pid, signal.SIGSTOP)
    # A process that is stopped does not hear that it shall end: after a second it is killed.
    site.kubectl("delete", "pod", POD, "--grace-period=1", "--wait=false")
    for file in (site.cluster.folder / "volumes" / volume).iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()
