"""What people do to NodeSets every day, and what they fear, all at once with jobs on them.

No job notices.
"""

from collections.abc import Iterator

import pytest

from . import cases, losses
from .nodesets import Workers, restarts
from .side_by_side import Running, alone, result, under_way


@pytest.fixture(scope="module")
def strict(make_site):
    """Give a Slurm whose nodes stay down when they went down, until somebody resumes them."""
    return make_site("strict", "ReturnToService=0", in_place=True)


@pytest.fixture(scope="module")
def lossy(make_site):
    """Give a Slurm whose slurmctld has a hard life."""
    return make_site("lossy", in_place=True)


@pytest.fixture(scope="module")
def running(asked, strict, lossy) -> Iterator[Running]:
    """Give all of it, under way."""
    plain = asked
    for site in (plain, strict, lossy):
        site.wait("controller/slurm", "restapi/slurm")
    rows = alone(
        {
            "scale_in": (cases.scale_in, Workers(plain, "scaled")),
            "strict": (cases.rollout, Workers(strict, "renewed")),
            "bad_image": (cases.bad_image, Workers(strict, "imageless")),
            "deletion": (cases.deletion, Workers(plain, "deleted")),
        }
    )
    hard = {
        # The first one, as its table is to be empty.
        "emptied": (losses.emptied, Workers(lossy, "emptied")),
        "restart": (losses.restarted, Workers(lossy, "restarted")),
        "forgotten": (losses.forgotten, Workers(lossy, "forgotten")),
    }
    with under_way(*rows, hard) as found:
        yield found


def test_scaling_in_takes_the_idle_first_and_the_busy_after_its_job(running, record_property):
    assert result(running["scale_in"], record_property)


def test_renewed_workers_serve_by_themselves_where_slurm_would_leave_them_down(
    running, strict, record_property
):
    assert result(running["strict"], record_property)
    assert "ReturnToService         = 0" in strict.run("scontrol", "show", "config").out


def test_an_image_that_nobody_has_costs_one_worker_and_no_job(running, record_property):
    assert result(running["bad_image"], record_property)


def test_a_deleted_nodeset_waits_for_its_job_and_leaves_nothing_in_slurm(
    running, plain, record_property
):
    before = plain.pod_of("slurmctld")["metadata"]["uid"]
    assert result(running["deletion"], record_property)
    assert plain.pod_of("slurmctld")["metadata"]["uid"] == before
    assert restarts(plain) == {0}


def test_a_slurmctld_deleted_while_scaling_in_costs_no_job(running, record_property):
    assert result(running["restart"], record_property)


def test_an_emptied_table_of_nodes_lets_nobody_be_scaled_in(running, record_property):
    assert result(running["emptied"], record_property)


def test_a_slurmctld_that_lost_its_state_is_not_started_and_the_step_runs_on(
    running, record_property
):
    assert result(running["forgotten"], record_property)
