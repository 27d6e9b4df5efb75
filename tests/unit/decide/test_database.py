"""Whose the things of a database's name are."""

import msgspec
import pytest

from shoal.decide.database import Things
from shoal.kube.objects import Resource
from shoal.model.database import ExternalDatabase, OperatorDatabase, OwnDatabase
from shoal.model.part import KeyRef, Part

LABELS, MARK = {"app": "mariadb", "of": "one"}, "by-us"
PART = Part("one", "ns", LABELS, LABELS)
NAME = "one-acct-db"
OWN = OwnDatabase(PART, NAME, KeyRef("root", "password"), {"accessModes": ["ReadWriteOnce"]})
OPERATED = OperatorDatabase(PART, NAME, KeyRef("root", "password"))


def resource(owner=None, labels=LABELS, *, applied=True):
    meta = {"name": NAME, "labels": labels, "annotations": {MARK: "x"} if applied else {}}
    if owner:
        kind, uid = owner
        meta["ownerReferences"] = [{"kind": kind, "name": "x", "uid": uid, "controller": True}]
    return msgspec.convert({"metadata": meta}, Resource)


MINE = resource(("SlurmCluster", "u1"))
THEIRS = resource(("MariaDB", "u2"), applied=False)
NOBODYS = resource(applied=False)


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        ({}, False),
        ({"workload": MINE}, True),
        ({"workload": resource()}, True),
        ({"workload": NOBODYS}, False),
        ({"workload": THEIRS}, False),
        ({"workload": resource(("SlurmCluster", "u0"))}, False),
        ({"claim": resource(applied=False)}, True),
        ({"claim": resource(labels={"app": "mariadb"})}, False),
        ({"workload": THEIRS, "claim": resource()}, False),
    ],
)
def test_a_database_is_ours_only_where_its_owner_or_its_labels_say_so(found, ours):
    assert Things(NAME, LABELS, MARK, "u1", **found).ours is ours


@pytest.mark.parametrize(
    ("store", "found", "words"),
    [
        (OWN, {"workload": MINE, "claim": resource(labels={})}, ""),
        (OWN, {"workload": THEIRS}, "belongs to MariaDB x"),
        (OWN, {"claim": resource(labels={})}, "was not made for this database"),
        (OwnDatabase(PART, NAME, OWN.root), {"claim": resource(labels={})}, ""),
        (OPERATED, {"workload": THEIRS, "mariadb": MINE}, ""),
        (OPERATED, {"workload": NOBODYS}, "was not made for this cluster"),
        (OPERATED, {"mariadb": NOBODYS}, "MariaDB one-acct-db was not made for this cluster"),
        (ExternalDatabase(), {"workload": THEIRS, "mariadb": NOBODYS}, ""),
        (None, {"workload": THEIRS}, ""),
    ],
)
def test_what_is_somebody_elses_is_told_and_nothing_that_does_not_matter(store, found, words):
    failed = Things(NAME, LABELS, MARK, "u1", **found).taken(store)
    assert (failed is not None) == bool(words)
    assert words in (failed.message if failed else "")
    assert failed is None or ("; " in failed.message and failed.reason == "DatabaseTaken")
