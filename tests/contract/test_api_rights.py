"""Rights: what a controller has not declared it may not do."""

import pytest

from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import ForbiddenError

from .apis import PARENT


async def test_only_what_was_allowed_is_done(api):
    await api.create(api.parent(replicas=1))
    await api.allow("reader", "get list", "parents")
    async with api.connect("x", user="reader") as client:
        assert len(await client.every(Which(PARENT, api.namespace), Resource)) == 1
        with pytest.raises(ForbiddenError, match='cannot patch resource "parents"'):
            await client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 2}}, dict)
        with pytest.raises(ForbiddenError, match='cannot delete resource "parents"'):
            await client.delete(api.ref(PARENT, "p"), Resource)
        with pytest.raises(ForbiddenError, match='cannot list resource "configmaps"'):
            await client.every(Which(kinds.CONFIG_MAP, api.namespace), Resource)


async def test_the_status_is_a_right_of_its_own(api):
    await api.create(api.parent(replicas=1))
    await api.allow("reporter", "patch", "parents/status")
    async with api.connect("x", user="reporter") as client:
        where = api.ref(PARENT, "p", "status")
        assert await client.patch(where, {"status": {"word": "x"}}, dict)
        with pytest.raises(ForbiddenError, match='cannot patch resource "parents"'):
            await client.patch(api.ref(PARENT, "p"), {"spec": {"replicas": 2}}, dict)


async def test_applying_what_is_not_there_yet_needs_the_right_to_create(api):
    await api.allow("applier", "get patch", "configmaps")
    async with api.connect("x", user="applier") as client:
        with pytest.raises(ForbiddenError, match="cannot create"):
            await client.apply(kinds.CONFIG_MAP, api.config_map("a", x="1"), dict)
        await api.create(api.config_map("a"))
        changed = await client.apply(kinds.CONFIG_MAP, api.config_map("a", x="1"), dict)
    assert changed["data"] == {"x": "1"}


async def test_evicting_is_a_right_of_its_own(api):
    await api.create(api.pod("w"))
    await api.allow("evicter", "delete", "pods")
    async with api.connect("x", user="evicter") as client:
        with pytest.raises(ForbiddenError, match='cannot create resource "pods/eviction"'):
            await client.evict(api.namespace, "w")
    assert not await api.gone(kinds.POD, "w")


async def test_what_is_not_there_is_refused_before_it_is_looked_for(api):
    await api.allow("nobody", "get", "pods")
    async with api.connect("x", user="nobody") as client:
        with pytest.raises(ForbiddenError):
            await client.get(api.ref(PARENT, "absent"), dict)
    assert await api.gone(PARENT, "absent")
