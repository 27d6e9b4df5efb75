"""A cluster of two nodes for Slurm on a shared root.

SHOAL_ON names one in SHOAL_STATE that is used instead of a new one; it stays.
"""

import os
from collections.abc import Mapping

import pytest

from ..clusters import Local


@pytest.fixture(scope="session")
def ground(request: pytest.FixtureRequest) -> Local:
    """Give the cluster."""
    if name := os.environ.get("SHOAL_ON"):
        return Local(name, dict(os.environ))
    environment: Mapping[str, str] = request.getfixturevalue("environment")
    cluster = Local("j2", environment)
    cluster.up("--nodes=2")
    return cluster
