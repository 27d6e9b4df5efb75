"""How the workers of a deleted NodeSet go, and what Slurm knows of them."""

from datetime import timedelta

import pytest

from shoal.decide.farewell import PATIENCE, draining, in_vain, plan
from shoal.decide.plan import DeleteWorker, ForgetNode, Wait
from shoal.model.jail import Fittings, Given
from shoal.model.jailed import JailedWorkers, Registration
from shoal.model.nodeset import Mode

from .fleets import NAMING, NOW, fleet, slurm_node, wanted, worker
from .worlds import Answer, grown

OURS = '{"namespace":"ns","podName":"w-0","nodeSetUID":"uid-w"}'
OTHERS = '{"namespace":"ns","podName":"w-0","nodeSetUID":"uid-x"}'
IN_CONF = JailedWorkers(Fittings(Given({})), Given({}), registration=Registration.STATIC)


def gone(slurm, since=NOW, **fields):
    """Return what is done once no worker is left."""
    abandoned = fields.pop("abandoned", False)
    asked = wanted(deleted_at=since, uid="uid-w", **fields)
    return plan(asked, fleet(slurm=slurm, abandoned=abandoned))


def forgotten(*slurm, **fields):
    return [a.node for a in gone(slurm, **fields) if isinstance(a, ForgetNode)]


def test_the_nodeset_stays_until_its_last_worker_is_gone():
    (action,) = plan(wanted(deleted_at=NOW), fleet(worker(deleting=True)))
    assert isinstance(action, Wait)


def test_once_slurm_knows_nothing_of_them_the_nodeset_may_go():
    assert gone([slurm_node("other-0")]) == ()
    assert gone([]) == ()


@pytest.mark.parametrize("slurm", [None, [slurm_node("any", comment=OURS)]])
def test_nobody_waits_for_the_records_of_a_slurm_that_goes_too(slurm):
    assert gone(slurm, alone=False) == ()
    assert gone(slurm) != ()


def test_records_of_its_workers_are_forgotten_first():
    said = slurm_node("any", comment=OURS)
    called = slurm_node("w-7", features=("w",))
    made = gone([said, called])
    assert [a.node for a in made if isinstance(a, ForgetNode)] == ["any", "w-7"]
    assert isinstance(made[-1], Wait)


@pytest.mark.parametrize(
    "node",
    [
        slurm_node("w-0", comment=OTHERS, features=("w",)),
        slurm_node("w-x", features=("w",)),
        slurm_node("w-0", features=("v",)),
        slurm_node("v-0", features=("w",)),
    ],
)
def test_records_of_others_stay(node):
    assert gone([node]) == ()


def test_a_number_is_no_sign_where_workers_have_none():
    node = slurm_node("w-0", features=("w",))
    assert forgotten(node, of={"mode": Mode.EVERY_NODE}) == []


@pytest.mark.parametrize("state", ["MIXED", "DOWN+COMPLETING", "ALLOCATED+DRAIN"])
def test_a_record_with_a_job_is_waited_for(state):
    made = gone([slurm_node("w-0", state, comment=OURS)])
    assert [type(a) for a in made] == [Wait]


def test_a_silent_slurm_is_waited_for_but_not_forever():
    assert [type(a) for a in gone(None)] == [Wait]
    assert gone(None, since=NOW - PATIENCE) == ()


def test_where_there_is_no_cluster_or_the_user_says_so_nobody_is_asked():
    assert gone(None, abandoned=True) == ()
    assert gone([slurm_node("w-0", "MIXED", comment=OURS)], forced=True) == ()


def test_a_silent_slurm_holds_up_workers_however_long_it_is_silent():
    since = NOW - timedelta(days=7)
    made = plan(wanted(deleted_at=since), fleet(worker(), slurm=None))
    assert [type(a) for a in made] == [Wait]


def test_who_waits_is_told_how_to_give_up():
    asked = wanted(deleted_at=NOW)
    told = draining(asked, (Wait("jobs", 1.0),))
    assert NAMING.annotations.force in told.message
    assert told.message.startswith("jobs; ")
    forced = draining(wanted(deleted_at=NOW, forced=True), ())
    assert NAMING.annotations.force not in forced.message


def test_a_deleted_nodeset_loses_no_job_and_leaves_nothing():
    world, operator = grown(4)
    operator.decide = plan
    for number in (0, 2):
        world.job(f"w-{number}", 600)
    world.deleted_at = world.now
    operator.answer = Answer.NONE
    operator.all_at_once()
    assert len(world.pods) == 4
    operator.answer = Answer.WHOLE
    for _ in range(40):
        if not operator.all_at_once():
            break
        world.tick(30)
    assert world.pods == {}
    assert list(world.records) == ["other-0"]


def test_a_forced_farewell_takes_jobs_along():
    one = worker()
    made = plan(wanted(deleted_at=NOW, forced=True), fleet(one, slurm="MIXED"))
    assert (
        DeleteWorker("Pod is pending termination: its NodeSet is being deleted", "w-0", one.uid)
        in made
    )


@pytest.mark.parametrize("fields", [{"forced": True}, {"alone": False}, {"since": NOW - PATIENCE}])
def test_a_silent_slurm_is_waited_for_in_vain_by_what_goes_with_it_or_by_force_or_for_long(fields):
    since = fields.pop("since", NOW)
    assert in_vain(wanted(deleted_at=since, **fields), fleet(slurm=None))
    assert not in_vain(wanted(deleted_at=since, **fields), fleet(worker(), slurm=None))
    assert not in_vain(wanted(**fields), fleet(slurm=None))


def test_a_silent_slurm_is_not_waited_for_in_vain_at_first():
    assert not in_vain(wanted(deleted_at=NOW), fleet(slurm=None))


def test_nodes_that_slurm_conf_names_go_with_it_and_nobody_asks_slurm_to_forget_them():
    assert gone([slurm_node("any", comment=OURS)], of={"jailed": IN_CONF}) == ()
    assert gone(None, of={"jailed": IN_CONF}) == ()
