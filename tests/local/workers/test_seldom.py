"""What people ask of NodeSets less often, all at once with jobs on them; no job notices."""

from collections.abc import Iterator
from functools import partial

import pytest

from . import cases, claims, modes, revisions, windows
from .conftest import slurm
from .nodesets import Workers
from .side_by_side import Running, alone, result, under_way

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def leaving(make_site):
    """Give a Slurm that is to go."""
    return make_site("leaving")


@pytest.fixture(scope="module")
def second(make_site):
    """Give another Slurm, as workers of two NodeSets would be called after the same nodes."""
    return make_site("second", in_place=True)


@pytest.fixture(scope="module")
def running(asked, second, leaving) -> Iterator[Running]:
    """Give all of it, under way."""
    plain = asked
    for site in (plain, second, leaving):
        site.wait("controller/slurm", "restapi/slurm")
    whole = partial(cases.whole_cluster, text=slurm(leaving))
    with under_way(
        *alone(
            {
                "rollout": (cases.rollout, Workers(plain, "renewed-too")),
                "stream": (cases.stream, Workers(second, "streamed")),
                "whole": (whole, Workers(leaving, "all")),
                "window": (windows.begun, Workers(second, "scheduled")),
                "claims": (claims.kept_and_deleted, Workers(plain, "claimed")),
                "modes": (modes.both_ways, Workers(second, "moded")),
                "network": (modes.on_the_nodes_network, Workers(plain, "hosted")),
                "revisions": (revisions.go_back, Workers(plain, "revised")),
                "shaped": (modes.of_another_shape, Workers(second, "shaped")),
                "bound": (modes.bound, Workers(plain, "bound")),
            }
        )
    ) as found:
        yield found


def test_an_update_takes_the_busy_last_and_after_its_job(running, record_property):
    assert result(running["rollout"], record_property)


def test_an_update_under_a_stream_of_short_jobs_costs_none_of_them(running, record_property):
    assert result(running["stream"], record_property)


def test_a_whole_cluster_deleted_at_once_waits_for_its_job(running, record_property):
    assert result(running["whole"], record_property)


def test_a_window_has_its_workers_renewed_the_busy_after_its_job(running, record_property):
    assert result(running["window"], record_property)


def test_a_claim_goes_with_a_worker_that_is_scaled_in_and_never_by_update_or_cordon(
    running, record_property
):
    assert result(running["claims"], record_property)


def test_a_nodeset_that_changes_its_mode_keeps_busy_workers_until_their_jobs_have_ended(
    running, record_property
):
    assert result(running["modes"], record_property)


def test_workers_on_their_nodes_network_are_renewed_and_scaled_in_after_their_jobs(
    running, record_property
):
    assert result(running["network"], record_property)


def test_going_back_takes_the_older_revision_and_makes_no_new_one(running, record_property):
    assert result(running["revisions"], record_property)


def test_workers_of_another_shape_serve_as_what_they_are_now(running, record_property):
    assert result(running["shaped"], record_property)


def test_workers_that_are_bound_to_nodes_come_back_to_them(running, record_property):
    assert result(running["bound"], record_property)
