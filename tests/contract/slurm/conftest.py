"""Places to run on: labs of both series, one at a time, and fakes of both."""

from collections.abc import AsyncIterator, Iterator

import pytest

from shoal.cli.local import settings
from shoal.slurmapi.client import Client
from slurm_lab import Lab, provide

from .places import PLACES, Slurm, fake, real

LABS = pytest.StashKey[list[Lab]]()


# Of the session, so that the tests of a series come together and one lab runs at a time.
@pytest.fixture(scope="session", params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[str | Lab]:
    """Give the series of a fake, or a running lab."""
    kind, series = request.param.split()
    if kind == "fake":
        yield series
        return
    with Lab(provide(series, settings())) as lab:
        request.config.stash[LABS] = [lab]
        yield lab
        request.config.stash[LABS] = []


@pytest.fixture
async def slurm(place: str | Lab) -> AsyncIterator[Slurm]:
    """Give a cluster with idle workers and no jobs."""
    async with real(place) if isinstance(place, Lab) else fake(place) as made:
        yield made


@pytest.fixture
async def client(slurm: Slurm) -> AsyncIterator[Client]:
    """Give shoal's client of it."""
    async with slurm.connect() as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]):
    """Show what the daemons said when a test fails."""
    report = yield
    if report.failed:
        for lab in item.config.stash.get(LABS, []):
            report.sections.append((f"lab of {lab.series}", lab.logs(8)))
    return report
