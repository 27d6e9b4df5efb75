"""Keep login nodes as asked."""

from asyncio import to_thread
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ..decide.conditions import Wanted
from ..host.ssh_keys import host_keys
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Object, Resource, owner_reference
from ..kubeapi.errors import ExistsError
from ..model.cluster import Cluster
from ..model.login import LoginSet
from ..render import login as render
from ..runtime.apply import Rules
from ..runtime.controller import Done
from .passes import Asked, Hands, keys, without_cluster

RULES = Rules(prune=(kinds.DEPLOYMENT, kinds.SERVICE, kinds.CONFIG_MAP))


@dataclass(frozen=True)
class LoginController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], tuple[Cluster | None, LoginSet]]  # the dialect
    status: Callable[[LoginSet, int, int], Object]  # the dialect's, of replicas and those ready

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # what it owns goes with it
        cluster, login = self.read(obj)
        if cluster is None:
            return await self.hands.bring_about(
                self.kind, obj, without_cluster(login.part, login.cluster)
            )
        if not login.host_keys_digest:
            await self._make_host_keys(obj, login)
            cluster, login = self.read(obj)
            assert cluster is not None, "nothing but a Secret was made"
        return await self.hands.bring_about(self.kind, obj, self._asked(cluster, login))

    def _asked(self, cluster: Cluster, login: LoginSet) -> Asked:
        where = (login.part.namespace, login.names.workload)
        workload = self.hands.world.workload(kinds.DEPLOYMENT, where)
        seen = workload.status if workload else None
        return Asked(
            render.objects(cluster, login),
            RULES,
            Wanted((*keys(cluster.keys), login.sssd), pods=login.replicas),
            login.part,
            (kinds.DEPLOYMENT, where),
            status=self.status(
                login, seen.replicas if seen else 0, seen.ready_replicas if seen else 0
            ),
        )

    async def _make_host_keys(self, obj: Resource, login: LoginSet) -> None:
        """Make the host keys, once: whoever logged in before must find the same host."""
        store = self.hands.world.stores[kinds.SECRET]
        files = await to_thread(host_keys)
        secret = {
            "apiVersion": kinds.SECRET.api_version,
            "kind": kinds.SECRET.kind,
            "metadata": {
                "namespace": login.part.namespace,
                "name": login.names.host_keys,
                "labels": dict(login.part.labels),
                "ownerReferences": [owner_reference(self.kind.identity(obj))],
            },
            "immutable": True,
            "data": {name: b64encode(text).decode() for name, text in files.items()},
        }
        with suppress(ExistsError):  # the store does not know it yet
            store.put(await self.hands.client.create(kinds.SECRET, secret, store.type))
