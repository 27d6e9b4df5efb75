"""What takes minutes because somebody is given time, all at once with jobs on the workers."""

from collections.abc import Iterator

import pytest

from shoal.local import images

from . import ghosts, losses, windows
from .conftest import SERIES
from .nodesets import Workers
from .side_by_side import Running, alone, result, under_way

pytestmark = pytest.mark.long
# The older Slurm cannot write reservations over the network.
OTHER = next(series for series in images.SERIES if series != SERIES)


@pytest.fixture(scope="module")
def running(asked, make_site) -> Iterator[Running]:
    """Give all of it, under way."""
    given_up, stateless, emptied = map(make_site, ("forgetful", "stateless", "emptied"))
    other = make_site("other", series=OTHER)
    for site in (asked, given_up, stateless, emptied, other):
        site.wait("controller/slurm", "restapi/slurm")
    with under_way(
        *alone(
            {
                "given_up": (losses.given_up, Workers(given_up, "known")),
                "volume": (losses.volume_emptied, Workers(stateless, "nobody")),
                "some": (losses.some_lost, Workers(asked, "known")),
                "all": (losses.all_lost, Workers(emptied, "lost")),
                "ghosts": (ghosts.young, Workers(asked, "young")),
                SERIES: (windows.whole, Workers(asked, "windowed")),
                OTHER: (windows.whole, Workers(other, "windowed")),
            }
        )
    ) as found:
        yield found


def test_a_slurmctld_without_its_state_costs_no_worker_with_a_running_step(
    running, record_property
):
    assert result(running["given_up"], record_property)


def test_a_slurmctld_whose_volume_is_empty_starts_only_on_the_users_word(running, record_property):
    assert result(running["volume"], record_property)


def test_nodes_that_slurm_has_lost_come_back_and_the_busy_worker_is_left_alone(
    running, record_property
):
    assert result(running["some"], record_property)


def test_an_empty_table_of_nodes_costs_no_worker_and_is_told(running, record_property):
    assert result(running["all"], record_property)


def test_a_young_job_whose_process_is_gone_runs_again_or_is_ended_where_it_may_not(
    running, record_property
):
    assert result(running["ghosts"], record_property)


@pytest.mark.parametrize("series", images.SERIES)
def test_workers_are_renewed_in_their_window_alone_and_its_jobs_run_on(
    running, series, record_property
):
    assert result(running[series], record_property)
