"""Finalizers: hold an object until its deletion was answered with what has to come before.

Others have finalizers there too, so the list is written for the very version that was seen: whoever
was faster makes the write a ConflictError, and the next pass looks again.
"""

from collections.abc import Sequence
from typing import TypeVar

from ..kube.objects import Resource
from ..kubeapi.client import Client, Ref
from ..kubeapi.errors import NotFoundError
from .store import Store

R = TypeVar("R", bound=Resource)


async def hold(client: Client, store: Store[R], obj: R, name: str) -> R:
    """Return `obj` held by `name`: deleted from now on, it stays until `release`."""
    known = obj.metadata.finalizers
    if name in known:
        return obj
    if obj.deleting:
        # The API server takes no new one then; to go on as if there were one would be worse.
        what = f"{store.kind.kind} {'/'.join(obj.key)}"
        raise ValueError(f"{what}: too late for finalizer {name}: look at `deleting` before `hold`")
    written = await _write(client, store, obj, [*known, name])
    store.put(written)
    return written


async def release(client: Client, store: Store[R], obj: R, name: str) -> R | None:
    """Return `obj` no longer held by `name`; None when that was the last thing that held it."""
    known = obj.metadata.finalizers
    if name not in known:
        return obj
    try:
        left = await _write(client, store, obj, [n for n in known if n != name])
    except NotFoundError:
        left = None
    if left is None or left.over:
        # The answer still shows it; the next pass must not.
        store.removed_by_us(obj.key, obj.metadata.uid)
        return None
    store.put(left)
    return left


async def _write(client: Client, store: Store[R], obj: R, names: Sequence[str]) -> R:
    meta = {"finalizers": names, "resourceVersion": obj.metadata.resource_version}
    return await client.patch(Ref(store.kind, *obj.key), {"metadata": meta}, store.type)
