"""The switch that writes golden files anew."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def rewrite(request):
    """Say whether the files are written rather than compared."""
    return request.config.getoption("golden", default=False)
