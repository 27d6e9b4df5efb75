"""The first job: from objects applied to `srun` on two of three nodes, with images present.

`make bench BENCH=first-job` brings a cluster of its own up (needs root) and takes about four
minutes. Then slurmctld's pod is deleted, and it counts when `sbatch` is accepted again. Every time
is seen from outside, by kubectl exec in a loop, as a user would.
"""

import os
import statistics
import time
from collections.abc import Mapping, Sequence

from bench import Row, report
from bench.measured.slurm_cluster import SLINKY, Place, three_nodes, until

SERIES = "26.05"
REPEATS = int(os.environ.get("BENCH_REPEATS", "5"))
CONTROLLER, WORKER = "slurm-controller-0", "worker-0"
# What is measured, the goal, and what the upstream operator took on two cores.
STEPS: Mapping[str, tuple[str, float, str]] = {
    "sinfo": ("applied, until sinfo answers", 7.0, "12.9 s"),
    "srun": ("applied, until srun -N2 is done", 15.0, "22.7 to 63.4 s"),
    "sbatch": ("slurmctld's pod deleted, until sbatch is accepted", 10.0, "13.9 s"),
}


def main() -> None:
    """Measure and report."""
    found: dict[str, list[float]] = {step: [] for step in STEPS}
    with three_nodes(SERIES) as api:
        for number in range(REPEATS + 1):
            place = Place(api, f"run-{number}")
            took = one_run(place)
            place.remove()
            if number:  # the first one warms caches
                for step, seconds in took.items():
                    found[step].append(seconds)
    rows: list[Row] = [("", "median", "worst", "goal", "upstream")]
    rows += [row(step, found[step]) for step in STEPS]
    figures = {f"{step}_s": statistics.median(seconds) for step, seconds in found.items()}
    figures |= {f"{step}_worst_s": max(seconds) for step, seconds in found.items()}
    title = f"Slurm {SERIES}, three nodes, two workers, {REPEATS} runs"
    report("first-job", {title: rows}, {k: round(v, 2) for k, v in figures.items()})


def one_run(place: Place) -> dict[str, float]:
    """Bring one cluster up, run a job, lose slurmctld; return the seconds of each step."""
    place.prepare()
    text = (SLINKY / "minimal.yaml").read_text()
    began = time.monotonic()
    place.apply(text)
    answered = until(lambda: place.runs(CONTROLLER, "sinfo"))
    # Not in slurmctld's own pod: there an srun that had to wait has hung. Probably its way to the
    # Service and back hides its address, so that slurmctld calls back in vain.
    words = ("timeout", "20", "srun", "--nodes=2", "hostname")
    done = until(lambda: place.runs(WORKER, *words))
    deleted = time.monotonic()
    place.kubectl("delete", "pod", CONTROLLER)
    words = ("timeout", "20", "sbatch", "--output=/dev/null", "--wrap=hostname")
    accepted = until(lambda: place.runs(WORKER, *words))
    return {"sinfo": answered - began, "srun": done - began, "sbatch": accepted - deleted}


def row(step: str, seconds: Sequence[float]) -> Row:
    """Return a line of the table."""
    words, goal, upstream = STEPS[step]
    middle, worst = statistics.median(seconds), max(seconds)
    return (words, f"{middle:.1f} s", f"{worst:.1f} s", f"≤ {goal:g} s", upstream)


if __name__ == "__main__":
    main()
