from dataclasses import replace

import pytest

from shoal.model.maintenance import Mode
from shoal.render.jailed import database

from ..builders import container_of, spec_of, the
from .worlds import (
    CLAIM,
    DATABASE,
    external_database,
    image,
    make_accounting,
    make_jail,
    make_operated,
    make_own,
    make_part,
)


def made(store, **jail):
    return database.objects(make_jail(**jail), make_accounting(store=store))


def arguments(memory):
    part = make_part(DATABASE, mariadb=image("mariadb", memory))
    return container_of(the("StatefulSet", made(make_own(part=part))), "mariadb")["args"]


def test_a_database_of_somebody_elses_is_left_to_him():
    books = external_database().cluster.accounting
    assert database.objects(make_jail(), books) == []
    assert database.objects(make_jail(), replace(books, store=None)) == []


# -- ours


def test_the_database_is_on_a_volume_that_outlives_its_pod():
    (claim,) = the("StatefulSet", made(make_own()))["spec"]["volumeClaimTemplates"]
    assert claim == {"metadata": {"name": "storage"}, "spec": CLAIM}


def test_a_database_may_go_with_its_pod_where_the_user_wants():
    found = the("StatefulSet", made(make_own(storage=None)))
    assert "volumeClaimTemplates" not in found["spec"]
    assert {"name": "storage", "emptyDir": {}} in spec_of(found)["volumes"]


def test_no_password_is_in_the_pod():
    env = container_of(the("StatefulSet", made(make_own())), "mariadb")["env"]
    secrets = {one["name"]: one["valueFrom"]["secretKeyRef"] for one in env if "valueFrom" in one}
    assert secrets == {
        "MARIADB_ROOT_PASSWORD": {"name": "one-mariadb-root", "key": "password"},
        "MARIADB_PASSWORD": {"name": "one-mariadb-password", "key": "password"},
    }


@pytest.mark.parametrize(("memory", "pool"), [("2Gi", "1024M"), ("4Gi", "2048M")])
def test_half_of_the_memory_is_for_tables(memory, pool):
    assert f"--innodb-buffer-pool-size={pool}" in arguments(memory)


@pytest.mark.parametrize("memory", ["", "64Mi"])
def test_where_nobody_says_how_much_memory_there_is_mariadb_decides(memory):
    assert not [one for one in arguments(memory) if "buffer-pool" in one]


def test_an_older_mariadb_starts_with_our_arguments_too():
    assert "--loose-innodb-snapshot-isolation=OFF" in arguments("2Gi")


def test_mariadb_needs_no_rights():
    security = container_of(the("StatefulSet", made(make_own())), "mariadb")["securityContext"]
    assert security["runAsNonRoot"]
    assert security["capabilities"] == {"drop": ["ALL"]}


# -- by mariadb-operator


def test_mariadb_operator_runs_what_the_user_wants():
    spec = the("MariaDB", made(make_operated()))["spec"]
    assert spec["image"] == "shoal/mariadb:26.05"
    assert spec["replicas"] == 3
    assert spec["storage"] == {"size": "10Gi"}
    assert spec["nodeSelector"] == {"disk": "fast"}
    assert spec["affinity"]["antiAffinityEnabled"]
    assert "innodb_buffer_pool_size=1024M\n" in spec["myCnf"]


@pytest.mark.parametrize("generate", [True, False])
def test_passwords_that_are_protected_are_not_made_by_mariadb_operator(generate):
    spec = the("MariaDB", made(make_operated(generate=generate)))["spec"]
    for key in ("passwordSecretKeyRef", "rootPasswordSecretKeyRef"):
        assert spec[key]["generate"] is generate


def test_mariadb_without_a_limit_gets_what_users_are_used_to():
    part = make_part(DATABASE, mariadb=image("mariadb", ""))
    spec = the("MariaDB", made(make_operated(part=part)))["spec"]
    assert "innodb_buffer_pool_size=32768M\n" in spec["myCnf"]


def test_slurmdbds_user_may_do_anything_with_its_tables():
    spec = the("Grant", made(make_operated()))["spec"]
    assert spec["mariaDbRef"] == {"name": "one-acct-db"}
    assert (spec["database"], spec["username"]) == ("slurm_acct_db", "slurm")


def test_a_cluster_that_is_down_has_no_database():
    found = made(make_operated(), mode=Mode.DOWNSCALE)
    assert the("MariaDB", found)["spec"]["replicas"] == 0
