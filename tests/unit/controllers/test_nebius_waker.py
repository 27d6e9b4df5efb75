"""Which event wakes which object of slurm.nebius.ai."""

import msgspec
import pytest

from shoal.controllers import nebius
from shoal.controllers.nebius_waker import Waker
from shoal.controllers.world import READ, READ_TOO, World, stores
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.types import NODE_SET, SLURM_CLUSTER
from shoal.dialects.slinky import types as slinky
from shoal.kube import kinds

ONE, CPU = ("ns", "one"), ("ns", "cpu")


def owner(kind, name):
    told = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": name}
    return {"ownerReferences": [{**told, "controller": True}]}


@pytest.fixture
def world():
    made = stores(nebius.OWN, nebius.references, {**READ, **READ_TOO})
    return World(made)


def put(world, kind, name, meta=None, **body):
    number = sum(len(store) for store in world.stores.values()) + 1
    told = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(number)}
    obj = {**body, "metadata": {**told, **(meta or {})}}
    made = msgspec.convert(obj, world.stores[kind].type)
    world.stores[kind].put(made)
    return made


def woken(rows, kind, obj):
    return {key for row in rows if row.kind == kind for key in row.of(obj)}


def test_a_nodeset_wakes_its_cluster_by_the_name_or_the_note_that_it_has(world):
    rows = Waker(world).clusters()
    named = put(world, NODE_SET, "a", spec={"clusterName": "one"})
    noted = put(world, NODE_SET, "b", {"annotations": {naming.PARENTAL_CLUSTER: "one"}})
    nobody = put(world, NODE_SET, "c")
    assert [woken(rows, NODE_SET, one) for one in (named, noted, nobody)] == [{ONE}, {ONE}, set()]


def test_any_pod_of_a_cluster_wakes_it_and_no_other_pod(world):
    rows = Waker(world).clusters()
    ours = put(world, kinds.POD, "w", {"labels": naming.labels("one", naming.NODE_SET, "cpu")})
    theirs = put(world, kinds.POD, "x", {"labels": {naming.NAME: "slurmctld"}})
    assert woken(rows, kinds.POD, ours) == {ONE}
    assert woken(rows, kinds.POD, theirs) == set()


@pytest.mark.parametrize("kind", [kinds.SECRET, kinds.JOB, kinds.STATEFUL_SET])
def test_what_workers_wait_for_wakes_those_of_its_cluster(world, kind):
    put(world, NODE_SET, "cpu", spec={"clusterName": "one"})
    put(world, NODE_SET, "other", spec={"clusterName": "two"})
    made = put(world, kind, "made", owner(SLURM_CLUSTER, "one"))
    waker = Waker(world)
    assert woken(waker.nodesets(), kind, made) == {CPU}
    assert woken(waker.workers(), kind, made) == {ONE}


def test_a_node_wakes_only_those_of_this_api_who_have_a_worker_there(world):
    placed = {"spec": {"nodeName": "n1"}}
    put(world, kinds.POD, "a", owner(NODE_SET, "cpu"), **placed)
    put(world, kinds.POD, "b", owner(SLURM_CLUSTER, "one"), **placed)
    put(world, kinds.POD, "c", owner(slinky.NODE_SET, "theirs"), **placed)
    node = put(world, kinds.NODE, "n1", {"namespace": ""})
    waker = Waker(world)
    assert woken(waker.nodesets(), kinds.NODE, node) == {CPU}
    assert woken(waker.workers(), kinds.NODE, node) == {ONE}


def test_a_cluster_is_needed_while_its_workers_are_drained(world):
    waker = Waker(world)
    idle = put(world, SLURM_CLUSTER, "one", {"finalizers": [naming.HOLDS]})
    held = put(world, SLURM_CLUSTER, "two", {"finalizers": [naming.NAMING.finalizer]})
    assert (waker.leaving(idle), waker.leaving(held)) == (False, True)
    put(world, NODE_SET, "cpu", spec={"clusterName": "one"})
    assert not waker.leaving(idle)  # one that stays holds nothing
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    put(world, NODE_SET, "old", gone, spec={"clusterName": "one"})
    assert waker.leaving(idle)
