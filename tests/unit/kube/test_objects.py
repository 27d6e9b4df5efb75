"""Reading objects slim, and whose they are."""

import msgspec
import pytest

from shoal.kube.objects import Meta, Resource, controller_of, key_of, owner_reference

POD = b"""{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {
    "name": "w-0", "namespace": "slurm", "uid": "u-1", "resourceVersion": "42", "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "w"},
    "managedFields": [{"manager": "x"}],
    "ownerReferences": [
      {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-2"},
      {"apiVersion": "x/v1", "kind": "NodeSet", "name": "w", "uid": "u-3", "controller": true,
       "blockOwnerDeletion": true}
    ],
    "finalizers": ["x/y"]
  },
  "spec": {"containers": []}
}"""


def read(text: bytes) -> Resource:
    return msgspec.json.decode(text, type=Resource)


def test_what_is_not_used_is_not_kept():
    assert read(POD).metadata == Meta(
        name="w-0",
        namespace="slurm",
        uid="u-1",
        resource_version="42",
        generation=3,
        creation_timestamp="2026-01-01T00:00:00Z",
        labels={"app": "w"},
        owner_references=read(POD).metadata.owner_references,
        finalizers=("x/y",),
    )


def test_an_object_is_found_by_namespace_and_name():
    assert read(POD).key == ("slurm", "w-0")
    assert key_of({"metadata": {"name": "n1"}}) == ("", "n1")


def test_versions_compare_as_numbers():
    assert read(POD).version == 42
    assert Resource().version == 0


def test_the_owner_that_manages_is_told_from_one_that_only_keeps():
    owner = controller_of(read(POD))
    assert (owner.kind, owner.name, owner.uid) == ("NodeSet", "w", "u-3")


def test_nobody_manages_an_object_without_a_controller():
    assert controller_of(Resource()) is None


@pytest.mark.parametrize(("when", "deleting"), [("null", False), ('"2026-01-01T00:00:00Z"', True)])
def test_an_object_with_a_deletion_time_is_on_its_way_out(when, deleting):
    text = f'{{"metadata": {{"name": "a", "deletionTimestamp": {when}}}}}'.encode()
    assert read(text).deleting is deleting


def test_an_empty_creation_time_is_understood_as_none():
    # API servers before 1.34 write null in bookmarks and in templates.
    assert read(b'{"metadata": {"creationTimestamp": null}}').metadata.creation_timestamp is None


def test_a_reference_names_its_owner_by_uid_and_says_that_it_manages():
    owner = {"apiVersion": "x/v1", "kind": "K", "metadata": {"name": "n", "uid": "u", "labels": {}}}
    assert owner_reference(owner) == {
        "apiVersion": "x/v1",
        "kind": "K",
        "name": "n",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    assert owner_reference(owner, block=False)["blockOwnerDeletion"] is False


def test_a_pod_in_its_grace_period_is_not_over():
    meta = Meta(deletion_timestamp="now", deletion_grace_period_seconds=30)
    assert not Resource(meta).over
    assert Resource(Meta(deletion_timestamp="now")).over
    assert not Resource(Meta(deletion_timestamp="now", finalizers=("x",))).over
    assert not Resource(Meta()).over
