"""Accounting in a database that is somebody else's, who takes nobody without TLS and a client key.

Clients prove themselves with the server's own pair: who vouches for whom is no matter here.
"""

import json

import pytest
import yaml

from ..certificates import self_signed
from ..clusters import wait_for
from ..slinky import site as slinky
from .site import Rooted

pytestmark = pytest.mark.long
HOST = "mariadb.databases"  # as in the example
PASSWORD = "not-so-secret"
TLS = "/etc/tls"
STRICT = (
    f"--ssl-ca={TLS}/tls.crt", f"--ssl-cert={TLS}/tls.crt", f"--ssl-key={TLS}/tls.key",
    "--require-secure-transport=ON",
)  # fmt: skip


def strict(text: str) -> str:
    """Return the example of a database with TLS, which the example has not."""
    service, database = yaml.safe_load_all(text)
    spec = database["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "tls", "secret": {"secretName": "tls"}}]
    (server,) = spec["containers"]
    server["args"] = list(STRICT)
    server["volumeMounts"].append({"name": "tls", "mountPath": TLS})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [service, database]})


@pytest.fixture(scope="module")
def database(make_site) -> Rooted:
    """Give the namespace of a database; and the files of who may use it."""
    made = make_site("databases")
    pair = self_signed(HOST)
    (made.folder / "tls.crt").write_text(pair.certificate)
    (made.folder / "tls.key").write_text(pair.key)
    made.kubectl("create", "secret", "generic", "mariadb", f"--from-literal=password={PASSWORD}")
    tls(made, "tls", made)
    text = (slinky.EXAMPLES / "mariadb.yaml").read_text()
    made.kubectl("apply", "--filename=-", stdin=strict(text))
    made.kubectl("rollout", "status", "statefulset/mariadb", "--timeout=120s")
    ask(made, "ALTER USER slurm REQUIRE X509")
    return made


def tls(site: Rooted, name: str, of: Rooted) -> None:
    """Make a Secret with the pair."""
    files = (f"--cert={of.folder}/tls.crt", f"--key={of.folder}/tls.key")
    site.kubectl("create", "secret", "tls", name, *files)


def ask(database: Rooted, sql: str) -> str:
    """Return what the database says to its own user."""
    words = ("mariadb", "--skip-ssl", "--batch", "--skip-column-names", f"--execute={sql}")
    return database.run(*words, pod="mariadb-0").out.strip()


def test_accounting_works_in_a_database_that_wants_tls_and_a_client_certificate(
    database, make_site
):
    mine = make_site("external")
    mine.kubectl("create", "secret", "generic", "slurm-db", f"--from-literal=password={PASSWORD}")
    mine.kubectl(
        "create", "secret", "generic", "slurm-db-ca",
        f"--from-file=ca.crt={database.folder}/tls.crt",
    )  # fmt: skip
    mine.apply("external-db")
    # Without its key slurmdbd could not get in: that is told, and the rest is on its way.
    wait_for(
        "words of the missing Secret",
        lambda: mine.part("AccountingAvailable"),
        lambda seen: "slurm-db-client" in seen.get("message", ""),
    )
    tls(mine, "slurm-db-client", database)
    mine.available()
    mine.idle(1)
    job = mine.submit("--chdir=/", "--wrap=srun hostname")
    mine.completes(job)
    mine.accounted(job, "COMPLETED")
    assert ask(database, "SELECT COUNT(*) FROM slurm_acct_db.cluster_table") == "1"
    assert "slurm-acct-db" not in str(mine.named("statefulsets"))
    mine.kubectl("delete", "slurmcluster", "slurm")
