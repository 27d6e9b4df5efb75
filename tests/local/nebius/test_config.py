"""Partitions and configuration of a cluster that runs: the good is used, the bad is told."""

from ..clusters import wait_for
from .site import SLURMCTLD

EXTRA = "MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"


def restarts(slurm) -> set[int]:
    """Return how often slurmctld's containers were restarted."""
    return {s["restartCount"] for s in slurm.pods()[SLURMCTLD]["status"]["containerStatuses"]}


def partitions(slurm) -> set[str]:
    return set(slurm.run("sinfo", "--noheader", "--format=%R", check=False).out.split())


def test_partitions_change_under_a_job_and_slurmctld_goes_on(slurm):
    before = slurm.pods()[SLURMCTLD]["metadata"]["uid"]
    job = slurm.start("worker-0")
    lines = [
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=short Nodes=ALL MaxTime=10 State=UP",
    ]
    custom = {"configType": "custom", "rawConfig": lines}
    slurm.change({"partitionConfiguration": custom})
    wait_for("the partition", lambda: partitions(slurm), lambda seen: seen == {"main", "short"})
    slurm.completes(slurm.submit("--chdir=/", "--partition=short", "--wrap=srun hostname"))
    slurm.change({"partitionConfiguration": {"configType": "default", "rawConfig": None}})
    wait_for("it to go", lambda: partitions(slurm), lambda seen: "short" not in seen)
    assert job.runs()
    assert slurm.pods()[SLURMCTLD]["metadata"]["uid"] == before
    job.end()
    job.ended_well()
    slurm.available()


def test_a_good_line_is_used_and_a_bad_one_told_in_slurms_words(slurm):
    before = slurm.pods()[SLURMCTLD]["metadata"]["uid"]
    slurm.change({"customSlurmConfig": f"{EXTRA}KillWait=17\n"})
    wait_for(
        "slurmctld to have the new line",
        lambda: slurm.run("scontrol", "show", "config", check=False),
        lambda seen: "= 17 sec" in seen.out,
    )
    slurm.change({"customSlurmConfig": f"{EXTRA}KillWait=18\nSchedulerType=sched/no\n"})
    wait_for(
        "the refusal",
        lambda: slurm.part("ControllersAvailable"),
        lambda seen: seen["status"] == "False" and "sched/no" in seen["message"],
    )
    assert slurm.pods()[SLURMCTLD]["metadata"]["uid"] == before
    assert restarts(slurm) == {0}
    slurm.completes(slurm.submit("--chdir=/", "--wrap=hostname"))
    slurm.change({"customSlurmConfig": EXTRA})
    slurm.available()
    wait_for(
        "slurmctld to be without",
        lambda: slurm.run("scontrol", "show", "config", check=False),
        lambda seen: "= 30 sec" in seen.out,
    )
