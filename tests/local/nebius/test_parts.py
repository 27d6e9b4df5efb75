"""The exporter and its account, the claim of the database, and a database of somebody else's."""

import json
import re
import shlex
import urllib.request
from collections.abc import Iterator

import pytest

from shoal.local import images
from shoal.local.addons import PROVISIONER

from ..clusters import Object, is_ready, wait_for
from ..slinky.operator import load
from .site import Rooted

# An object that is in the way wakes nobody: it is looked at once a minute.
LOOKED_AT_S = 150.0


# -- the exporter

EXPORTER = f"shoal/shoal:{images.VERSION}"
FAILING = re.compile(r"^slurm_exporter_collector_errors_total{.*} (?!0$)", re.MULTILINE)
ITS_KINDS = ("pods", "deployments", "serviceaccounts", "roles", "rolebindings")
ITS_OBJECTS = {
    "deployment.apps/slurm-slurm-exporter",
    "serviceaccount/slurm-exporter-sa",
    "role.rbac.authorization.k8s.io/slurm-exporter-role",
    "rolebinding.rbac.authorization.k8s.io/slurm-exporter-role-binding",
}


def asked(**spec: object) -> Object:
    return {"slurmNodes": {"exporter": spec}}


def scrape(slurm: Rooted, port: int = 8080) -> str:
    """Return what the exporter says, if it is there and answers."""
    (address,) = [
        pod["status"]["podIP"] for name, pod in slurm.pods().items() if "-exporter-" in name
    ]
    with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=10) as answer:
        return str(answer.read().decode())


def exporters(slurm: Rooted) -> list[bool]:
    """Say of each pod of the exporter whether it is ready."""
    return [is_ready(pod) for name, pod in slurm.pods().items() if "-exporter-" in name]


def may(slurm: Rooted, *words: str) -> bool:
    """Say whether the exporter's account may do something."""
    account = f"system:serviceaccount:{slurm.cluster.namespace}:slurm-exporter-sa"
    return slurm.kubectl("auth", "can-i", *words, f"--as={account}", check=False).code == 0


@pytest.mark.long
def test_the_exporter_tells_of_nodes_and_jobs_by_an_account_that_sees_one_key(slurm, operator):
    load(operator.cluster, "shoal")
    before = slurm.named(*ITS_KINDS)
    assert not before & ITS_OBJECTS
    job = slurm.start("worker-0")
    container = {"image": EXPORTER, "args": ["exporter"]}
    slurm.change(asked(enabled=True, collectionInterval="2s", exporterContainer=container))
    wait_for("the exporter", lambda: exporters(slurm), lambda seen: seen == [True])
    slurm.available()
    assert slurm.part("ExporterAvailable")["status"] == "True"
    wait_for(
        "the job to be seen",
        lambda: scrape(slurm),
        lambda seen: re.search(
            rf'slurm_job_info{{job_id="{job.number}",job_state="RUNNING".*}} 1', seen
        ),
    )
    page = scrape(slurm)
    assert {f"worker-{n}" for n in (0, 1)} == set(
        re.findall(r'slurm_node_info{node_name="([^"]+)"', page)
    )
    assert slurm.named(*ITS_KINDS) >= ITS_OBJECTS
    assert may(slurm, "get", "secret/slurm-rest-jwt-key")
    for words in (("get", "secret/slurm-munge"), ("list", "secrets"), ("delete", "pods")):
        assert not may(slurm, *words), words
    assert FAILING.findall(scrape(slurm, 8081)) == []

    slurm.change(asked(enabled=False, collectionInterval=None, exporterContainer=None))
    wait_for("all of it to go", lambda: slurm.named(*ITS_KINDS), lambda seen: seen == before)
    slurm.available()
    assert job.runs()
    job.end()
    job.ended_well()


# -- the claim of the database

CLAIM, DATABASE = "storage-slurm-acct-db-0", "slurm-acct-db"
ROOMY = "roomy"


@pytest.fixture(scope="module")
def roomy(operator) -> Iterator[str]:
    """Give a class of volumes that may grow; no volume of it does, as nobody enlarges it."""
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    made = {"metadata": {"name": ROOMY}, "provisioner": PROVISIONER, "allowVolumeExpansion": True}
    operator.cluster.apply({**kind, **made})
    yield ROOMY
    operator.cluster.kubectl("delete", "storageclass", ROOMY)


def stored(size: str) -> Object:
    return {"slurmNodes": {"accounting": {"mariadbOperator": {"storage": {"size": size}}}}}


def requested(slurm: Rooted) -> str:
    """Return how large the claim is to be."""
    return str(slurm.cluster.get("pvc", CLAIM)["spec"]["resources"]["requests"]["storage"])


def remarked(slurm: Rooted, words: str) -> None:
    """Wait until something is said of a database that serves; none: there is nothing to say."""
    wait_for(
        f"words of the claim: {words}",
        lambda: slurm.part("AccountingAvailable"),
        lambda seen: (
            seen["status"] == "True"
            and (words in seen["message"] if words else "claim" not in seen["message"])
        ),
    )


def test_a_claim_that_cannot_be_as_asked_stays_and_the_condition_has_the_cure(slurm):
    before, has = slurm.uids(), requested(slurm)
    slurm.change(stored("2Gi"))
    remarked(slurm, f"claim {CLAIM} stays at {has}: ")
    assert (
        "set allowVolumeExpansion in its StorageClass"
        in slurm.part("AccountingAvailable")["message"]
    )
    slurm.change(stored("512Mi"))
    remarked(slurm, f"has {has} and cannot shrink; set that size again")
    slurm.change(stored(has))
    remarked(slurm, "")
    slurm.available()
    assert requested(slurm) == has
    assert slurm.uids() == before


