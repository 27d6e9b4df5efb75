"""Helm, from the programs of a local cluster: found in the cache, or built."""

import sys

import pytest

from shoal.cli.environment import settings
from shoal.local import programs
from shoal.local.bar import progress

from .helm import Helm


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Give Helm."""
    folder = programs.provide(settings(), progress(sys.stderr), ("helm",))
    return Helm(folder / "helm", tmp_path_factory.mktemp("helm"))
