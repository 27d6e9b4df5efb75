"""One operator for all tests in here, on the cluster of three nodes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.local import images

from ..clusters import Local
from .operator import Operator, install, load
from .site import NEWEST, Site, site


@pytest.fixture(scope="package")
def operator(t3: Local) -> Iterator[Operator]:
    """Give a running operator, which looks after every namespace."""
    load(t3, *(name for series in images.SERIES for name in images.SLURM[series]), "mariadb")
    operator = install(t3)
    operator.start()
    yield operator
    operator.stop()
    shutil.rmtree(operator.folder)


@pytest.fixture
def newest(operator: Operator, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """Give a namespace for a cluster of the newest series; it goes with the test."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    made = site(operator.cluster, NEWEST, name, tmp_path)
    yield made
    made.kubectl("delete", "namespace", name, "--wait=false")
