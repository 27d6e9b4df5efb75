"""Slurm clusters whose workers come and go while their jobs run, and one operator for all.

SHOAL_ON names a cluster of three nodes in SHOAL_STATE that is used instead of a new one; the
namespaces of the tests go, and it stays. SHOAL_SERIES is the Slurm to test with, the newest by
default.
"""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from shoal.local import images

from ..clusters import Local
from ..slinky.operator import Operator, install, load
from ..slinky.site import NEWEST, Site, site
from .nodesets import Workers

SERIES = os.environ.get("SHOAL_SERIES", NEWEST)
NAMED = "  clusterName: demo\n"
FORCE = "nodeset.slinky.slurm.net/force-delete"
NAMES = pytest.StashKey[Iterator[int]]()


@pytest.fixture(scope="session")
def ground(request: pytest.FixtureRequest) -> Local:
    """Give the cluster of three nodes."""
    name = os.environ.get("SHOAL_ON")
    return Local(name, dict(os.environ)) if name else request.getfixturevalue("t3")


@pytest.fixture(scope="package")
def operator(ground: Local) -> Iterator[Operator]:
    """Give a running operator, which looks after every namespace."""
    load(ground, *images.SLURM[SERIES])
    operator = install(ground)
    operator.start()
    yield operator
    operator.stop()
    shutil.rmtree(operator.folder)


MakeSite = Callable[..., Site]


@pytest.fixture(scope="package")
def make_site(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSite]:
    """Give a function that makes Slurm clusters without workers; they go at the end."""
    made: list[Site] = []

    def make(name: str, *lines: str, in_place: bool = False, series: str = SERIES) -> Site:
        if series != SERIES:
            load(operator.cluster, *images.SLURM[series])
        one = site(operator.cluster, series, name, tmp_path_factory.mktemp("site"))
        made.append(one)
        one.keys()
        text = slurm(one, *lines)
        if in_place:
            text = text.replace(NAMED, f"{NAMED}  inplaceReconfigure: true\n")
        one.kubectl("apply", "--filename=-", stdin=text)
        return one

    yield make
    for one in made:
        # Jobs of a test that failed are waited for by nobody.
        one.kubectl("annotate", "nodesets", "--all", f"{FORCE}=true")
    names = [one.cluster.namespace for one in made]
    operator.cluster.kubectl("delete", "namespace", *names, "--timeout=120s")


def slurm(site: Site, *lines: str) -> str:
    """Return a Slurm without workers, with further lines of slurm.conf."""
    parts = site.text("minimal").split("---\n")[:-1]
    last = "    TaskPlugin=task/none\n"
    return "---\n".join(parts).replace(last, last + "".join(f"    {line}\n" for line in lines))


@pytest.fixture(scope="package")
def asked(make_site: MakeSite) -> Site:
    """Give a Slurm for all tests, asked for; its slurmctld reads a new configuration as it runs."""
    return make_site("plain", in_place=True)


@pytest.fixture(scope="package")
def plain(asked: Site) -> Site:
    """Give a Slurm for all tests."""
    asked.wait("controller/slurm", "restapi/slurm")
    return asked


@pytest.fixture
def workers(plain: Site, request: pytest.FixtureRequest) -> Workers:
    """Give a NodeSet that is not made yet, of the test's own."""
    names = request.config.stash.setdefault(NAMES, iter(range(1, 1000)))
    return Workers(plain, f"w{next(names)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the figures that tests recorded."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call" and report.user_properties:
                told = ", ".join(f"{what} {value}" for what, value in report.user_properties)
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {told}")
