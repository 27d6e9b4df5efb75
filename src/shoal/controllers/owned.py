"""What the operator makes for itself goes with its ServiceAccount: its Lease, its certificate.

Nobody else could remove them. A release that is uninstalled takes the operator's rights with it
before its pods end, and Helm knows only what it has made. So they have an owner, and the garbage
collector does it.
"""

from typing import TypeVar

import msgspec

from ..kube.kinds import Kind
from ..kube.objects import Object
from ..kubeapi.access import Access
from ..kubeapi.client import Client, Observe, Through, directly, unobserved
from ..kubeapi.errors import ApiError, ForbiddenError, NotFoundError

# Everybody may ask who they are, unless the cluster's owner has taken that away.
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
ACCOUNT = "system:serviceaccount:"

Own = tuple[Kind, str]
T = TypeVar("T")


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    user_info: _User = _User()


class _Review(msgspec.Struct, frozen=True):
    status: _Status = _Status()


def owner(username: str, uid: str, namespace: str) -> list[Object]:
    """Return the reference to an account of `namespace`; none for any other user."""
    space, _, name = username.removeprefix(ACCOUNT).partition(":")
    if not username.startswith(ACCOUNT) or space != namespace or not uid:
        return []
    return [{"apiVersion": "v1", "kind": "ServiceAccount", "name": name, "uid": uid}]


class Owned(Client):
    """A client that has the `own` objects among those it makes belong to its account."""

    def __init__(
        self,
        access: Access,
        manager: str,
        through: Through = directly,
        observe: Observe = unobserved,
        own: frozenset[Own] = frozenset(),
    ) -> None:
        super().__init__(access, manager, through, observe)
        self._own = own
        self._user: _User | None = None  # not asked yet

    async def create(self, kind: Kind, obj: Object, type_: type[T]) -> T:
        """Create `obj` and return what the API server made of it."""
        return await super().create(kind, await self._owned(kind, obj), type_)

    async def replace(self, kind: Kind, obj: Object, type_: type[T], subresource: str = "") -> T:
        """Replace one object, or its status; `obj` carries the version that it replaces."""
        return await super().replace(kind, await self._owned(kind, obj), type_, subresource)

    async def _owned(self, kind: Kind, obj: Object) -> Object:
        meta = obj["metadata"]
        if (kind, meta["name"]) not in self._own:
            return obj
        user = await self._who()
        found = owner(user.username, user.uid, meta.get("namespace", ""))
        return {**obj, "metadata": {**meta, "ownerReferences": found}} if found else obj

    async def _who(self) -> _User:
        if self._user is None:
            try:
                self._user = (await self.post(REVIEWS, REVIEW, _Review)).status.user_info
            except (ForbiddenError, NotFoundError):
                self._user = _User()  # nobody will ever say
            except ApiError:
                return _User()  # asked again with the next write
        return self._user
