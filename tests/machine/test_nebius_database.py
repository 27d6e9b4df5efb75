"""The database behind a cluster's slurmdbd: whose it is, and what becomes of its claim."""

from fakes.port import Harness
from shoal.dialects.nebius import naming
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.client import Ref
from shoal.runtime import clock
from shoal.runtime.apply import DIGEST

from .example import secret
from .nebius import SPACE, Nebius, cluster, nodes

NAME, CLAIM = "one-acct-db", "storage-one-acct-db-0"
SELECTOR = naming.selector("one", naming.DATABASE)
THEIRS = {"app.kubernetes.io/name": "mariadb", "app.kubernetes.io/instance": NAME}


def workload(labels: Object, **meta: object) -> Object:
    spec = {
        "selector": {"matchLabels": labels},
        "serviceName": NAME,
        "replicas": 0,
        "template": {"metadata": {"labels": labels, "annotations": {}}, "spec": {}},
    }
    return of(kinds.STATEFUL_SET, NAME, {"labels": labels, **meta}, spec)


def claim(labels: Object, size: str = "30Gi") -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return of(kinds.PERSISTENT_VOLUME_CLAIM, CLAIM, {"labels": labels}, spec)


def of(kind: kinds.Kind, name: str, meta: Object, spec: Object) -> Object:
    made = {"name": name, "namespace": SPACE, **meta}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": made, "spec": spec}


def stored(size: str) -> Object:
    return nodes(accounting={"mariadbOperator": {"storage": {"size": size}}})


def asked(scene: Nebius) -> str:
    found = scene.there(kinds.PERSISTENT_VOLUME_CLAIM)[CLAIM]
    size: str = found["spec"]["resources"]["requests"]["storage"]
    return size


def told(scene: Nebius) -> tuple[str, str]:
    found = scene.condition("AccountingAvailable")
    return found["status"], found["message"]


# -- whose it is


async def test_a_database_of_mariadb_operators_is_never_taken_for_ours():
    async with Nebius() as scene:
        for kind in (kinds.MARIADB, kinds.GRANT):
            scene.serve(kind)
        await scene.rise(cluster())
        for name in ("one-mariadb-password", "one-mariadb-root"):
            await scene.make(secret(name, password="pass"))
        before = scene.there(kinds.MARIADB)[NAME]["metadata"]["uid"]
        owner = {
            "apiVersion": kinds.MARIADB.api_version, "kind": "MariaDB", "name": NAME,
            "uid": before, "controller": True,
        }  # fmt: skip
        await scene.make(workload(THEIRS, ownerReferences=[owner]), claim(THEIRS))
        await scene.change(**nodes(login={"size": 2}))
        await scene.settle()
        assert scene.there(kinds.MARIADB)[NAME]["metadata"]["uid"] == before
        kept = scene.there(kinds.STATEFUL_SET)[NAME]["metadata"]
        assert DIGEST not in kept.get("annotations", {})
        assert scene.status()["phase"] == "Available"


async def test_a_database_of_mariadb_operators_stays_when_another_one_is_asked_for():
    async with Nebius() as scene:
        for kind in (kinds.MARIADB, kinds.GRANT):
            scene.serve(kind)
        await scene.rise(cluster())
        uid = scene.there(kinds.MARIADB)[NAME]["metadata"]["uid"]
        owner = {
            "apiVersion": kinds.MARIADB.api_version, "kind": "MariaDB", "name": NAME, "uid": uid,
            "controller": True,
        }  # fmt: skip
        await scene.make(workload(THEIRS, ownerReferences=[owner]))
        await scene.change(**nodes(accounting={"mariadbOperator": {"enabled": False}}))
        await scene.settle()
        assert scene.there(kinds.MARIADB)[NAME]["metadata"]["uid"] == uid
        status, message = told(scene)
        assert status == "False"
        assert message.startswith(f"DatabaseTaken: StatefulSet {NAME} belongs to MariaDB {NAME}")
        assert "mariadbOperator.enabled to true" in message


