"""Which object wakes which."""

import msgspec
import pytest

from shoal.controllers import slinky
from shoal.controllers.passes import Hands
from shoal.controllers.slinky_reader import Reader, Settings
from shoal.controllers.slinky_waker import MADE, PROGRAMS, Waker
from shoal.controllers.slurms import Slurms
from shoal.controllers.world import World, stores
from shoal.dialects.slinky import naming
from shoal.dialects.slinky.types import (
    ACCOUNTING,
    CONTROLLER,
    KINDS,
    LOGIN_SET,
    NODE_SET,
    REST_API,
    TOKEN,
)
from shoal.kube import kinds

KEY = {"name": "keys", "key": "k"}
REF = {"name": "slurm"}
OWNER = {
    "apiVersion": CONTROLLER.api_version,
    "kind": "Controller",
    "name": "slurm",
    "uid": "u",
    "controller": True,
}
OBJECTS = (
    (CONTROLLER, "slurm", {"slurmKeyRef": KEY, "accountingRef": {"name": "books"},
                           "configFileRefs": [{"name": "files"}]}),
    (CONTROLLER, "other", {"slurmKeyRef": {"name": "other-keys", "key": "k"}}),
    (ACCOUNTING, "books", {"slurmKeyRef": KEY, "storageConfig": {
        "host": "h", "passwordKeyRef": {"name": "db", "key": "k"}}}),
    (REST_API, "rest", {"controllerRef": REF}),
    (REST_API, "other-rest", {"controllerRef": {"name": "other"}}),
    (LOGIN_SET, "login", {"controllerRef": REF, "sssdConfRef": {"name": "sssd", "key": "k"}}),
    (NODE_SET, "cpu", {"controllerRef": REF}),
    (NODE_SET, "ssh", {"controllerRef": {"name": "other"}, "ssh": {
        "enabled": True, "sssdConfRef": {"name": "sssd", "key": "k"}}}),
    (TOKEN, "alice", {"username": "alice", "jwtKeyRef": KEY}),
)  # fmt: skip


def convert(kind, name, spec=None, **meta):
    type_ = {**slinky.OWN}.get(kind) or stores(slinky.OWN, slinky.references)[kind].type
    whole = {"name": name, "namespace": "ns", "uid": f"{kind.kind}-{name}", "resourceVersion": "1"}
    body = {"metadata": {**whole, **meta}}
    return msgspec.convert({**body, "spec": spec} if spec is not None else body, type_)


@pytest.fixture
def world():
    made = stores(slinky.OWN, slinky.references)
    for kind, name, spec in OBJECTS:
        made[kind].put(convert(kind, name, spec))
    return World(made)


def woken(world, changed, kind):
    """Return the objects that a change wakes, as Kind/name."""
    waker = Waker(world)
    return {
        f"{reader.kind}/{key[1]}"
        for reader in KINDS
        for row in waker.watches(reader)
        if row.kind == kind
        for key in row.of(changed)
    }


CHANGES = {
    "a key of a cluster": (
        kinds.SECRET, {"name": "keys"},
        {"Controller/slurm", "Accounting/books", "RestApi/rest", "LoginSet/login", "NodeSet/cpu",
         "Token/alice"},
    ),
    "a key of another cluster": (
        kinds.SECRET, {"name": "other-keys"},
        {"Controller/other", "RestApi/other-rest", "NodeSet/ssh"},
    ),
    "the database's password": (kinds.SECRET, {"name": "db"}, {"Accounting/books"}),
    "sssd.conf": (kinds.SECRET, {"name": "sssd"}, {"LoginSet/login", "NodeSet/ssh"}),
    "a Secret of nobody": (kinds.SECRET, {"name": "x"}, set()),
    "a file of the user": (kinds.CONFIG_MAP, {"name": "files"}, {"Controller/slurm"}),
    "the published configuration": (
        kinds.CONFIG_MAP, {"name": "slurm-config", "ownerReferences": [OWNER]},
        {"Controller/slurm", "RestApi/rest"},
    ),
    "a pod of slurmctld": (
        kinds.POD, {"name": "p", "labels": naming.labels("Controller", "slurm")},
        {"Controller/slurm"},
    ),
    "a pod of slurmrestd": (
        kinds.POD, {"name": "p", "labels": naming.labels("RestApi", "rest")}, {"RestApi/rest"},
    ),
    "a trial": (
        kinds.POD, {"name": "p", "ownerReferences": [OWNER]},
        {"Controller/slurm"},
    ),
    "a worker": (
        kinds.POD, {"name": "p", "labels": naming.labels("NodeSet", "cpu"), "ownerReferences": [
            {**OWNER, "kind": "NodeSet", "name": "cpu"}]},
        {"NodeSet/cpu"},
    ),
    "a pod of nobody": (kinds.POD, {"name": "p", "labels": {"app": "web"}}, set()),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_wakes_those_whom_it_concerns_and_nobody_else(world, change):
    kind, meta, expected = CHANGES[change]
    assert woken(world, convert(kind, **meta), kind) == expected


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (
            CONTROLLER,
            "slurm",
            {"Controller/slurm", "RestApi/rest", "LoginSet/login", "NodeSet/cpu"},
        ),
        (ACCOUNTING, "books", {"Accounting/books", "Controller/slurm", "RestApi/rest"}),
        (NODE_SET, "cpu", {"NodeSet/cpu", "Controller/slurm", "RestApi/rest"}),
        (REST_API, "rest", {"RestApi/rest"}),
        (LOGIN_SET, "login", {"LoginSet/login"}),
        (TOKEN, "alice", {"Token/alice"}),
    ],
)
def test_an_object_wakes_itself_and_those_who_read_it(world, kind, name, expected):
    (changed,) = [obj for obj in world.stores[kind] if obj.metadata.name == name]
    assert woken(world, changed, kind) == expected


