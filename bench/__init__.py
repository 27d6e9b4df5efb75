"""Figures, never tests: each module prints a table for people and one last line of JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

Row = Sequence[str]


def report(name: str, tables: Mapping[str, Sequence[Row]], figures: Mapping[str, float]) -> None:
    """Print `tables` by title, each row a label and its values, then the figures as JSON."""
    console = Console(width=100)
    console.print(f"machine: {machine()}", highlight=False)
    for title, rows in tables.items():
        table = Table(title=title, title_justify="left", show_header=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    print(json.dumps({"bench": name, "figures": dict(figures)}))


def machine() -> str:
    """Describe this machine: cores, memory, kernel."""
    words = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    memory = int(words["MemTotal"].split()[0]) >> 20
    cores = Path("/proc/cpuinfo").read_text().count("processor\t:")
    kernel = Path("/proc/sys/kernel/osrelease").read_text().strip()
    return f"{cores} cores, {memory} GiB, Linux {kernel}"
