"""What reconcilers see of Kubernetes."""

import msgspec
import pytest

from shoal.controllers import slinky
from shoal.controllers.slinky_waker import MADE
from shoal.controllers.world import IN_BRIEF, READ, World, stores
from shoal.dialects.nebius import naming as nebius
from shoal.dialects.slinky import naming
from shoal.dialects.slinky.types import CONTROLLER, KINDS, NODE_SET
from shoal.kube import kinds
from shoal.model.part import Part

A = "QQ=="


def filled(*objects):
    made = stores(slinky.OWN, slinky.references)
    for number, (kind, name, body) in enumerate(objects, 1):
        namespace, _, own = name.rpartition("/")
        meta = {
            "name": own,
            "namespace": namespace or "ns",
            "uid": name,
            "resourceVersion": str(number),
        }
        told = {**body, "metadata": {**meta, **body.get("metadata", {})}}
        made[kind].put(msgspec.convert(told, made[kind].type))
    return World(made)


def part(kind, name):
    return Part(name, "ns", naming.selector(kind, name), naming.labels(kind, name))


def test_there_is_a_store_for_every_kind_that_is_read_or_made():
    made = stores(slinky.OWN, slinky.references)
    assert set(made) == {*KINDS, *READ}
    assert {kind for several in MADE.values() for kind in several} <= set(made)
    assert all(made[kind].type is not None for kind in IN_BRIEF)


def test_what_a_namespaces_secrets_and_configmaps_hold_is_found_by_name():
    world = filled(
        (kinds.SECRET, "keys", {"data": {"k": A}}),
        (kinds.CONFIG_MAP, "files", {"data": {"f": "x"}}),
        (kinds.SECRET, "other/keys", {"data": {"k": "Qg=="}}),
    )
    found = world.found("ns")
    assert found.secrets["keys"] == {"k": b"A"}
    assert found.config_maps["files"] == {"f": b"x"}
    assert world.found("other").secrets["keys"] == {"k": b"B"}
    assert list(found.secrets) == ["keys"]
    assert len(found.config_maps) == 1
    assert "files" not in found.secrets


def test_what_is_being_deleted_is_not_there():
    gone = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "data": {"k": A}}
    found = filled((kinds.SECRET, "keys", gone)).found("ns")
    assert found.secrets.get("keys") is None
    with pytest.raises(KeyError):
        found.secrets["keys"]


def test_the_pods_of_a_part_are_its_own_and_in_order():
    mine = {"metadata": {"labels": naming.labels("RestApi", "slurm")}}
    world = filled(
        (kinds.POD, "b", mine),
        (kinds.POD, "a", mine),
        (kinds.POD, "another", {"metadata": {"labels": naming.labels("Controller", "slurm")}}),
        (kinds.POD, "third", {"metadata": {"labels": naming.labels("RestApi", "other")}}),
        (kinds.POD, "other/a", mine),
        (kinds.POD, "bare", {}),
    )
    assert [pod.metadata.name for pod in world.pods(part("RestApi", "slurm"))] == ["a", "b"]


def test_a_pod_that_loses_its_labels_is_no_longer_a_parts():
    world = filled((kinds.POD, "a", {"metadata": {"labels": naming.labels("RestApi", "slurm")}}))
    store = world.stores[kinds.POD]
    (pod,) = store
    meta = msgspec.structs.replace(pod.metadata, labels={}, resource_version="99")
    store.put(msgspec.structs.replace(pod, metadata=meta))
    assert world.pods(part("RestApi", "slurm")) == ()


def test_users_are_found_by_what_they_refer_to():
    world = filled(
        (NODE_SET, "b", {"spec": {"controllerRef": {"name": "slurm"}}}),
        (NODE_SET, "a", {"spec": {"controllerRef": {"name": "other"}}}),
        (NODE_SET, "other/c", {"spec": {"controllerRef": {"name": "slurm"}}}),
        (CONTROLLER, "slurm", {"spec": {"slurmKeyRef": {"name": "keys", "key": "k"}}}),
    )
    assert [one.key for one in world.users(CONTROLLER, "ns", "slurm", NODE_SET)] == [("ns", "b")]
    assert [one.key for one in world.users(kinds.SECRET, "ns", "keys", CONTROLLER)] == [
        ("ns", "slurm")
    ]
    assert world.users(kinds.CONFIG_MAP, "ns", "keys", CONTROLLER) == []


def test_all_of_a_namespace_are_in_order():
    world = filled(*((kinds.SERVICE, name, {}) for name in ("b", "a", "other/c")))
    assert [one.metadata.name for one in world.every(kinds.SERVICE, "ns")] == ["a", "b"]


def test_a_workload_that_is_not_there_is_none():
    assert filled().workload(kinds.DEPLOYMENT, ("ns", "x")) is None


def test_parts_of_one_cluster_are_told_apart_by_their_component_and_their_nodeset():
    def labels(component, nodeset=""):
        return {"metadata": {"labels": nebius.labels("one", component, nodeset)}}

    world = filled(
        (kinds.POD, "ctl", labels(nebius.CONTROLLER)),
        (kinds.POD, "own", labels(nebius.WORKERS)),
        (kinds.POD, "a-0", labels(nebius.NODE_SET, "a")),
        (kinds.POD, "b-0", labels(nebius.NODE_SET, "b")),
    )

    def named(selector):
        return [pod.metadata.name for pod in world.pods(Part("one", "ns", selector, {}))]

    assert named(nebius.selector("one", nebius.CONTROLLER)) == ["ctl"]
    assert named(nebius.selector("one", nebius.NODE_SET, "a")) == ["a-0"]
    assert named(nebius.selector("one", nebius.NODE_SET)) == ["a-0", "b-0"]
    # All of a cluster.
    assert named({nebius.NAME: nebius.APP, nebius.INSTANCE: "one"}) == ["a-0", "b-0", "ctl", "own"]