def test_whatever_a_kind_makes_wakes_its_maker(world):
    for kind, several in MADE.items():
        for made in several:
            owner = {"apiVersion": kind.api_version, "kind": kind.kind, "name": "mine", "uid": "u"}
            obj = convert(made, "x", ownerReferences=[{**owner, "controller": True}])
            assert f"{kind.kind}/mine" in woken(world, obj, made)


def test_every_program_is_the_one_that_the_pods_are_labelled_with():
    assert {program: kind.kind for program, kind in PROGRAMS.items()} == {
        program: kind for kind, (program, _) in naming.PARTS.items() if kind != "NodeSet"
    }


# -- reading with what belongs to an object


def test_a_cluster_is_read_with_its_accounting_and_its_node_sets_until_they_are_gone(world):
    going = {"controllerRef": REF}
    world.stores[NODE_SET].put(
        convert(NODE_SET, "going", going, deletionTimestamp="2026-01-01T00:00:00Z")
    )
    cluster = Reader(world, Settings()).cluster(world.get(CONTROLLER, ("ns", "slurm")))
    assert [nodeset.part.name for nodeset in cluster.nodesets] == ["cpu", "going"]
    assert cluster.accounting.name == "books-accounting"
    assert cluster.lacks == ()


def test_a_part_without_its_controller_has_no_cluster(world):
    reader = Reader(world, Settings())
    cluster, rest = reader.rest(convert(REST_API, "x", {"controllerRef": {"name": "nobody"}}))
    assert cluster is None
    assert rest.cluster == "nobody"


def test_of_several_slurmrestds_the_oldest_that_lives_is_asked(world):
    reader = Reader(world, Settings())
    cluster = reader.cluster(world.get(CONTROLLER, ("ns", "slurm")))
    store, spec = world.stores[REST_API], {"controllerRef": REF}
    old = convert(REST_API, "old", spec, creationTimestamp="2026-01-01T00:00:00Z",
                  deletionTimestamp="2026-02-01T00:00:00Z")  # fmt: skip
    store.put(old)
    for name, day in (("b", 3), ("a", 2), ("c", 2)):
        store.put(convert(REST_API, name, spec, creationTimestamp=f"2026-01-0{day}T00:00:00Z"))
    store.remove(store.get(("ns", "rest")))
    assert reader.rest_of(cluster).name == "a-restapi"


def test_a_cluster_without_slurmrestd_or_key_is_not_asked(world):
    reader = Reader(world, Settings())
    cluster = reader.cluster(world.get(CONTROLLER, ("ns", "slurm")))
    assert reader.jwt_key(cluster) is None
    store = world.stores[REST_API]
    store.remove(store.get(("ns", "rest")))
    assert reader.rest_of(cluster) is None


def test_there_is_one_controller_for_each_kind_with_its_own_number_of_workers(world):
    hands = Hands(None, world, None)
    made = slinky.controllers(hands, Slurms(), Settings(workers={NODE_SET: 7}))
    assert {controller.kind for controller in made} == set(KINDS)
    assert len(made) == len(KINDS)
    assert {controller.name: controller.workers for controller in made}["nodeset"] == 7
    assert {controller.workers for controller in made if controller.kind != NODE_SET} == {1}
