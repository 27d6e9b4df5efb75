"""An operator at scale: 0 → N workers, settled, steady, N → 0, against a bare client.

`make bench BENCH=scale` measures ours; `python -m bench.scale --operator "CMD ..."` any operator of
the same kinds, which is given KUBECONFIG in its environment. The nodes are kwok's, slurmctld and
slurmrestd are real (tests/slurm_lab; needs root), and the workers' records are in Slurm before the
pods are. BENCH_QUICK=1 takes 100 workers and about two minutes.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import Row, report
from bench.measured.bare import Bare
from bench.measured.scale_audit import by_kind
from bench.measured.scale_ground import Ground, ground, prepare
from bench.measured.scale_objects import SPACE
from bench.measured.scale_operator import Command, operator
from bench.measured.scale_race import Floor, Race

OURS = (
    f"{sys.executable} -c 'from shoal.cli.main import main; main()' operator --no-enable-webhooks"
    f" --health-addr=0 --metrics-addr=0 --leader-elect-namespace={SPACE}"
)
OUR_CRDS = Path(__file__).parents[1] / "deploy/crds/slinky"
UNIT, MANY = 1000, 5000  # workers that the targets are about


@dataclass
class Bench:
    """What was found so far."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    async def run(self, race: Race, crds: Path, floor: Floor) -> None:
        """Race once, between two runs of the bare client."""
        size = race.workers
        await prepare(race.ground, race.bare, crds, size)
        await race.prelude()
        say(f"{size} workers: {race.ground.states()} in Slurm")
        asked = floor is not Floor.NONE
        floors = [await race.floor("floor-before", floor)] if asked else []
        async with operator(race.command) as running:
            idle = running.memory_bytes()
            up, settled = await race.grow(running)
            say(f"{size} workers: up after {up.wall_s:.1f} s")
            steady = await race.rest(running)
            held = running.memory_bytes()
            down, cleared = await race.shrink(running)
            say(f"{size} workers: down after {down.wall_s:.1f} s")
        if asked:
            floors.append(await race.floor("floor-after", floor))
            self.compare(size, floors, up.wall_s)
        minute = 60 / steady.wall_s
        self.figures |= {
            f"{name}_{size}{unit}": round(value, 3)
            for name, unit, value in (
                ("idle_memory", "_bytes", idle),
                ("up_wall", "_s", up.wall_s),
                ("up_cpu", "_s", up.cpu_s),
                ("settled_wall", "_s", settled.wall_s),
                ("settled_cpu", "_s", settled.cpu_s),
                ("settled_calls", "", len(settled.calls)),
                ("settled_rpcs", "", sum(settled.rpcs.values())),
                ("settled_peak", "_bytes", settled.peak_bytes),
                ("steady_cpu", "_s", minute * steady.cpu_s),
                ("steady_writes", "", minute * steady.writes),
                ("steady_calls", "", minute * len(steady.calls)),
                ("steady_rpcs", "", minute * sum(steady.rpcs.values())),
                ("steady_reads", "", minute * steady.reads),
                ("steady_slurmrestd_cpu", "_s", minute * steady.slurmrestd_cpu_s),
                ("steady_memory", "_bytes", held),
                ("down_sent", "_s", down.last_s("delete", "pods")),
                ("down_wall", "_s", down.wall_s),
                ("down_cpu", "_s", down.cpu_s),
                ("down_settled_wall", "_s", cleared.wall_s),
                ("down_settled_cpu", "_s", cleared.cpu_s),
                ("down_calls", "", len(cleared.calls)),
                ("down_rpcs", "", sum(cleared.rpcs.values())),
                ("down_peak", "_bytes", cleared.peak_bytes),
            )
        }
        self.describe(size)
        phases = {"0 → all, settled": settled, "steady": steady, "all → 0, settled": cleared}
        self.tables[f"{size} workers, who was asked what"] = [
            row
            for phase, taken in phases.items()
            for row in (
                (f"{phase}: API server", listed(by_kind(taken.calls))),
                (f"{phase}: slurmctld", listed(Counter(taken.rpcs))),
            )
        ]

    def compare(self, size: int, floors: Sequence[Mapping[str, float]], up_wall_s: float) -> None:
        """Write what the bare client took, on the mean, and how the operator compares."""
        mean = {name: sum(told[name] for told in floors) / len(floors) for name in floors[0]}
        ratio = up_wall_s / mean["wall_s"]
        told = {f"floor_{name.removesuffix('_s')}_{size}_s": value for name, value in mean.items()}
        told[f"up_wall_ratio_{size}"] = ratio
        self.figures |= {name: round(value, 3) for name, value in told.items()}
        walls = ", ".join(f"{one['wall_s']:.1f}" for one in floors)
        rows = {"running_s": "its pods all run after", "gone_s": "its pods deleted and gone after"}
        self.tables[f"{size} workers, beside a bare client"] = [
            ("bare client, wall, before and after", f"{walls} s", ""),
            ("bare client, CPU", f"{mean['cpu_s']:.2f} s", ""),
            *((words, f"{mean[name]:.1f} s", "") for name, words in rows.items() if name in mean),
            ("0 → all, wall, to the bare client", f"{ratio:.2f}", "≤ 1.6"),
        ]

    def describe(self, size: int) -> None:
        """Write the table of one size."""

        def of(name: str) -> float:
            return self.figures[name.replace("#", str(size))]

        def target(name: str, most: float | None, unit: str = "") -> str:
            """Return what is wanted: of many workers, the figure of 1,000 by their number."""
            if size <= UNIT:
                return "" if most is None else f"≤ {most:g}{unit}"
            base = self.figures.get(name.replace("#", str(UNIT)))
            return "" if base is None else f"≤ {1.2 * base * size / UNIT:.1f}{unit}"

        self.tables[f"{size} workers"] = [
            ("idle, memory", mb(of("idle_memory_#_bytes")), ""),
            ("0 → all, wall", f"{of('up_wall_#_s'):.1f} s", target("up_wall_#_s", None, " s")),
            ("0 → all, CPU", f"{of('up_cpu_#_s'):.2f} s", target("up_cpu_#_s", 6, " s")),
            ("settled, wall", f"{of('settled_wall_#_s'):.1f} s", ""),
            (
                "settled, CPU",
                f"{of('settled_cpu_#_s'):.2f} s",
                target("settled_cpu_#_s", None, " s"),
            ),
            (
                "settled, API calls",
                f"{of('settled_calls_#'):.0f}",
                target("settled_calls_#", 2200),
            ),
            ("settled, slurmctld RPCs", f"{of('settled_rpcs_#'):.0f}", ""),
            ("settled, peak memory", mb(of("settled_peak_#_bytes")), ""),
            ("steady, a minute: CPU", f"{of('steady_cpu_#_s'):.2f} s", "≤ 1 s"),
            ("steady, writes beside the Lease", f"{of('steady_writes_#'):.1f}", "0"),
            ("steady, API calls", f"{of('steady_calls_#'):.1f}", ""),
            ("steady, slurmctld RPCs", f"{of('steady_rpcs_#'):.1f}", ""),
            (
                "steady, slurmrestd reads",
                f"{of('steady_reads_#'):.1f}",
                "≤ 4" if size > UNIT else "",
            ),
            ("steady, CPU of slurmrestd", f"{of('steady_slurmrestd_cpu_#_s'):.2f} s", ""),
            ("steady, memory", mb(of("steady_memory_#_bytes")), "≤ 250 MB" if size <= MANY else ""),
            ("all → 0, the last delete", f"{of('down_sent_#_s'):.1f} s", ""),
            (
                "all → 0, wall",
                f"{of('down_wall_#_s'):.1f} s",
                target("down_wall_#_s", 15, " s"),
            ),
            ("all → 0, CPU", f"{of('down_cpu_#_s'):.2f} s", target("down_cpu_#_s", 6, " s")),
            ("all → 0, settled, CPU", f"{of('down_settled_cpu_#_s'):.2f} s", ""),
            ("all → 0, API calls", f"{of('down_calls_#'):.0f}", ""),
            ("all → 0, slurmctld RPCs", f"{of('down_rpcs_#'):.0f}", ""),
            ("all → 0, peak memory", mb(of("down_peak_#_bytes")), ""),
        ]


