"""Whose the things are that are called as the database of a cluster would be. Pure.

mariadb-operator calls the StatefulSet and the claim of its own just so. What is not ours is never
taken over.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..kube import kinds
from ..kube.objects import Resource, controller_of
from ..model.database import OperatorDatabase, OwnDatabase, Store, claim_of
from .conditions import Failed

# Reason of the condition.
TAKEN = "DatabaseTaken"
AT = "spec.slurmNodes.accounting"


@dataclass(frozen=True)
class Things:
    """What there is under the names of a cluster's database."""

    name: str
    labels: Mapping[str, str]  # that all of it has
    mark: str  # the annotation of what we wrote
    uid: str = ""  # of the cluster; empty: it is not there
    workload: Resource | None = None
    claim: Resource | None = None
    mariadb: Resource | None = None

    @property
    def ours(self) -> bool:
        """Say whether there are records in a database of ours: a claim alone has them, too."""
        if self.workload is not None:
            return self._made(self.workload)
        return self.claim is not None and self._labelled(self.claim)

    def taken(self, store: Store | None) -> Failed | None:
        """Fail as `DatabaseTaken` when somebody else has what the database would be."""
        match store:
            case OwnDatabase(storage=storage):
                words = self._in_the_way(claimed=storage is not None)
            case OperatorDatabase():
                words = self._in_their_way()
            case _:
                words = ""
        return Failed(TAKEN, words) if words else None

    def _in_the_way(self, *, claimed: bool) -> str:
        if self.workload is not None and not self._made(self.workload):
            cure = f"set {AT}.mariadbOperator.enabled to true if it is mariadb-operator's, "
            cure += f"name it in {AT}.externalDB, or delete it"
            return f"StatefulSet {self.name} {_whose(self.workload)}, and is left alone; {cure}"
        foreign = self.claim is not None and not self._labelled(self.claim)
        if self.workload is None and claimed and foreign:
            marks = " ".join(f"{key}={value}" for key, value in sorted(self.labels.items()))
            cure = f"rename or delete it, or have its files used: kubectl label pvc {self._claim}"
            words = "was not made for this database, and is left alone"
            return f"claim {self._claim} {words}; {cure} --overwrite {marks}"
        return ""

    def _in_their_way(self) -> str:
        found = self.workload
        owner = controller_of(found) if found is not None else None
        theirs = owner is not None and owner.kind == kinds.MARIADB.kind
        if found is not None and not theirs:
            cure = "delete it, or have mariadb-operator take it over by hand"
            return f"StatefulSet {self.name} {_whose(found)}, and is left alone; {cure}"
        if self.mariadb is not None and not self._made(self.mariadb):
            cure = f"name its database in {AT}.externalDB, or delete it"
            return f"MariaDB {self.name} {_whose(self.mariadb)}, and is left alone; {cure}"
        return ""

    @property
    def _claim(self) -> str:
        return claim_of(self.name)

    def _made(self, found: Resource) -> bool:
        """Say whether we made it: for this very cluster, or for one that let it go."""
        owner = controller_of(found)
        if owner is not None:
            return bool(self.uid) and owner.uid == self.uid
        return self.mark in found.metadata.annotations and self._labelled(found)

    def _labelled(self, found: Resource) -> bool:
        return self.labels.items() <= found.metadata.labels.items()


def _whose(found: Resource) -> str:
    owner = controller_of(found)
    return f"belongs to {owner.kind} {owner.name}" if owner else "was not made for this cluster"