@pytest.mark.long
def test_a_larger_size_enlarges_the_claim_of_the_database_and_restarts_nothing(make_site, roomy):
    mine = make_site("roomy")
    text = mine.text("minimal").replace("{size: 1Gi}", f"{{size: 1Gi, storageClassName: {roomy}}}")
    assert roomy in text
    mine.kubectl("apply", "--filename=-", stdin=text)
    mine.available()
    assert mine.warnings() == []  # of a cluster that has only come up
    before = mine.uids()
    workload = mine.cluster.get("statefulset", DATABASE)["metadata"]["uid"]
    mine.change(stored("2Gi"))
    wait_for("the claim to ask for more", lambda: requested(mine), lambda seen: seen == "2Gi")
    remarked(mine, f"claim {CLAIM} is being enlarged to 2Gi")
    # What whoever looks after the volumes does elsewhere.
    larger = json.dumps({"status": {"capacity": {"storage": "2Gi"}}})
    mine.kubectl("patch", "pvc", CLAIM, "--subresource=status", f"--patch={larger}")
    wait_for(
        "nothing to be left to say",
        lambda: mine.told()["amiss"] + [mine.part("AccountingAvailable")["message"]],
        lambda seen: not any("claim" in words for words in seen),
        LOOKED_AT_S,
    )
    mine.available()
    assert mine.uids() == before
    assert mine.cluster.get("statefulset", DATABASE)["metadata"]["uid"] == workload
    mine.completes(mine.submit("--chdir=/", "--wrap=hostname"))
    mine.kubectl("delete", "slurmcluster", "slurm")


# -- a database that is somebody else's


def foreign(series: str) -> Object:
    """Return what somebody else calls as a cluster's database would be called."""
    marks = {"app": "theirs"}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    sleeps = {
        "name": "sleeps",
        "image": f"shoal/munge:{series}",
        "command": ["sleep", "infinity"],
        "volumeMounts": [{"name": "storage", "mountPath": "/theirs"}],
    }
    spec = {"terminationGracePeriodSeconds": 0, "containers": [sleeps]}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": DATABASE, "labels": marks},
        "spec": {
            "serviceName": DATABASE,
            "selector": {"matchLabels": marks},
            "template": {"metadata": {"labels": marks}, "spec": spec},
            "volumeClaimTemplates": [{"metadata": {"name": "storage"}, "spec": claim}],
        },
    }


@pytest.mark.long
def test_a_database_of_somebody_elses_is_left_alone_and_each_cure_helps(make_site):
    mine = make_site("foreign")
    mine.cluster.apply(foreign(mine.series))
    mine.kubectl("rollout", "status", f"statefulset/{DATABASE}", "--timeout=120s")
    theirs = mine.cluster.get("statefulset", DATABASE)["metadata"]
    pod = mine.uids()[f"{DATABASE}-0"]
    mine.apply("minimal")
    told = wait_for(
        "words of whose it is",
        lambda: mine.part("AccountingAvailable"),
        lambda seen: seen.get("message", "").startswith("DatabaseTaken: "),
    )
    assert f"StatefulSet {DATABASE} was not made for this cluster" in told["message"]
    assert "spec.slurmNodes.accounting.externalDB, or delete it" in told["message"]
    wait_for(
        "what needs no records",
        lambda: mine.part("LoginAvailable"),
        lambda seen: seen.get("status") == "True",
    )
    now = mine.cluster.get("statefulset", DATABASE)["metadata"]
    assert {key: now.get(key) for key in ("uid", "generation", "labels", "ownerReferences")} == {
        key: theirs.get(key) for key in ("uid", "generation", "labels", "ownerReferences")
    }
    assert mine.uids()[f"{DATABASE}-0"] == pod
    assert not {name for name in mine.named("secrets") if "mariadb" in name}

    # As it says. What is left is the claim, which is somebody else's too.
    mine.kubectl("delete", "statefulset", DATABASE)
    told = wait_for(
        "words of whose the claim is",
        lambda: mine.part("AccountingAvailable"),
        lambda seen: f"claim {CLAIM} was not made for this database" in seen["message"],
        LOOKED_AT_S,
    )
    cure = shlex.split(told["message"].partition("have its files used: kubectl ")[2])
    assert cure[:3] == ["label", "pvc", CLAIM]
    volume = mine.cluster.get("pvc", CLAIM)["spec"]["volumeName"]
    mine.kubectl(*cure)
    # Files of a database go by passwords, and nobody makes up those of one that is there.
    wait_for(
        "words of its passwords",
        lambda: mine.part("AccountingAvailable"),
        lambda seen: "KeyLost: Secret slurm-mariadb-password is gone" in seen["message"],
        LOOKED_AT_S,
    )
    for name in ("slurm-mariadb-password", "slurm-mariadb-root"):
        mine.kubectl("create", "secret", "generic", name, "--from-literal=password=theirs")
    mine.available()
    assert mine.cluster.get("pvc", CLAIM)["spec"]["volumeName"] == volume
    job = mine.submit("--chdir=/", "--wrap=hostname")
    mine.completes(job)
    mine.accounted(job, "COMPLETED")
    assert [reason for reason, note, _ in mine.warnings() if "made for this" in note] == [
        "DatabaseTaken"
    ] * 2
    mine.kubectl("delete", "slurmcluster", "slurm")