def listed(counts: Counter[str]) -> str:
    """Return counts in words, the many first."""
    return ", ".join(f"{number} {name}" for name, number in counts.most_common()) or "nothing"


def mb(size: float) -> str:
    """Return bytes in words."""
    return f"{size / 1e6:.0f} MB"


def say(text: str) -> None:
    """Tell whoever waits."""
    print(text, file=sys.stderr, flush=True)


async def measure(bench: Bench, made: Ground, options: argparse.Namespace, workers: int) -> None:
    """Measure with one number of workers."""
    command = Command(options.operator, made.kubeconfig, made.hosts, options.log, dict(os.environ))
    async with Bare(made.api.cluster.kubeconfig) as bare:
        one = Race(made, bare, command, workers, options.steady_s, options.records)
        await bench.run(one, options.crds, Floor(options.floor))


def main() -> None:
    """Measure and report."""
    quick = bool(os.environ.get("BENCH_QUICK"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operator", default=OURS, help="the command line of an operator")
    parser.add_argument("--crds", type=Path, default=OUR_CRDS, help="a folder with its kinds")
    parser.add_argument("--workers", default="100" if quick else "1000,5000", help="how many, each")
    parser.add_argument("--steady-s", type=float, default=20.0 if quick else 120.0)
    parser.add_argument(
        "--log", type=Path, default=Path("/dev/null"), help="what the operator says"
    )
    parser.add_argument("--records", default="CLOUD", help="the state of Slurm's node records")
    floors, words = [floor.value for floor in Floor], "what the bare client does"
    parser.add_argument("--floor", choices=floors, default=Floor.WHOLE.value, help=words)
    options = parser.parse_args()
    # Asked to end, it still clears up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench = Bench()
    for workers in map(int, options.workers.split(",")):
        with ground(workers) as made:
            asyncio.run(measure(bench, made, options, workers))
        # At once: the next number may take half an hour, and somebody's patience.
        report("scale", bench.tables, bench.figures)
        bench.tables.clear()


if __name__ == "__main__":
    main()
