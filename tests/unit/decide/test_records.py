"""A new worker does not come into the record of another NodeSet's."""

from dataclasses import replace

import pytest

from shoal.decide import workers
from shoal.decide.facts import NOT_NOTED
from shoal.decide.plan import CreateWorker, ForgetNode
from shoal.decide.records import INHERITED, inherited
from shoal.model.jail import Fittings, Given
from shoal.model.jailed import JailedWorkers, Registration
from shoal.model.nodeset import Mode
from shoal.model.part import PodWishes

from .fleets import fleet, kube_node, nodeset, slurm_node, wanted, worker

OURS = '{"namespace":"ns","podName":"w-n1","nodeSetUID":"uid-w"}'
OTHERS = '{"namespace":"ns","podName":"v-n1","nodeSetUID":"uid-v"}'
ROUND = OURS.replace("}", ',"shape":"round"}')
NOTED = OTHERS.replace("}", ',"note":"bad disk"}')
GOING = "slurm-operator: Pod is terminating"
COMING = (CreateWorker("a node that fits", None, "n1", "n1"),)
IN_CONF = JailedWorkers(Fittings(Given({})), Given({}), registration=Registration.STATIC)


def forgotten(state="DOWN", reason=GOING, comment=OTHERS, create=COMING, shape="square"):
    seen = fleet(slurm=[slurm_node("n1", state, reason=reason, comment=comment)])
    asked = wanted(uid="uid-w", shape=shape)
    return [action.node for action in inherited(asked, seen, create)]


@pytest.mark.parametrize(
    "state", ["DOWN", "DOWN+DRAIN", "DOWN+NOT_RESPONDING", "IDLE+NOT_RESPONDING", "IDLE+DRAIN"]
)
def test_a_record_of_another_nodeset_goes_before_a_worker_of_its_name_comes(state):
    assert forgotten(state) == ["n1"]


def test_a_worker_with_a_number_has_a_name_too():
    seen = fleet(slurm=[slurm_node("w-3", "DOWN", reason=GOING, comment=OTHERS)])
    (action,) = inherited(wanted(uid="uid-w"), seen, [CreateWorker("", 3)])
    assert action == ForgetNode(INHERITED, "w-3")


ON_NODES_NETWORK = {"part": replace(nodeset().part, pods=PodWishes(spec={"hostNetwork": True}))}


def test_a_worker_on_its_nodes_network_may_be_called_after_any_node_that_has_none():
    hosts = [kube_node(name) for name in ("n1.example.org", "n2", "n3", "n4")]
    nodes = [slurm_node(f"n{i}", "DOWN", reason=GOING, comment=OTHERS) for i in (1, 2, 3)]
    nodes += [slurm_node("w-0", "DOWN", reason=GOING, comment=OTHERS)]
    there = [worker(1, node="n2", host="n2")]
    seen = fleet(*there, slurm=nodes, kube=hosts, others=frozenset({"n3"}))
    asked = wanted(2, uid="uid-w", of=ON_NODES_NETWORK)
    assert [*inherited(asked, seen, [CreateWorker("", 0)])] == [ForgetNode(INHERITED, "n1")]
    assert [*inherited(asked, seen, [])] == []


def test_a_record_goes_whose_worker_tells_slurm_other_things_now():
    assert forgotten(comment=ROUND) == ["n1"]


def test_a_record_goes_of_which_nobody_noted_what_it_was_made_with():
    assert forgotten(comment=ROUND.replace("round", NOT_NOTED)) == ["n1"]


@pytest.mark.parametrize("shape", ["round", ""])
def test_a_record_stays_for_a_worker_of_the_same_shape_or_of_one_that_nobody_knows(shape):
    assert forgotten(comment=ROUND, shape=shape) == []


def test_a_record_stays_where_nobody_comes():
    assert forgotten(create=()) == []


@pytest.mark.parametrize("comment", [OURS, "", "an admin's words"])
def test_a_record_stays_that_is_not_known_to_be_of_another_nodeset(comment):
    assert forgotten(comment=comment) == []


@pytest.mark.parametrize(
    "state", ["IDLE", "MIXED+DRAIN", "DOWN+COMPLETING", "ALLOCATED+NOT_RESPONDING"]
)
def test_a_record_stays_while_a_slurmd_or_a_job_may_be_there(state):
    assert forgotten(state) == []


@pytest.mark.parametrize(("reason", "comment"), [("broken fan", OTHERS), (GOING, NOTED)])
def test_a_record_stays_with_what_an_admin_said_of_it(reason, comment):
    assert forgotten(reason=reason, comment=comment) == []


def test_a_silent_slurm_is_told_nothing():
    assert list(inherited(wanted(uid="uid-w"), fleet(slurm=None), COMING)) == []


def test_it_goes_before_the_worker_comes():
    record = slurm_node("n1", "DOWN", reason=GOING, comment=OTHERS)
    seen = fleet(slurm=[record], kube=[kube_node("n1")])
    plan = workers.plan(wanted(uid="uid-w", of={"mode": Mode.EVERY_NODE}), seen)
    assert [type(action) for action in plan] == [ForgetNode, CreateWorker]


def test_a_record_of_slurm_confs_stays_whosever_it_was():
    seen = fleet(slurm=[slurm_node("w-3", "DOWN", reason=GOING, comment=OTHERS)])
    asked = wanted(uid="uid-w", of={"jailed": IN_CONF})
    assert [*inherited(asked, seen, [CreateWorker("", 3)])] == []
