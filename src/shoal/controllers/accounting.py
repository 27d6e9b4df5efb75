"""Keep slurmdbd as asked."""

from collections.abc import Callable
from dataclasses import dataclass

from ..decide.conditions import Wanted
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.objects import Key, Resource
from ..model.accounting import Accounting, ExternalAccounting
from ..model.part import KeyRef
from ..render import accounting as render
from ..runtime.apply import Rules
from ..runtime.controller import Done
from .passes import Asked, Hands, keys

RULES = Rules(prune=(kinds.STATEFUL_SET, kinds.SERVICE, kinds.SECRET))


@dataclass(frozen=True)
class AccountingController:
    """Dependencies of the reconciler."""

    hands: Hands
    kind: Kind
    read: Callable[[Resource], Accounting]  # the dialect

    async def reconcile(self, key: Key) -> Done:
        """Run one pass."""
        obj = self.hands.world.get(self.kind, key)
        if obj is None or obj.deleting:
            return Done()  # what it owns goes with it
        return await self.hands.bring_about(self.kind, obj, self.asked(self.read(obj)))

    def asked(self, accounting: Accounting) -> Asked:
        """Return what is to be brought about."""
        if isinstance(accounting, ExternalAccounting):
            return Asked((), RULES)
        part, needs = accounting.part, (*keys(accounting.keys), accounting.database.password)
        found = self.hands.world.found(part.namespace).secrets
        password = found.get(accounting.database.password.name, {}).get(
            accounting.database.password.key
        )
        if password is None:
            # Without it nothing can be written that would work; what is there stays.
            return Asked((), Rules(), Wanted(needs), part)
        return Asked(
            render.objects(accounting, _text(password, accounting.database.password)),
            RULES,
            Wanted(needs, pods=1),
            part,
            (kinds.STATEFUL_SET, (part.namespace, accounting.name)),
        )


def _text(password: bytes, ref: KeyRef) -> str:
    try:
        return password.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"{ref.field}: {ref} holds no UTF-8 text; write the password as text"
        ) from None
