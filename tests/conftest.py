"""What every test of shoal shares."""

from pathlib import Path

import pytest
from hypothesis import settings

# On a busy machine an example may take long; that is no failure.
settings.register_profile("shoal", deadline=None)
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


def turn(item: pytest.Item) -> int:
    """Return the place of a test's folder in ORDER; a folder that is not there comes last."""
    folder = item.path.relative_to(TESTS).parts[0]
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=turn)
