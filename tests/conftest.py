"""What every test of shoal shares."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine an example may take long, and now and then many do not fit in a row: neither is
# a failure.
PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much]
SHARED = settings(deadline=None, suppress_health_check=PATIENT)
# The same examples every time: a change that breaks nothing fails nowhere. `make test-long` has
# others each time.
settings.register_profile("shoal", SHARED, derandomize=True)
settings.register_profile("random", SHARED, derandomize=False)
settings.load_profile("shoal")

# Quick answers first: a cluster is brought up only once everything cheap has passed its turn.
ORDER = (
    "test_house.py",
    "test_docs.py",
    "unit",
    "golden",
    "charts",
    "machine",
    "contract",
    "local",
)
TESTS = Path(__file__).parent
# Who has one of these is on the large cluster.
LARGE = {"t3", "operator"}


def turn(item: pytest.Item) -> tuple[int, bool]:
    """Return the place of a test's folder in ORDER; a folder that is not there comes last.

    Within it, tests on the large cluster come after those with clusters of their own: both at once
    may be more nodes than a machine has inotify instances for.
    """
    folder = item.path.relative_to(TESTS).parts[0]
    place = ORDER.index(folder) if folder in ORDER else len(ORDER)
    return place, not LARGE.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=turn)