async def test_a_statefulset_of_nobodys_is_left_alone_and_the_condition_has_the_cure():
    async with Nebius() as scene:
        await scene.make(workload(THEIRS))
        await scene.rise(cluster())
        found = scene.there(kinds.STATEFUL_SET)[NAME]
        assert DIGEST not in found["metadata"].get("annotations", {})
        assert not found["metadata"].get("ownerReferences")
        assert not {"one-mariadb-password", "one-mariadb-root"} & {*scene.there(kinds.SECRET)}
        status, message = told(scene)
        assert status == "False"
        assert f"StatefulSet {NAME} was not made for this cluster" in message
        assert "spec.slurmNodes.accounting.externalDB, or delete it" in message
        await scene.drop(kinds.STATEFUL_SET, NAME)
        await scene.settle()
        assert scene.status()["phase"] == "Available"
        assert DIGEST in scene.there(kinds.STATEFUL_SET)[NAME]["metadata"]["annotations"]


async def test_no_database_of_ours_comes_up_on_the_claim_of_another_one():
    async with Nebius() as scene:
        await scene.make(claim(THEIRS))
        await scene.rise(cluster())
        assert NAME not in scene.there(kinds.STATEFUL_SET)
        status, message = told(scene)
        assert status == "False"
        assert f"claim {CLAIM} was not made for this database" in message
        assert f"kubectl label pvc {CLAIM} --overwrite" in message
        where = Ref(kinds.PERSISTENT_VOLUME_CLAIM, SPACE, CLAIM)
        await scene.user.patch(where, {"metadata": {"labels": SELECTOR}}, dict)
        # The passwords that it goes by are not known to anybody.
        await scene.settle()
        assert "Secret one-mariadb-password is gone" in told(scene)[1]
        for name in ("one-mariadb-password", "one-mariadb-root"):
            await scene.make(secret(name, password="pass"))
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_records_on_a_claim_of_ours_stay_there_though_nothing_else_is_left():
    async with Nebius() as scene:
        for kind in (kinds.MARIADB, kinds.GRANT):
            scene.serve(kind)
        await scene.make(claim(SELECTOR))
        for name in ("one-mariadb-password", "one-mariadb-root"):
            await scene.make(secret(name, password="pass"))
        await scene.rise(cluster())
        assert NAME in scene.there(kinds.STATEFUL_SET)
        assert scene.there(kinds.MARIADB) == {}


# -- its claim


async def test_a_claim_is_enlarged_in_place_and_the_database_stays():
    async with Nebius() as scene:
        first = await scene.rise(cluster(**stored("30Gi")))
        await scene.make(claim(SELECTOR))
        uid = scene.there(kinds.STATEFUL_SET)[NAME]["metadata"]["uid"]
        await scene.change(**stored("50Gi"))
        await scene.settle()
        assert asked(scene) == "50Gi"
        kept = scene.there(kinds.STATEFUL_SET)[NAME]
        (template,) = kept["spec"]["volumeClaimTemplates"]
        assert template["spec"]["resources"]["requests"]["storage"] == "30Gi"
        assert kept["metadata"]["uid"] == uid
        assert scene.status()["phase"] == "Available"
        await first.stop()
        harness = Harness()
        scene.process(harness)
        await scene.settle()
        assert harness.effects == []


async def test_a_claim_never_shrinks_and_the_condition_says_so():
    async with Nebius() as scene:
        await scene.rise(cluster(**stored("30Gi")))
        await scene.make(claim(SELECTOR))
        await scene.change(**stored("10Gi"))
        await scene.settle()
        assert asked(scene) == "30Gi"
        assert scene.status()["phase"] == "Available"
        status, message = told(scene)
        assert status == "True"
        assert f"claim {CLAIM} has 30Gi and cannot shrink; set that size again" in message
        await scene.change(**stored("30Gi"))
        await clock.sleep(60)
        assert told(scene) == ("True", "")


async def test_records_do_not_go_with_the_pod_because_somebody_says_ephemeral_later():
    async with Nebius() as scene:
        await scene.rise(cluster(**stored("30Gi")))
        before = scene.there(kinds.STATEFUL_SET)[NAME]["spec"]["volumeClaimTemplates"]
        spec = {"mariadbOperator": {"storage": {"size": None, "ephemeral": True}}}
        await scene.change(**nodes(accounting=spec))
        await scene.settle()
        assert scene.there(kinds.STATEFUL_SET)[NAME]["spec"]["volumeClaimTemplates"] == before
        assert "has a claim, and keeps it" in told(scene)[1]
        assert scene.status()["phase"] == "Available"
