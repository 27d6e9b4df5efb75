import base64
from dataclasses import replace

import pytest

from shoal.model.database import ExternalDatabase
from shoal.model.maintenance import Mode
from shoal.model.part import KeyRef
from shoal.render.jailed import accounting

from ..builders import container_of, notes_of, spec_of, the
from .worlds import external_database, make_accounting, make_jail, make_own

TLS = external_database().cluster.accounting


def made(books=None, **jail):
    return accounting.objects(make_jail(**jail), books or make_accounting(), "secret")


def test_slurmdbd_is_found_by_its_service():
    found = [o["metadata"]["name"] for o in made() if o["kind"] == "Service"]
    assert found == ["one-acct-db", "one-accounting-svc"]
    assert make_accounting().host == "one-accounting-svc.research"


def test_its_service_does_not_lead_to_the_database():
    services = {o["metadata"]["name"]: o for o in made() if o["kind"] == "Service"}
    labels = the("StatefulSet", made())["spec"]["template"]["metadata"]["labels"]
    assert not services["one-accounting-svc"]["spec"]["selector"].items() <= labels.items()


def test_how_the_database_is_reached_is_kept_secret():
    data = {k: base64.b64decode(v).decode() for k, v in the("Secret", made())["data"].items()}
    assert data["storageHost"] == "one-acct-db"
    assert data["storagePass"] == "secret"
    assert "StoragePass=secret\n" in data["slurmdbd.conf"]


def test_slurmdbd_waits_for_its_database_and_then_for_munged():
    init = spec_of(the("Deployment", made()))["initContainers"]
    assert [c["name"] for c in init] == ["wait-for-database", "munge"]


def test_there_is_never_more_than_one_slurmdbd():
    assert the("Deployment", made())["spec"]["strategy"] == {"type": "Recreate"}


def test_a_database_that_is_away_does_not_have_slurmdbd_restarted():
    main = container_of(the("Deployment", made()), "accounting")
    assert "livenessProbe" not in main
    assert "startupProbe" not in main


def test_slurmdbd_conf_is_for_its_owner_alone():
    volumes = {v["name"]: v for v in spec_of(the("Deployment", made()))["volumes"]}
    secret = volumes["slurm-configs"]["projected"]["sources"][0]["secret"]
    assert secret["items"] == [{"key": "slurmdbd.conf", "path": "slurmdbd.conf", "mode": 0o600}]


def test_slurmdbd_does_without_slurms_own_files():
    volumes = {
        v["name"]: v
        for v in spec_of(the("Deployment", made(make_accounting(config=""))))["volumes"]
    }
    assert len(volumes["slurm-configs"]["projected"]["sources"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"options": (("DebugLevel", "debug"),)},
        {"database": replace(TLS.database, password=KeyRef("db", "pass", "new"))},
        {"store": ExternalDatabase(KeyRef("db-ca", "ca.crt", "new"))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_slurmdbd_reads_at_its_start_restarts_it(change):
    one, other = (
        notes_of(the("Deployment", made(books))) for books in (TLS, replace(TLS, **change))
    )
    assert one != other


def test_the_password_itself_is_in_no_digest():
    one, other = (
        the("Deployment", accounting.objects(make_jail(), make_accounting(), password))
        for password in ("a", "b")
    )
    assert one == other


def test_certificates_are_mounted_where_they_are_named():
    paths = {
        m["mountPath"]
        for m in container_of(the("Deployment", made(TLS)), "accounting")["volumeMounts"]
    }
    tls = {"/mnt/slurmdbd-ssl-ca-cert", "/mnt/slurmdbd-ssl-client-key"}
    assert tls <= paths
    plain = container_of(the("Deployment", made()), "accounting")["volumeMounts"]
    assert not tls & {m["mountPath"] for m in plain}


def test_a_cluster_that_is_down_has_neither_slurmdbd_nor_a_database():
    found = made(mode=Mode.DOWNSCALE)
    assert the("Deployment", found)["spec"]["replicas"] == 0
    assert the("StatefulSet", found)["spec"]["replicas"] == 0


def test_one_name_for_all_is_enough():
    books = make_accounting(names=None, store=make_own())
    assert the("Deployment", made(books))["metadata"]["name"] == "one-accounting"
    assert books.host == "one-accounting.research"
