"""Admission: who may say no, and what is left then."""

import pytest

from shoal.kubeapi.errors import InvalidError

from .apis import PARENT


async def test_what_admission_refuses_is_not_made(api):
    await api.refuse("bad")
    with pytest.raises(InvalidError, match="the word is bad") as caught:
        await api.create(api.parent(word="bad"))
    assert caught.value.status.code == 422
    assert await api.gone(PARENT, "p")


async def test_a_change_that_admission_refuses_changes_nothing(api):
    await api.refuse("bad")
    made = await api.create(api.parent(word="good"))
    with pytest.raises(InvalidError):
        await api.client.patch(api.ref(PARENT, "p"), {"spec": {"word": "bad"}}, dict)
    assert await api.get(PARENT, "p") == made


async def test_what_is_applied_is_admitted_too(api):
    await api.refuse("bad")
    with pytest.raises(InvalidError):
        await api.apply("one", api.parent(word="bad"))
    assert await api.gone(PARENT, "p")
    assert (await api.apply("one", api.parent(word="good")))["spec"] == {"word": "good"}


async def test_what_is_refused_in_one_namespace_is_not_in_another(api):
    await api.create(api.parent(word="bad"))
    assert (await api.get(PARENT, "p"))["spec"] == {"word": "bad"}
