"""The one way to report: a status is written when it says something new, and only then."""

from typing import TypeVar

import msgspec

from ..kube.objects import Object, Resource
from ..kubeapi.client import Client
from .store import Store

R = TypeVar("R", bound=Resource)


async def report(client: Client, store: Store[R], obj: R, before: object, after: Object) -> bool:
    """Make `after` the status of `obj`, which is `before` as it was read; say whether it was new.

    Everything that we ever reported has to be in `after`: what is left out is taken away.
    """
    if msgspec.to_builtins(before) == after:
        return False
    told = {**store.kind.identity(obj), "status": after}
    store.put(await client.apply(store.kind, told, store.type, force=True, subresource="status"))
    return True
