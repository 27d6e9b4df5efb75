"""A maintenance window from its reservation to its end, with jobs on the workers."""

import pytest

from shoal.local import images

from . import windows
from .conftest import SERIES
from .nodesets import Workers


@pytest.mark.long
@pytest.mark.parametrize("series", images.SERIES)
def test_workers_are_renewed_in_their_window_alone_and_its_jobs_run_on(
    make_site, plain, series, record_property
):
    site = plain
    if series != SERIES:
        # It cannot write reservations over the network.
        site = make_site(f"slurm-{series.replace('.', '-')}", series=series)
        site.wait("controller/slurm", "restapi/slurm")
    workers = Workers(site, "windowed")
    windows.whole(workers, record_property)
    assert not windows.reservation(workers)
