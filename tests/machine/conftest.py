"""Everything in here runs in virtual time."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

import pytest
import structlog

from fakes.apiserver import EPOCH
from fakes.loop import VirtualLoop
from shoal.runtime import clock


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, type]:
    return {"virtual": VirtualLoop}


@pytest.fixture(autouse=True)
def virtual_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of day follow the event loop's."""
    monkeypatch.setattr(clock, "now", lambda: EPOCH + timedelta(seconds=clock.ticks()))


@pytest.fixture(autouse=True)
def logs() -> Iterator[list]:
    """Give what is logged; nothing is printed, which takes longer than all the rest."""
    with structlog.testing.capture_logs() as found:
        yield found
