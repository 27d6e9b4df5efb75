"""What people do to NodeSets every day, all at once, with jobs on them; no job notices."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from . import cases, claims, modes, revisions, windows
from .conftest import slurm
from .nodesets import Record, Workers, restarts

Told = list[tuple[str, object]]


@pytest.fixture(scope="module")
def strict(make_site):
    """Give a Slurm whose nodes stay down when they went down, until somebody resumes them."""
    return make_site("strict", "ReturnToService=0")


@pytest.fixture(scope="module")
def leaving(make_site):
    """Give a Slurm that is to go."""
    return make_site("leaving")


@pytest.fixture(scope="module")
def running(strict, leaving, plain) -> Iterator[Mapping[str, "Future[Told]"]]:
    """Give all of it, under way: most of it is waiting, so it is done side by side."""
    strict.wait("controller/slurm", "restapi/slurm")
    leaving.wait("controller/slurm", "restapi/slurm")
    asked = {
        "scale_in": (cases.scale_in, Workers(plain, "scaled")),
        "rollout": (cases.rollout, Workers(plain, "renewed")),
        "strict": (cases.rollout, Workers(strict, "renewed")),
        "bad_image": (cases.bad_image, Workers(strict, "imageless")),
        "stream": (cases.stream, Workers(strict, "streamed")),
        "deletion": (cases.deletion, Workers(plain, "deleted")),
        "window": (windows.begun, Workers(strict, "scheduled")),
        "claims": (claims.kept_and_deleted, Workers(plain, "claimed")),
        "modes": (modes.both_ways, Workers(strict, "moded")),
        # Slurm calls them as the nodes are: in this cluster nobody else's are called so yet.
        "network": (modes.on_the_nodes_network, Workers(plain, "hosted")),
        "revisions": (revisions.go_back, Workers(plain, "revised")),
        "shaped": (modes.of_another_shape, Workers(strict, "shaped")),
        "bound": (modes.bound, Workers(plain, "bound")),
        "whole": (cases.whole_cluster, Workers(leaving, "all"), slurm(leaving)),
    }
    with ThreadPoolExecutor(len(asked)) as pool:
        yield {name: pool.submit(noted, *words) for name, words in asked.items()}


def noted(case, workers, *more) -> Told:
    """Return the figures of a case."""
    told: Told = []
    case(workers, lambda *figure: told.append(figure), *more)
    return told


def result(future: "Future[Told]", record: Record) -> None:
    """Wait for the end of a case, and record its figures."""
    told = future.result()
    assert told
    for figure in told:
        record(*figure)


def test_scaling_in_takes_the_idle_first_and_the_busy_after_its_job(running, record_property):
    result(running["scale_in"], record_property)


def test_an_update_takes_the_busy_last_and_after_its_job(running, record_property):
    result(running["rollout"], record_property)


def test_renewed_workers_serve_by_themselves_where_slurm_would_leave_them_down(
    running, strict, record_property
):
    result(running["strict"], record_property)
    assert "ReturnToService         = 0" in strict.run("scontrol", "show", "config").out


def test_an_update_under_a_stream_of_short_jobs_costs_none_of_them(running, record_property):
    result(running["stream"], record_property)


def test_an_image_that_nobody_has_costs_one_worker_and_no_job(running, record_property):
    result(running["bad_image"], record_property)


def test_a_deleted_nodeset_waits_for_its_job_and_leaves_nothing_in_slurm(
    running, plain, record_property
):
    before = plain.pod_of("slurmctld")["metadata"]["uid"]
    result(running["deletion"], record_property)
    assert plain.pod_of("slurmctld")["metadata"]["uid"] == before
    assert restarts(plain) == {0}


def test_a_whole_cluster_deleted_at_once_waits_for_its_job(running, record_property):
    result(running["whole"], record_property)


def test_a_window_has_its_workers_renewed_the_busy_after_its_job(running, record_property):
    result(running["window"], record_property)


def test_a_claim_goes_with_a_worker_that_is_scaled_in_and_never_by_update_or_cordon(
    running, record_property
):
    result(running["claims"], record_property)


def test_a_nodeset_that_changes_its_mode_keeps_busy_workers_until_their_jobs_have_ended(
    running, record_property
):
    result(running["modes"], record_property)


def test_workers_on_their_nodes_network_are_renewed_and_scaled_in_after_their_jobs(
    running, record_property
):
    result(running["network"], record_property)


def test_going_back_takes_the_older_revision_and_makes_no_new_one(running, record_property):
    result(running["revisions"], record_property)


def test_workers_of_another_shape_serve_as_what_they_are_now(running, record_property):
    result(running["shaped"], record_property)


def test_workers_that_are_bound_to_nodes_come_back_to_them(running, record_property):
    result(running["bound"], record_property)
