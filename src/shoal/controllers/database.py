"""The database of ours behind slurmdbd: what there is of its name, and how large its claim is.

No claim is ever made smaller or taken away.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..decide.database import AT, Things
from ..kube import kinds, quantities
from ..kube.objects import Key, Object, Resource
from ..kubeapi.client import Ref
from ..kubeapi.errors import ForbiddenError, InvalidError, NotFoundError
from ..model.accounting import ManagedAccounting
from ..model.database import STORAGE, OwnDatabase, claim_of
from ..runtime import clock
from ..runtime.apply import DIGEST
from .passes import Hands
from .world import World

SIZE = f"{AT}.mariadbOperator.storage"
# When a claim is tried again that could not be enlarged: a StorageClass that changes wakes nobody.
AGAIN = timedelta(minutes=10)
# What Kubernetes adds to the template of a claim.
_ADDED = {"volumeMode": "Filesystem"}


# -- what there is


def things(world: World, namespace: str, name: str, uid: str, labels: Mapping[str, str]) -> Things:
    """Look for what there is under the names of a cluster's database."""

    def there(kind: kinds.Kind, called: str) -> Resource | None:
        found: Resource | None = world.get(kind, (namespace, called))
        return found

    claim = there(kinds.PERSISTENT_VOLUME_CLAIM, claim_of(name))
    return Things(
        name,
        labels,
        DIGEST,
        uid,
        there(kinds.STATEFUL_SET, name),
        claim if claim is not None and not claim.deleting else None,
        there(kinds.MARIADB, name),
    )


# -- its claim


@dataclass(frozen=True)
class Settled:
    """A database as it can be, and what of it is not as asked."""

    books: ManagedAccounting
    words: str = ""  # with the cure; empty: all of it is


@dataclass
class Claims:
    """Brings claims of databases to the size that is asked for; remembers what it has seen."""

    hands: Hands
    # Of a StatefulSet: its uid, and the spec of the claim that it was made with; neither changes.
    _made: dict[Key, tuple[str, Object | None]] = field(default_factory=dict)
    # Of a claim: its version, what was wanted of it, what came of that, and when.
    _tried: dict[Key, tuple[str, object, str, datetime]] = field(default_factory=dict)

    async def settle(self, books: ManagedAccounting) -> Settled:
        """Return the database with the claim that it has, once that is as large as it may get."""
        store = books.store
        if not isinstance(store, OwnDatabase):
            return Settled(books)
        made = await self._template(books.part.namespace, store)
        if made is _NEVER:
            return Settled(books)
        kept = replace(books, store=replace(store, storage=_as_written(made, store.storage)))
        if made is None or store.storage is None:
            return Settled(kept, _moved(store, made))
        words = await self._enlarge(books.part.namespace, store.name, store.storage)
        return Settled(kept, words or _otherwise(store, made))

    async def _template(self, namespace: str, store: OwnDatabase) -> Object | None:
        """Return the claim of a StatefulSet; None: it has none; `_NEVER`: there is no such set."""
        found = self.hands.world.workload(kinds.STATEFUL_SET, (namespace, store.name))
        if found is None:
            return _NEVER
        uid, known = found.metadata.uid, self._made.get(found.key)
        if known is None or known[0] != uid:
            where = Ref(kinds.STATEFUL_SET, namespace, store.name)
            try:
                live: Object = await self.hands.client.get(where, dict)
            except NotFoundError:  # the store does not know it yet
                return _NEVER
            claims = live["spec"].get("volumeClaimTemplates") or ()
            specs = [one["spec"] for one in claims if one["metadata"]["name"] == STORAGE]
            known = self._made[found.key] = (uid, specs[0] if specs else None)
        return known[1]

    async def _enlarge(self, namespace: str, name: str, wanted: Object) -> str:
        """Have a claim enlarged; return what is in the way of that, with the cure."""
        where = Ref(kinds.PERSISTENT_VOLUME_CLAIM, namespace, claim_of(name))
        store, size = self.hands.world.stores[where.kind], _size(wanted)
        known = store.get((namespace, where.name))
        if known is None or known.deleting or size is None:
            return ""
        version = known.metadata.resource_version  # no other claim of its name ever has it
        before, now = self._tried.get(known.key), clock.now()
        if before is not None and before[:2] == (version, size) and now - before[3] < AGAIN:
            return before[2]
        try:
            live: Object = await self.hands.client.get(where, dict)
            words = await self._compare(where, live, size)
        except NotFoundError:
            return ""
        self._tried[known.key] = (version, size, words, now)
        return words

    async def _compare(self, where: Ref, live: Object, size: str | int) -> str:
        asked = _size(live.get("spec", {}))
        if asked is None or quantities.parse(asked) == quantities.parse(size):
            return _resizing(where.name, live)
        if quantities.parse(asked) > quantities.parse(size):
            return f"{SIZE}: claim {where.name} has {asked} and cannot shrink; set that size again"
        change = {
            "metadata": {"uid": live["metadata"]["uid"]},
            "spec": {"resources": {"requests": {"storage": size}}},
        }
        store = self.hands.world.stores[where.kind]
        try:
            store.put(await self.hands.client.patch(where, change, store.type))
        except (ForbiddenError, InvalidError) as error:
            words = f"{SIZE}: claim {where.name} stays at {asked}: {error}"
            cure = "set allowVolumeExpansion in its StorageClass, or move the records to another"
            return f"{words}; {cure}"
        return f"claim {where.name} is being enlarged to {size}"


