"""What a process that has just begun asks about objects that it wrote in an earlier life."""

import asyncio

import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Lost, Network
from fakes.refusals import Refusal
from fakes.wire import FakeClient
from shoal.kube.kinds import CONFIG_MAP, POD
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.client import Ref, Which
from shoal.kubeapi.errors import ForbiddenError
from shoal.runtime.recall import Recall, shows

LOOP = VirtualLoop
MARK = "shoal/applied"


class Past:
    """Objects that an earlier process applied, and a stranger."""

    def __init__(self) -> None:
        self.network = Network(FakeApi(), latency_s=(0, 0), lag_s=(0, 0))
        self.client = FakeClient(self.network)
        self.stranger = FakeClient(self.network, "stranger")
        self.recall = Recall(self.client, MARK)

    def said(self, name: str = "a", **annotations: str) -> Object:
        meta = {"name": name, "namespace": "default", "annotations": {MARK: "1", **annotations}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"x": "1"}}

    async def made(self, name: str = "a") -> Resource:
        return await self.client.apply(CONFIG_MAP, self.said(name), Resource)

    async def now(self, name: str = "a") -> Resource:
        return await self.client.get(Ref(CONFIG_MAP, "default", name), Resource)

    async def tamper(self, change: Object, name: str = "a") -> None:
        await self.stranger.patch(Ref(CONFIG_MAP, "default", name), change, dict)

    async def untouched(self, live: Resource) -> bool:
        return await self.recall.untouched(CONFIG_MAP, live, self.said(live.metadata.name))

    @property
    def lists(self) -> int:
        return self.network.api.requests.count("list configmaps")


async def test_what_nobody_touched_is_known_to_be_so():
    past = Past()
    assert await past.untouched(await past.made())


@pytest.mark.parametrize("change", [{"data": {"x": "2"}}, {"data": None}])
async def test_what_somebody_touched_is_known_to_be_so(change):
    past = Past()
    await past.made()
    await past.tamper(change)
    assert not await past.untouched(await past.now())


async def test_what_others_added_is_no_touch():
    past = Past()
    await past.made()
    await past.tamper({"data": {"y": "2"}, "metadata": {"labels": {"a": "b"}}})
    assert await past.untouched(await past.now())


async def test_what_changed_since_it_was_asked_is_not_known():
    past = Past()
    await past.made("a")
    assert await past.untouched(await past.made("b"))
    await past.tamper({"data": {"x": "2"}})
    assert not await past.untouched(await past.now())


async def test_what_was_made_since_it_was_asked_is_not_known():
    past = Past()
    assert await past.untouched(await past.made("a"))
    assert not await past.untouched(await past.made("b"))


async def test_many_at_once_are_one_question():
    past = Past()
    live = [await past.made(f"c{number}") for number in range(20)]
    assert all(await asyncio.gather(*map(past.untouched, live)))
    assert past.lists == 1


async def test_each_kind_and_namespace_is_asked_for_on_its_own():
    past = Past()
    await past.untouched(await past.made())
    elsewhere = past.said("b")
    elsewhere["metadata"]["namespace"] = "kube-system"
    other = await past.client.apply(CONFIG_MAP, elsewhere, Resource)
    assert await past.recall.untouched(CONFIG_MAP, other, elsewhere)
    assert past.lists == 2
    assert not await past.recall.untouched(POD, other, elsewhere)
    assert past.network.api.requests.count("list pods") == 1


async def test_a_question_without_an_answer_is_asked_again():
    past = Past()
    live = await past.made()
    past.network.plan(Refusal(403, "Forbidden", "no"), "list")
    with pytest.raises(ForbiddenError):
        await past.untouched(live)
    past.network.plan(Lost(), "list")
    assert await past.untouched(live)


async def test_a_pass_that_is_cut_while_it_asks_leaves_the_question_to_the_next():
    past = Past()
    live = await past.made()
    past.network.latency_s = (1, 1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await past.untouched(live)
    assert await past.untouched(live)


async def test_a_list_in_pages_is_read_to_its_end(monkeypatch):
    past = Past()
    live = [await past.made(f"c{number}") for number in range(7)]
    pages = past.client.pages
    monkeypatch.setattr(past.client, "pages", lambda which, type_: pages(which, type_, limit=2))
    assert [await past.untouched(one) for one in live] == [True] * 7


async def test_only_the_metadata_are_read(monkeypatch):
    past, asked = Past(), []
    live, pages = await past.made(), past.client.pages

    def noted(which, type_):
        asked.append(which)
        return pages(which, type_)

    monkeypatch.setattr(past.client, "pages", noted)
    assert await past.untouched(live)
    assert asked == [Which(CONFIG_MAP, "default", metadata_only=True)]


async def test_objects_without_our_mark_are_not_kept():
    past = Past()
    theirs = past.said("theirs")
    del theirs["metadata"]["annotations"]
    await past.stranger.apply(CONFIG_MAP, theirs, Resource)
    await past.untouched(await past.made())
    assert past.recall._seen == {}


async def test_objects_of_one_template_are_kept_as_one():
    past = Past()
    for number in range(5):
        await past.made(f"c{number}")
    await past.untouched(await past.now("c0"))
    kept = {id(seen.fields) for seen in past.recall._seen.values()}
    assert (len(past.recall._seen), len(kept)) == (4, 1)


async def test_labels_and_annotations_are_looked_at_as_they_are():
    past = Past()
    live = await past.made()
    assert shows(live, past.said())
    assert not shows(live, past.said(more="x"))
    labelled = past.said()
    labelled["metadata"]["labels"] = {"a": "b"}
    assert not shows(live, labelled)
