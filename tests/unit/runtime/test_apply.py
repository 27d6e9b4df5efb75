"""The one way to write: what is sent, what is not, and what holds nobody up."""

import asyncio
import time
from collections.abc import Iterator

import msgspec
import pytest

from shoal.kube.kinds import CONFIG_MAP, POD
from shoal.kube.objects import Meta, Object, Resource
from shoal.kubeapi.errors import ExistsError, ForbiddenError, Status
from shoal.runtime import clock
from shoal.runtime.apply import DIGEST, SIDE_BY_SIDE, STEP_S, Applier, Rules, mark
from shoal.runtime.store import Store

OWNER: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "owner", "namespace": "ns", "uid": "owner-uid"},
}


def pod(number: int) -> Object:
    meta = {"name": f"w-{number}", "namespace": "ns", "annotations": {"a": "b"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"hostname": "x"}}


class Wire:
    """Takes objects as the API server does, and fails as it is told to."""

    def __init__(self, **failures: Exception) -> None:
        self.failures = failures
        self.calls: list[tuple[str, str]] = []
        self.most = self._now = 0

    async def create(self, _kind, obj, type_):
        return await self._take("create", obj, type_)

    async def apply(self, _kind, obj, type_, *, force=False):
        assert force
        return await self._take("apply", obj, type_)

    async def delete(self, what, _type, _demand):
        self.calls.append(("delete", what.name))

    async def _take(self, verb: str, obj: Object, type_: type[Resource]) -> Resource:
        name = obj["metadata"]["name"]
        self._now += 1
        self.most = max(self.most, self._now)
        await clock.sleep(0)
        self._now -= 1
        if failure := self.failures.get(f"{verb} {name}"):
            raise failure
        self.calls.append((verb, name))
        version = str(10 + len(self.calls))
        owners = obj["metadata"]["ownerReferences"]
        meta = {**obj["metadata"], "uid": f"uid-{name}", "resourceVersion": version}
        assert owners[0]["uid"] == "owner-uid"
        return type_(metadata=msgspec.convert(meta, Meta))


def refused(kind: type[Exception]) -> Exception:
    return kind("PATCH /x", Status(message="no"))


def applier(wire: Wire) -> Applier:
    return Applier(wire, {POD: Store(POD, Resource), CONFIG_MAP: Store(CONFIG_MAP, Resource)})


async def test_what_is_so_already_is_not_sent_again():
    made = applier(wire := Wire())
    first = await made.apply(OWNER, [pod(0), pod(1)])
    second = await made.apply(OWNER, [pod(0), pod(1)])
    assert (first.written, second.written) == (2, 0)
    assert len(wire.calls) == 2


async def test_a_marked_object_leaves_the_rendered_one_as_it_was():
    rendered = pod(0)
    marked = mark(rendered, OWNER)
    assert rendered == pod(0)
    assert DIGEST in marked["metadata"]["annotations"]
    assert marked["metadata"]["annotations"]["a"] == "b"


async def test_many_are_written_side_by_side_and_not_more():
    made = applier(wire := Wire())
    await made.apply(OWNER, (pod(number) for number in range(200)))
    assert wire.most == SIDE_BY_SIDE


async def test_a_generator_is_read_only_as_far_as_it_is_written():
    made, ahead = applier(wire := Wire()), []

    def rendered() -> Iterator[Object]:
        for number in range(200):
            ahead.append(number - len(wire.calls))
            yield pod(number)

    assert (await made.apply(OWNER, rendered())).written == 200
    assert max(ahead) <= SIDE_BY_SIDE


async def test_a_pass_that_writes_nothing_lets_others_have_their_turn():
    made = applier(Wire())
    await made.apply(OWNER, [pod(number) for number in range(20)])
    beats, done = 0, False

    async def beat() -> None:
        nonlocal beats
        while not done:
            await clock.sleep(0)
            beats += 1

    def slowly() -> Iterator[Object]:
        for number in range(20):
            time.sleep(2 * STEP_S / 3)
            yield pod(number)

    beating = asyncio.create_task(beat())
    assert (await made.apply(OWNER, slowly())).written == 0
    seen, done = beats, True
    await beating
    assert seen >= 5


async def test_a_new_object_of_a_kind_that_is_posted_is_posted():
    made = applier(wire := Wire())
    await made.apply(OWNER, [pod(0)], Rules(post=[POD]))
    await made.apply(OWNER, [pod(0)], Rules(post=[POD]))
    assert wire.calls == [("create", "w-0")]


async def test_a_posted_object_that_the_cache_did_not_know_is_applied():
    made = applier(wire := Wire(**{"create w-0": refused(ExistsError)}))
    assert (await made.apply(OWNER, [pod(0)], Rules(post=[POD]))).written == 1
    assert wire.calls == [("apply", "w-0")]


async def test_a_posted_object_that_changes_is_applied():
    made = applier(wire := Wire())
    await made.apply(OWNER, [pod(0)], Rules(post=[POD]))
    changed = {**pod(0), "spec": {"hostname": "y"}}
    await made.apply(OWNER, [changed], Rules(post=[POD]))
    assert wire.calls == [("create", "w-0"), ("apply", "w-0")]


async def test_one_failure_does_not_keep_the_others_from_being_written():
    made = applier(wire := Wire(**{"apply w-3": refused(ForbiddenError)}))
    with pytest.raises(ForbiddenError):
        await made.apply(OWNER, (pod(number) for number in range(100)))
    assert len(wire.calls) == 99


async def test_nothing_is_pruned_when_something_could_not_be_written():
    made = applier(wire := Wire(**{"apply w-1": refused(ForbiddenError)}))
    await made.apply(OWNER, [pod(0)])
    with pytest.raises(ForbiddenError):
        await made.apply(OWNER, [pod(1)], Rules(prune=[POD]))
    assert ("delete", "w-0") not in wire.calls


async def test_nothing_is_pruned_when_something_could_not_be_rendered():
    made = applier(wire := Wire())
    await made.apply(OWNER, [pod(0), pod(1)])

    def broken() -> Iterator[Object]:
        yield pod(0)
        raise RuntimeError("a bug in a renderer")

    with pytest.raises(RuntimeError, match="a bug in a renderer"):
        await made.apply(OWNER, broken(), Rules(prune=[POD]))
    assert ("delete", "w-1") not in wire.calls


async def test_what_is_gone_is_not_remembered():
    made = applier(Wire())
    await made.apply(OWNER, [pod(0), pod(1)])
    await made.apply(OWNER, [pod(0)], Rules(prune=[POD]))
    assert list(made._settled) == ["uid-w-0"]


async def test_what_an_owner_has_apart_from_an_application_is_not_pruned_by_it():
    made = applier(wire := Wire())
    await made.apply(OWNER, [pod(0), pod(1)])
    theirs = Rules(prune=[POD], among=lambda obj: obj.metadata.name != "w-0")
    await made.apply(OWNER, [], theirs)
    assert [call for call in wire.calls if call[0] == "delete"] == [("delete", "w-1")]
