"""How many jobs a minute: an array of short jobs in Kubernetes, beside the same Slurm without it.

`make bench BENCH=throughput` brings a cluster of three nodes up (needs root), and a Slurm of bare
processes of the same images on the same machine, one after the other in turns. Both have two
workers with all processors of the machine each, and the scheduler as Slurm has it by default: in
Kubernetes the configuration is what the operator writes for examples/slinky/accounting.yaml.
"""

import os
import secrets
import statistics
import time

from bench import Row, report
from bench.measured.slurm_cluster import SLINKY, Place, secret, three_nodes, until
from shoal.cli.environment import settings
from shoal.local.api import Api
from tests.slurm_lab import Lab, provide
from tests.slurm_lab.conf import Conf
from tests.slurm_lab.lab import Options

SERIES = "26.05"
TASKS = int(os.environ.get("BENCH_TASKS", "1000"))
REPEATS = int(os.environ.get("BENCH_REPEATS", "1"))
ARRAY = ("sbatch", "--parsable", "--output=/dev/null", f"--array=1-{TASKS}", "--wrap=true")
# From within: a look from outside once a second would cost a kubectl each, a tenth of the machine.
REST = (
    *("timeout", "60", "sh", "-c"),
    'while left=$(squeue --noheader --array --format=%i) && [ -n "$left" ]; do sleep 1; done',
)
CONTROLLER = "slurm-controller-0"
TASKS_LINE = "TaskPlugin=task/none"
# Without it a job that does not ask for memory takes all of a node's, and each node has one job.
SHARED = {"DefMemPerCPU": "100"}
# What the lab has otherwise, and the operator leaves at Slurm's default.
AS_OURS = {
    "AuthInfo": "use_client_ids",
    "JobAcctGatherType": "jobacct_gather/none",
    "KillWait": "30",
    "SchedulerParameters": "batch_sched_delay=0",
    **SHARED,
    "MaxNodeCount": "1024",
}


def main() -> None:
    """Measure and report."""
    ours, bare = list[float](), list[float]()
    with three_nodes(SERIES) as api:
        for number in range(REPEATS):
            bare.append(without_kubernetes())
            ours.append(in_kubernetes(api, f"run-{number}"))
    ratio = statistics.median(ours) / statistics.median(bare)
    rows: list[Row] = [
        ("bare processes", f"{statistics.median(bare):.1f} s", ""),
        ("in Kubernetes", f"{statistics.median(ours):.1f} s", ""),
        ("ratio", f"{ratio:.2f}", "≤ 1.1"),
    ]
    figures = {
        "bare_s": round(statistics.median(bare), 1),
        "kubernetes_s": round(statistics.median(ours), 1),
        "ratio": round(ratio, 3),
        "tasks": float(TASKS),
    }
    title = f"Slurm {SERIES}, an array of {TASKS} tasks on two workers, {REPEATS} rounds"
    report("throughput", {title: rows}, figures)


def in_kubernetes(api: Api, name: str) -> float:
    """Run the array on a cluster of the operator's; return the seconds it took."""
    place = Place(api, name)
    place.prepare(secret("mariadb", {"password": secrets.token_hex(16).encode()}))
    place.apply((SLINKY / "mariadb.yaml").read_text())
    more = "".join(f"\n    {key}={value}" for key, value in SHARED.items())
    place.apply((SLINKY / "accounting.yaml").read_text().replace(TASKS_LINE, TASKS_LINE + more))
    until(lambda: place.runs("worker-0", "timeout", "20", "srun", "--nodes=2", "hostname"))
    until(lambda: place.runs(CONTROLLER, "sacctmgr", "--noheader", "show", "cluster"))
    began = time.monotonic()
    place.kubectl("exec", CONTROLLER, "--", *ARRAY)
    until(lambda: place.runs(CONTROLLER, *REST))
    took = time.monotonic() - began
    place.remove()
    return took


def without_kubernetes() -> float:
    """Run the array on bare processes; return the seconds it took."""
    options = Options(workers=2, conf=Conf(AS_OURS))
    with Lab(provide(SERIES, settings()), options) as lab:
        lab.run("srun", "--nodes=2", "hostname", user="401:401")
        began = time.monotonic()
        lab.run(*ARRAY, user="401:401")
        until(lambda: lab.run(*REST, check=False).code == 0)
        return time.monotonic() - began


if __name__ == "__main__":
    main()
