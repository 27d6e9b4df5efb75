"""The workers' claims: made before their pods, and who takes them along when going. Pure.

Kubernetes deletes a claim with its owner. So a claim has none, or the NodeSet, or, from the moment
in which its worker is ended because fewer are wanted, that worker's pod. An update, a cordon or an
accident never costs a claim.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..kube import kinds
from ..kube.objects import Object, owner_reference
from ..model.claims import claim_name
from ..model.workers import Fleet, Worker
from .plan import Action, CreateClaim, CreateWorker, DeleteWorker, HoldClaim, Plan, Wait
from .scale import SCALE_IN
from .wanted import Wanted

AGAIN_S = 15.0
_NEEDED = "its worker needs it"
_WITH = {
    True: "it goes with its worker, which is scaled in",
    False: "it goes with its NodeSet",
}
_WITH_NOBODY = "it stays when its worker or its NodeSet goes"


def with_claims(wanted: Wanted, fleet: Fleet, plan: Plan, owner: Object) -> Plan:
    """Return `plan` with what has to be done about claims before its workers come and go.

    `owner` is the NodeSet. A worker whose claim is about to go waits until that is gone: it would
    be given a volume that is lost.
    """
    if not wanted.nodeset.claims and not fleet.claims:
        return plan
    books = _Books(wanted, fleet, owner)
    gone = {a.uid for a in plan if isinstance(a, DeleteWorker) and a.why == SCALE_IN}
    first: list[Action] = [*books.held(gone), *books.missing()]
    rest: list[Action] = []
    for action in plan:
        if not isinstance(action, CreateWorker):
            rest.append(action)
        elif why := books.in_the_way(action):
            rest.append(Wait(why, AGAIN_S))
        else:
            first.extend(books.made(books.whose_new(action)))
            rest.append(action)
    return (*first, *rest)


def conflicts(wanted: Wanted, fleet: Fleet, owner: Object) -> dict[str, str]:
    """Return the claims that should go with a worker or the NodeSet and belong to others: whose."""
    retention = wanted.nodeset.retention
    if not fleet.claims or not (retention.delete_with_set or retention.delete_with_worker):
        return {}
    books, found = _Books(wanted, fleet, owner), {}
    for name, claim in sorted(fleet.claims.items()):
        holder = _controller(claim["metadata"].get("ownerReferences") or ())
        ours = holder is None or holder["uid"] == owner["metadata"]["uid"]
        if holder is not None and not ours and not books.former(holder):
            found[name] = f"{holder['kind']} {holder['name']}"
    return found


@dataclass(frozen=True)
class _Books:
    """All that is known of claims in one pass."""

    wanted: Wanted
    fleet: Fleet
    owner: Object

    # -- which are whose

    def names(self, whose: str) -> list[str]:
        nodeset = self.wanted.nodeset
        return [claim_name(nodeset, template, whose) for template in nodeset.claims]

    def whose(self, worker: Worker) -> str:
        if worker.number is None:
            return worker.node
        # The digits that it was made with: how many they shall be may have changed since.
        index = worker.pod.metadata.labels.get(self.wanted.naming.labels.pod_index)
        return index or self.wanted.nodeset.index(worker.number)

    def whose_new(self, action: CreateWorker) -> str:
        if action.number is None:
            return action.hostname
        return self.wanted.nodeset.index(action.number)

    # -- those that come

    def made(self, whose: str) -> Iterator[Action]:
        with_set = self.wanted.nodeset.retention.delete_with_set
        owners = (_reference(self.owner),) if with_set else ()
        for name in self.names(whose):
            if name not in self.fleet.claims:
                yield CreateClaim(_NEEDED, name, whose, owners)

    def missing(self) -> Iterator[Action]:
        """Give the claims that somebody deleted, and without which a pod cannot start."""
        for worker in self.fleet.workers:
            if worker.living and worker.pod.status.phase == "Pending":
                yield from self.made(self.whose(worker))

    def in_the_way(self, action: CreateWorker) -> str:
        """Say why a worker cannot come yet; empty: it can."""
        for name in self.names(self.whose_new(action)):
            meta = self.fleet.claims.get(name, {}).get("metadata", {})
            if meta.get("deletionTimestamp"):
                return f"claim {name} of a former worker is being deleted"
            holder = _controller(meta.get("ownerReferences") or ())
            if holder is not None and self.former(holder):
                return f"claim {name} goes with a former {holder['kind']}"
        return ""

    def former(self, holder: Object) -> bool:
        """Say whether a claim goes with what is gone: an earlier pod, or a NodeSet before this."""
        owner = self.owner
        if holder["kind"] == owner["kind"] and holder["name"] == owner["metadata"]["name"]:
            return bool(holder["uid"] != owner["metadata"]["uid"])
        return bool(holder["kind"] == kinds.POD.kind)

    # -- who holds those that are there

    def held(self, gone: set[str]) -> Iterator[Action]:
        retention = self.wanted.nodeset.retention
        at_rest = _reference(self.owner) if retention.delete_with_set else None
        seen: set[str] = set()
        for worker in self.fleet.workers:
            names = self.names(self.whose(worker))
            seen.update(names)
            if worker.pod.deleting:
                continue  # it has been settled what goes with it
            goes = retention.delete_with_worker and worker.uid in gone
            holder = _pod(worker) if goes else at_rest
            for name in names:
                if change := self.hold(name, holder, worker.uid):
                    yield change
        # What a worker left behind is given to nobody, but is no longer lost with the NodeSet.
        for name in sorted(self.fleet.claims.keys() - seen) if at_rest is None else ():
            if change := self.hold(name, None, ""):
                yield change

    def hold(self, name: str, holder: Object | None, uid: str) -> Action | None:
        found = self.fleet.claims.get(name)
        if found is None or found["metadata"].get("deletionTimestamp"):
            return None
        meta = found["metadata"]
        there = meta.get("ownerReferences") or ()
        now = _controller(there)
        had, has = now["uid"] if now else "", holder["uid"] if holder else ""
        # Somebody else's, or that of a pod that is gone: then Kubernetes is about to delete it.
        foreign = had not in ("", uid, self.owner["metadata"]["uid"])
        if had == has or foreign:
            return None
        # What others have added beside it is theirs.
        owners = tuple(r for r in there if r is not now and r["uid"] != has)
        why = _WITH[holder["kind"] == kinds.POD.kind] if holder else _WITH_NOBODY
        version = meta.get("resourceVersion", "")
        return HoldClaim(why, name, version, (*owners, holder) if holder else owners, uid)


def _controller(references: Iterable[Object]) -> Object | None:
    return next((reference for reference in references if reference.get("controller")), None)


def _reference(owner: Object) -> Object:
    # It does not hold its owner up: a volume in use outlives its pod by design.
    return owner_reference(owner, block=False)


def _pod(worker: Worker) -> Object:
    meta = {"name": worker.name, "uid": worker.uid}
    return _reference(
        {"apiVersion": kinds.POD.api_version, "kind": kinds.POD.kind, "metadata": meta}
    )
