"""The ground: how long a cluster takes, from nothing and from a cache, and what it weighs.

`make bench BENCH=ground` builds everything in a cache of its own, so it takes as long as a first
`make up`. With SHOAL_BENCH_CACHE set to a filled cache the cold part is left out.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import Row, report
from shoal.host import processes
from shoal.local import images, machines
from shoal.local.bar import Shown, progress
from shoal.local.cluster import Cluster
from shoal.local.down import down
from shoal.local.settings import Settings
from shoal.local.up import Wanted, up

REPEATS = 3
ALL = images.named(["all"])


def main() -> None:
    """Measure and report."""
    scratch = Path(tempfile.mkdtemp(prefix="shoal-bench-"))
    filled = os.environ.get("SHOAL_BENCH_CACHE")
    settings = Settings(
        cache=Path(filled) if filled else scratch / "cache",
        state=scratch / "state",
        environment=dict(os.environ),
    )
    try:
        measure(settings, cold=not filled)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def measure(settings: Settings, *, cold: bool) -> None:
    """Measure with `settings`, whose cache is empty if `cold`."""
    tables: dict[str, list[Row]] = {}
    figures: dict[str, float] = {}
    if cold:
        shown = progress(sys.stderr)
        took, cluster = one_up(settings, shown)
        down(settings, cluster)
        figures["cold_up_s"] = took
        for part, seconds in shown.parts.items():
            figures[f"cold_{part.replace(' ', '_').lower()}_s"] = round(seconds, 1)
        rows = sorted(shown.parts.items(), key=lambda row: -row[1])
        tables["cold up, by part (some side by side)"] = [
            *((part, f"{seconds:.1f} s") for part, seconds in rows),
            ("all of it", f"{took:.1f} s"),
        ]
    warm, loaded = [], []
    for _ in range(REPEATS):
        took, cluster = one_up(settings, progress(sys.stderr), ())
        warm.append(took)
        down(settings, cluster)
        took, cluster = one_up(settings, progress(sys.stderr))
        loaded.append(took)
        weights = weigh(cluster)
        down(settings, cluster)
    alone = [control_plane_alone(settings) for _ in range(REPEATS)]
    three, cluster = one_up(settings, progress(sys.stderr), (), nodes=3)
    ended = timed(lambda: down(settings, cluster))
    figures |= {
        "warm_up_s": median(warm),
        "warm_up_with_all_images_s": median(loaded),
        "warm_up_three_nodes_s": three,
        "down_three_nodes_s": ended,
        "control_plane_only_s": median(alone),
        "memory_bytes": sum(weights.values()),
    }
    tables[f"warm cache, median of {REPEATS}"] = [
        ("one node", f"{figures['warm_up_s']:.1f} s"),
        (f"one node, {len(ALL)} images loaded", f"{figures['warm_up_with_all_images_s']:.1f} s"),
        ("three nodes (one run)", f"{three:.1f} s"),
        ("three nodes down", f"{ended:.1f} s"),
        ("control plane only", f"{figures['control_plane_only_s']:.1f} s"),
    ]
    tables["resident memory, one node"] = [
        *((name, f"{size >> 20} MiB") for name, size in weights.items()),
        ("all", f"{sum(weights.values()) >> 20} MiB"),
    ]
    figures |= {f"memory_{k.replace(' ', '_')}_bytes": float(v) for k, v in weights.items()}
    report("ground", tables, figures)


def one_up(
    settings: Settings, shown: Shown, wanted: tuple[str, ...] = ALL, nodes: int = 1
) -> tuple[float, Cluster]:
    """Bring a cluster up; return the seconds it took and the cluster."""
    began = time.monotonic()
    api = up(settings, Wanted("bench", nodes=nodes, images=wanted), shown)
    return round(time.monotonic() - began, 1), api.cluster


def control_plane_alone(settings: Settings) -> float:
    """Time a control plane's start."""
    began = time.monotonic()
    api = up(settings, Wanted("bench", control_plane_only=True), progress(sys.stderr))
    took = round(time.monotonic() - began, 1)
    down(settings, api.cluster)
    return took


def weigh(cluster: Cluster) -> dict[str, int]:
    """Return each program's resident memory."""
    return {
        f"{machine} {program}": processes.memory_bytes(process)
        for machine, running in machines.every(cluster).items()
        for program, process in sorted(running.programs().items())
    }


def timed(action: Callable[[], None]) -> float:
    """Time one action."""
    began = time.monotonic()
    action()
    return round(time.monotonic() - began, 1)


def median(values: list[float]) -> float:
    """Return the middle value."""
    return round(statistics.median(values), 1)


if __name__ == "__main__":
    main()
