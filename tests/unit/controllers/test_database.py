"""What becomes of the claim of a database."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import msgspec
import pytest

from shoal.controllers import database
from shoal.controllers.database import AGAIN, Claims
from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kube.workloads import Workload
from shoal.kubeapi.errors import ForbiddenError, Status
from shoal.model.accounting import Database, ManagedAccounting
from shoal.model.controller import Keys
from shoal.model.database import OwnDatabase, claim_of
from shoal.model.part import KeyRef, Part, ServiceWishes
from shoal.runtime import clock
from shoal.runtime.store import Store

LABELS = {"app": "mariadb", "of": "one"}
PART = Part("one", "ns", LABELS, LABELS)
NAME = "one-acct-db"
ROOT = KeyRef("root", "password")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Client:
    """Answers with one StatefulSet and one claim; what is patched may be refused."""

    def __init__(self, made, size, *, refuses=False, status=None):
        self.made, self.size, self.refuses, self.status = made, size, refuses, status or {}
        self.patches = []

    async def get(self, where, _):
        if where.kind == kinds.STATEFUL_SET:
            claims = [{"metadata": {"name": "storage"}, "spec": self.made}] if self.made else []
            return {"spec": {"volumeClaimTemplates": claims}}
        spec = {"resources": {"requests": {"storage": self.size}}}
        return {"metadata": {"uid": "c1"}, "spec": spec, "status": self.status}

    async def patch(self, where, change, type_):
        self.patches.append(change["spec"]["resources"]["requests"]["storage"])
        if self.refuses:
            raise ForbiddenError("PATCH", Status("only dynamically provisioned pvc can be resized"))
        meta = {"namespace": "ns", "name": where.name, "uid": "c1", "resourceVersion": "2"}
        return msgspec.convert({"metadata": meta}, type_)


def books(size="30Gi", **spec):
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    store = OwnDatabase(PART, NAME, ROOT, {**asked, **spec} if size else None)
    where = Database(NAME, 3306, "slurm_acct_db", "slurm", KeyRef("p", "password"))
    wishes = ServiceWishes(6819)
    return ManagedAccounting(PART, None, "one", wishes, Keys(None, None), where, store=store)


def claims(client):
    stores = {
        kinds.STATEFUL_SET: Store(kinds.STATEFUL_SET, Workload),
        kinds.PERSISTENT_VOLUME_CLAIM: Store(kinds.PERSISTENT_VOLUME_CLAIM, Resource),
    }
    for store, name, uid in zip(stores.values(), (NAME, claim_of(NAME)), ("s1", "c1"), strict=True):
        meta = {"namespace": "ns", "name": name, "uid": uid, "resourceVersion": "1"}
        store.put(msgspec.convert({"metadata": meta}, store.type))
    world = SimpleNamespace(stores=stores, workload=lambda kind, key: stores[kind].get(key))
    return Claims(SimpleNamespace(client=client, world=world))


MADE = books().store.storage | {"volumeMode": "Filesystem"}


async def test_a_claim_as_asked_is_written_as_it_was_and_never_patched():
    client = Client(MADE, "30Gi")
    found = await claims(client).settle(books())
    assert (found.words, client.patches) == ("", [])
    assert found.books == books()


async def test_a_claim_that_cannot_grow_is_told_with_the_cure_and_tried_again_later(monkeypatch):
    now = NOW
    monkeypatch.setattr(clock, "now", lambda: now)
    client = Client(MADE, "30Gi", refuses=True)
    held = claims(client)
    for _ in range(3):
        found = await held.settle(books("50Gi"))
        assert "stays at 30Gi" in found.words
        assert "allowVolumeExpansion in its StorageClass" in found.words
    assert client.patches == ["50Gi"]
    assert found.books.store.storage == books().store.storage
    now += AGAIN + timedelta(seconds=1)
    await held.settle(books("50Gi"))
    assert client.patches == ["50Gi", "50Gi"]


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        (books("10Gi"), {}, "cannot shrink"),
        (books(storageClassName="fast"), {}, "keeps its storageClassName; put that back"),
        (books(""), {}, "has a claim, and keeps it"),
        (books(), {"capacity": {"storage": "20Gi"}}, "is being enlarged to 30Gi"),
        (
            books(),
            {
                "capacity": {"storage": "20Gi"},
                "conditions": [{"type": "FileSystemResizePending", "status": "True"}],
            },
            "kubectl delete pod one-acct-db-0",
        ),
    ],
)
async def test_what_of_a_claim_is_not_as_asked_is_told_and_the_claim_stays(asked, status, words):
    client = Client(MADE, "30Gi", status=status)
    found = await claims(client).settle(asked)
    assert words in found.words
    assert client.patches == []
    assert found.books.store.storage == books().store.storage


async def test_a_database_without_a_claim_gets_none_later():
    found = await claims(Client(None, "30Gi")).settle(books())
    assert found.books.store.storage is None
    assert "was made without a claim" in found.words


async def test_a_database_that_is_not_there_yet_is_made_as_asked():
    held = claims(Client(MADE, "30Gi"))
    held.hands.world.stores[kinds.STATEFUL_SET].removed_by_us(("ns", NAME), "s1")
    assert await held.settle(books("50Gi")) == database.Settled(books("50Gi"))
