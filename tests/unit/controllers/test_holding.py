"""What a cluster cannot do without stays until the workers that are deleted with it are gone."""

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Network
from fakes.wire import FakeClient
from shoal.controllers.holding import Holding
from shoal.controllers.passes import Hands
from shoal.controllers.world import World
from shoal.kube import kinds
from shoal.kube.objects import Key, Resource
from shoal.kubeapi.client import Ref
from shoal.runtime.controller import Done
from shoal.runtime.store import Store

LOOP = VirtualLoop
KIND, NAME = kinds.CONFIG_MAP, "shoal/drain"
WHERE = Ref(KIND, "default", "a")


class Stage:
    """An object, its reconciler, and whether somebody needs it."""

    def __init__(self) -> None:
        client = FakeClient(Network(FakeApi(), latency_s=(0, 0), lag_s=(0, 0)))
        self.user, self.store = client, Store(KIND, Resource)
        self.needed, self.passes = False, 0
        hands = Hands(client, World({KIND: self.store}), None)  # type: ignore[arg-type]
        self.holding = Holding(hands, KIND, NAME, lambda _: self.needed, self._then)

    async def _then(self, _: Key) -> Done:
        self.passes += 1
        return Done(7.0)

    async def make(self, *finalizers: str) -> None:
        meta = {"name": "a", "namespace": "default", "finalizers": list(finalizers)}
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        self.store.put(await self.user.create(KIND, made, Resource))

    async def delete(self) -> None:
        left = await self.user.delete(WHERE, Resource)
        assert left is not None
        self.store.put(left)

    @property
    def there(self) -> list[str] | None:
        found = self.user.network.api.objects(KIND)
        return found[0]["metadata"].get("finalizers", []) if found else None


async def test_an_object_is_held_before_it_is_looked_after():
    stage = Stage()
    await stage.make()
    assert await stage.holding.reconcile(("default", "a")) == Done(7.0)
    assert (stage.there, stage.passes) == ([NAME], 1)


async def test_while_deleted_nodesets_need_it_it_is_kept_and_looked_after():
    stage = Stage()
    stage.needed = True
    await stage.make(NAME)
    await stage.delete()
    await stage.holding.reconcile(("default", "a"))
    assert (stage.there, stage.passes) == ([NAME], 1)


async def test_when_nobody_needs_it_any_more_it_goes():
    stage = Stage()
    await stage.make(NAME)
    await stage.delete()
    await stage.holding.reconcile(("default", "a"))
    assert stage.there is None


async def test_one_that_is_gone_is_nothing_to_hold():
    stage = Stage()
    await stage.holding.reconcile(("default", "a"))
    assert (stage.there, stage.passes) == (None, 1)
