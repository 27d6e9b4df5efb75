"""slurmdbd, and the three kinds of databases behind it."""

from dataclasses import replace

import pytest

from shoal.model.database import ExternalDatabase, OperatorDatabase, OwnDatabase
from shoal.model.observed import Found
from shoal.model.part import KeyRef
from shoal.slurm.conf import GRAMMARS, parse

from .objects import nodes
from .readings import ALONE, the

OPERATED = replace(ALONE, mariadb=True)
EXTERNAL = {
    "enabled": True,
    "host": "db.example.com",
    "port": 3307,
    "user": "me",
    "passwordSecretKeyRef": {"name": "pw", "key": "pass"},
}


def books(around=ALONE, **asked):
    return the(around=around, **nodes(accounting={"enabled": True, **asked})).cluster.accounting


def ours(around=ALONE, **asked):
    return books(around, mariadbOperator={"image": "mariadb", **asked}).store


def test_there_is_no_accounting_unless_it_is_asked_for():
    assert the().cluster.accounting is None


def test_slurmdbd_proves_itself_as_slurmctld_does():
    made = the(**nodes(accounting={"enabled": True})).cluster
    assert made.accounting.keys == made.keys
    assert made.accounting.host == "slurm-accounting-svc.prod"


def test_options_of_slurmdbd_are_keys_of_its_file():
    options = books(slurmdbdConfig={"privateData": "jobs", "debugFlags": "DB_JOB"}).options
    text = "".join(f"{key}={value}\n" for key, value in options)
    assert len(parse(text, GRAMMARS["slurmdbd.conf"], "x")) == len(options) == 18
    assert dict(options)["TCPTimeout"] == 2
    assert dict(options)["PurgeTXNAfter"] == "12month"


# -- a database of ours


def test_without_a_word_of_a_database_there_is_one_of_ours_whose_records_stay():
    made = books()
    assert isinstance(made.store, OwnDatabase)
    assert made.store.storage["resources"] == {"requests": {"storage": "30Gi"}}
    assert made.database.host == made.store.name == "slurm-acct-db"
    assert (made.database.name, made.database.user) == ("slurm_acct_db", "slurm")
    assert made.database.password == KeyRef("slurm-mariadb-password", "password")
    assert made.store.root == KeyRef("slurm-mariadb-root", "password")


def test_its_image_is_the_one_that_is_asked_for_or_else_ours():
    with_image = replace(ALONE, images={"mariadb": "here/mariadb:1"})
    assert books(with_image).store.part.pods.containers["mariadb"] == {"image": "here/mariadb:1"}
    assert ours(with_image).part.pods.containers["mariadb"]["image"] == "mariadb"


@pytest.mark.parametrize(
    ("storage", "claim"),
    [
        ({"ephemeral": True, "size": "1Gi"}, None),
        (
            {"size": "1Gi", "storageClassName": "fast"},
            {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": "fast",
            },
        ),
        (
            {"size": "1Gi", "volumeClaimTemplate": {"accessModes": ["ReadWriteMany"]}},
            {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        ),
    ],
)
def test_its_records_lie_where_the_user_says(storage, claim):
    assert ours(storage=storage).storage == claim


def test_its_pods_are_no_pods_of_slurmdbd():
    made = books(priorityClass="high", customInitContainers=[{"name": "a", "image": "a"}])
    assert made.part.selector != made.store.part.selector
    assert set(made.part.pods.spec) == {"priorityClassName", "initContainers"}
    assert made.store.part.pods.spec == {}
    assert ours(priorityClassName="low").part.pods.spec == {"priorityClassName": "low"}


# -- by mariadb-operator


def test_mariadb_operator_is_asked_only_where_it_is_there_and_the_user_wants_it():
    assert isinstance(ours(OPERATED, enabled=True), OperatorDatabase)
    assert isinstance(ours(OPERATED), OwnDatabase)
    assert isinstance(ours(OPERATED, enabled=False), OwnDatabase)
    assert isinstance(ours(ALONE, enabled=True), OwnDatabase)


def test_what_only_mariadb_operator_knows_is_handed_on_to_it():
    replication = {"enabled": True, "replica": {"new": 1}}
    made = ours(
        OPERATED,
        enabled=True,
        replicas=3,
        metrics={},
        replication=replication,
        storage={"size": "9Gi", "resizeInUseVolumes": False},
    )
    assert made.spec == {
        "replicas": 3,
        "metrics": {"enabled": True},
        "replication": replication,
        "storage": {"size": "9Gi", "resizeInUseVolumes": False},
    }


def test_its_records_have_a_volume_too_unless_the_user_wants_none():
    assert ours(OPERATED, enabled=True).spec["storage"] == {"size": "30Gi"}
    for said in ({"ephemeral": True}, {"volumeClaimTemplate": {"accessModes": ["a"]}}):
        assert ours(OPERATED, enabled=True, storage=said).spec["storage"] == said


def test_passwords_that_are_protected_are_ours_to_make():
    assert ours(OPERATED, enabled=True).generate
    assert not ours(OPERATED, enabled=True, protectedSecret=True).generate


def test_mariadb_operator_is_told_of_no_profile_which_it_may_not_know():
    assert "securityContext" not in ours(OPERATED, enabled=True).part.pods.containers["mariadb"]


# -- of the user's


def test_a_database_of_the_users_is_where_he_says_and_no_other_is_made():
    found = Found({}, {"pw": {"pass": b"x"}})
    made = books(replace(OPERATED, found=found), externalDB=EXTERNAL)
    assert made.store == ExternalDatabase()
    assert (made.database.host, made.database.port) == ("db.example.com", 3307)
    assert (made.database.user, made.database.password.name) == ("me", "pw")
    assert made.database.password.digest
    field = "spec.slurmNodes.accounting.externalDB.passwordSecretKeyRef"
    assert made.database.password.field == field


def test_tls_goes_by_the_secrets_that_are_named():
    found = Found({}, {"ca": {"ca.crt": b"x"}})
    tls = {"serverCASecretRef": "ca", "clientCertSecretRef": "client"}
    store = books(replace(ALONE, found=found), externalDB={**EXTERNAL, "tls": tls}).store
    assert (store.ca.name, store.ca.key, bool(store.ca.digest)) == ("ca", "ca.crt", True)
    assert (store.client.name, store.client.key, store.client.digest) == ("client", "tls.crt", "")
    assert store.client.field.endswith("externalDB.tls.clientCertSecretRef")


def test_what_an_older_definition_let_through_is_no_reason_to_fail():
    made = books(externalDB={"enabled": True})
    assert (made.database.host, made.database.user, made.database.password.name) == ("", "", "")
