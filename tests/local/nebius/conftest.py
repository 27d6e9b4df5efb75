"""Clusters with a shared root, and one operator for all.

Every story is told in each series of Slurm: in the newest, and in the long run in the oldest too
(`-k 24.11` for that one alone). What was made goes before the next series begins.

SHOAL_ON names a cluster of three nodes in SHOAL_STATE that is used instead of a new one; the
namespaces of the tests go, and it stays.
"""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from shoal.local import images

from ..clusters import Local
from ..slinky.operator import ROOT, Operator, established, install, load
from ..slinky.site import NEWEST
from .site import OLDEST, Rooted, site

KINDS = ("slurmclusters.slurm.nebius.ai", "nodesets.slurm.nebius.ai")
FORCE = "slurm.nebius.ai/force-delete"


@pytest.fixture(scope="session")
def ground(request: pytest.FixtureRequest) -> Local:
    """Give the cluster of three nodes."""
    name = os.environ.get("SHOAL_ON")
    return Local(name, dict(os.environ)) if name else request.getfixturevalue("t3")


@pytest.fixture(scope="package", params=[NEWEST, pytest.param(OLDEST, marks=pytest.mark.long)])
def series(request: pytest.FixtureRequest) -> str:
    """Give the series of Slurm that a story is told in."""
    return str(request.param)


@pytest.fixture(scope="package")
def operator(ground: Local) -> Iterator[Operator]:
    """Give a running operator, which looks after every namespace."""
    load(ground, "mariadb")
    ground.kubectl("apply", "--server-side", "--filename", ROOT / "deploy/crds/nebius")
    established(ground, *(f"crd/{kind}" for kind in KINDS))
    operator = install(ground)
    operator.start()
    yield operator
    operator.stop()
    shutil.rmtree(operator.folder)


MakeSite = Callable[[str], Rooted]


@pytest.fixture(scope="package")
def make_site(
    operator: Operator, series: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeSite]:
    """Give a function that makes namespaces for clusters of a series; they go at the end."""
    load(operator.cluster, *images.JAIL[series])
    made: list[Rooted] = []

    def make(name: str) -> Rooted:
        made.append(site(operator.cluster, series, name, tmp_path_factory.mktemp("site")))
        return made[-1]

    yield make
    for one in made:
        clear(one)
    names = [one.cluster.namespace for one in made]
    if names:
        operator.cluster.kubectl("delete", "namespace", *names, "--timeout=240s")


def clear(one: Rooted) -> None:
    """Let everything in a namespace go, also with jobs: those of a failed test nobody waits for."""
    for kind in KINDS:
        one.kubectl("annotate", kind, "--all", f"{FORCE}=true")


@pytest.fixture(scope="package")
def slurm(make_site: MakeSite) -> Rooted:
    """Give the smallest example for all tests; each leaves it as it was."""
    made = make_site("shared")
    made.apply("minimal")
    made.available()
    made.idle(2)
    return made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the figures that tests recorded."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call" and report.user_properties:
                told = ", ".join(f"{what} {value}" for what, value in report.user_properties)
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {told}")
