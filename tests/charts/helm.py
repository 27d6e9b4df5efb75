"""Helm as a function: a chart and values give objects."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CHARTS = ROOT / "charts"
Object = dict[str, Any]


class HelmError(Exception):
    """What Helm says when it refuses."""


@dataclass(frozen=True)
class Release:
    """What a chart was rendered to."""

    objects: tuple[Object, ...]

    def every(self, kind: str) -> list[Object]:
        """Return all objects of a kind."""
        return [obj for obj in self.objects if obj["kind"] == kind]

    def one(self, kind: str, name: str = "") -> Object:
        """Return the only object of a kind, or the one of a name."""
        (found,) = (obj for obj in self.every(kind) if name in ("", obj["metadata"]["name"]))
        return found

    @property
    def container(self) -> Object:
        """Return the operator's container."""
        (found,) = self.one("Deployment")["spec"]["template"]["spec"]["containers"]
        return found

    @property
    def names(self) -> set[tuple[str, str]]:
        """Return kinds and names of all objects."""
        return {(obj["kind"], obj["metadata"]["name"]) for obj in self.objects}


@dataclass(frozen=True)
class Helm:
    """The program, with a home where nobody has left any settings."""

    program: Path
    home: Path

    def run(self, *words: str | Path, stdin: str = "") -> str:
        """Return what it prints, or raise what it complains of."""
        done = subprocess.run(
            [self.program, *words],
            env={"HOME": str(self.home)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise HelmError(done.stderr)
        return done.stdout

    def render(
        self,
        values: Mapping[str, Any] | str | None = None,
        *,
        chart: str = "slurm-operator",
        name: str = "slurm-operator",
        namespace: str = "slinky",
    ) -> Release:
        """Return what a chart makes of values, given as data or as text."""
        text = values if isinstance(values, str) else yaml.safe_dump(dict(values or {}))
        return _rendered(self, text, chart, name, namespace)


# The same question has the same answer, and many tests ask for the defaults.
@cache
def _rendered(helm: Helm, values: str, chart: str, name: str, namespace: str) -> Release:
    place = (f"--namespace={namespace}", "--values=-")
    out = helm.run("template", name, CHARTS / chart, *place, stdin=values)
    return Release(tuple(obj for obj in yaml.load_all(out, _LOADER) if obj))


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