# Nobody has made it yet, so that it is made as asked.
_NEVER: Object = {}


def _size(spec: Object) -> str | int | None:
    found: str | int | None = spec.get("resources", {}).get("requests", {}).get("storage")
    return found


def _as_written(made: Object | None, wanted: Object | None) -> Object | None:
    """Return a claim's spec as we wrote it: nothing else may be written ever again."""
    if made is None:
        return None
    asked = wanted or {}
    return {k: v for k, v in made.items() if k in asked or _ADDED.get(k) != v}


def _moved(store: OwnDatabase, made: Object | None) -> str:
    """Say what is not done for a database that was asked for with or without a claim before."""
    if (store.storage is None) == (made is None):
        return ""
    if made is None:
        words = f"{SIZE}: StatefulSet {store.name} was made without a claim, and stays so"
        return f"{words}; to lose its records and have it made anew: delete it"
    words = f"{SIZE}.ephemeral: StatefulSet {store.name} has a claim, and keeps it"
    return f"{words}; set it to false, or delete the StatefulSet to have it made without"


def _otherwise(store: OwnDatabase, made: Object) -> str:
    """Say what of a claim cannot be as asked, beside its size."""
    asked = store.storage or {}
    known = {**made, **{k: v for k, v in _ADDED.items() if k not in asked}}
    fields = [
        key
        for key in ("storageClassName", "accessModes", "volumeMode")
        if asked.get(key, _ADDED.get(key)) != known.get(key)
    ]
    if not fields:
        return ""
    words = f"{SIZE}: claim {claim_of(store.name)} keeps its {' and its '.join(fields)}"
    return f"{words}; put that back, or move the records to a claim of your own"


def _resizing(claim: str, live: Object) -> str:
    """Say what a claim that grows waits for."""
    status, asked = live.get("status", {}), _size(live.get("spec", {}))
    has = status.get("capacity", {}).get("storage")
    if has is None or asked is None or quantities.parse(has) >= quantities.parse(asked):
        return ""
    told = status.get("conditions") or ()
    if any(c["type"] == "FileSystemResizePending" and c["status"] == "True" for c in told):
        pod = claim.removeprefix(f"{STORAGE}-")
        return f"claim {claim} grows when its pod starts anew: kubectl delete pod {pod}"
    return f"claim {claim} is being enlarged to {asked}"
