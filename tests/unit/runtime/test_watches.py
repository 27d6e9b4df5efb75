"""Which change wakes which key."""

from dataclasses import replace

import msgspec
import pytest

from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Meta, OwnerReference, Resource
from shoal.runtime.queue import Urgency
from shoal.runtime.watches import always, itself, main, owned, spec_changed

PARENT = Kind("example.com", "v1", "Parent", "parents")
QUEEN = replace(PARENT, kind="Queen", plural="queens", namespaced=False)


def make(**meta) -> Resource:
    return Resource(Meta(**{"name": "a", "namespace": "n", "uid": "u", "generation": 1, **meta}))


def child_of(kind: str, api_version: str, *, controller: bool = True) -> Resource:
    return make(owner_references=(OwnerReference(kind, "mum", "1", api_version, controller),))


def changed(obj: Resource, **meta) -> Resource:
    return Resource(msgspec.structs.replace(obj.metadata, resource_version="9", **meta))


def test_an_object_wakes_its_own_key_at_once_when_its_user_changes_it():
    watch = main(PARENT)
    assert (watch.of, watch.when, watch.urgency) == (itself, spec_changed, Urgency.USER)
    assert list(itself(make())) == [("n", "a")]


@pytest.mark.parametrize(
    "meta",
    [
        {"generation": 2},
        {"deletion_timestamp": "2026-01-01T00:00:00Z"},
        {"labels": {"a": "b"}},
        {"annotations": {"a": "b"}},
        {"finalizers": ("x",)},
        {"uid": "another"},
    ],
)
def test_what_a_user_does_wakes(meta):
    assert spec_changed(make(), changed(make(), **meta))


def test_a_new_status_alone_does_not_wake():
    assert not spec_changed(make(), changed(make()))


def test_coming_and_going_wake():
    assert spec_changed(None, make())
    assert spec_changed(make(), None)


def test_an_object_that_counts_no_generations_wakes_at_every_change():
    assert spec_changed(make(generation=0), changed(make(generation=0)))


def test_always_is_always():
    assert always(make(), make())


def test_an_owned_object_wakes_its_owner():
    watch = owned(kinds.POD, PARENT)
    assert watch.kind is kinds.POD
    assert list(watch.of(child_of("Parent", "example.com/v1"))) == [("n", "mum")]


def test_an_owner_is_known_by_its_group_whatever_the_version():
    assert list(owned(kinds.POD, PARENT).of(child_of("Parent", "example.com/v1alpha1")))


@pytest.mark.parametrize("owner", [("Parent", "other.com/v1"), ("Other", "example.com/v1")])
def test_a_stranger_with_a_similar_name_is_not_woken(owner):
    assert not list(owned(kinds.POD, PARENT).of(child_of(*owner)))


def test_an_owner_that_does_not_manage_the_object_is_not_woken():
    mere = child_of("Parent", "example.com/v1", controller=False)
    assert not list(owned(kinds.POD, PARENT).of(mere))


def test_an_object_without_an_owner_wakes_nobody():
    assert not list(owned(kinds.POD, PARENT).of(make()))


def test_an_owner_of_kubernetes_own_core_group_is_woken():
    found = owned(kinds.POD, kinds.CONFIG_MAP).of(child_of("ConfigMap", "v1"))
    assert list(found) == [("n", "mum")]


def test_the_key_of_an_owner_without_a_namespace_has_none():
    found = owned(kinds.POD, QUEEN).of(child_of("Queen", "example.com/v1"))
    assert list(found) == [("", "mum")]
