"""The operator of slurm.nebius.ai: what comes up, what stays quiet, and whose is whose."""

from pathlib import Path

import pytest
import yaml

from fakes.port import Harness
from fakes.slurmrestd.faults import Late
from shoal.controllers import nebius, slinky
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.types import KINDS, NODE_SET, SLURM_CLUSTER
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.client import Ref
from shoal.runtime import clock
from shoal.runtime.apply import DIGEST

from .example import EXAMPLE, secret
from .nebius import SPACE, Nebius, cluster, nodes, nodeset
from .slinky import played

TEN_MINUTES_S = 600
WITHOUT_ACCOUNTING = nodes(accounting={"enabled": False})
EXPORTER = nodes(exporter={"enabled": True})


async def end() -> dict[str, Object]:
    async with Nebius() as scene:
        await scene.rise(cluster())
        return scene.seen()


EXPECTED: dict[str, Object] = played(end())


# -- all of it


async def test_a_whole_cluster_comes_up_and_no_pass_fails(logs):
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        told = scene.status()
        assert told["phase"] == "Available"
        assert (told["readyLogin"], told["readyWorkers"]) == (1, 4)
        assert [c["type"] for c in told["conditions"] if c["status"] != "True"] == []
        assert [e for e in logs if e["log_level"] in ("warning", "error")] == []
        assert sorted(scene.slurm("one").slurmctld.nodes) == [
            "cpu-0", "cpu-1", "worker-0", "worker-1",
        ]  # fmt: skip
        assert sorted(scene.objects(kinds.STATEFUL_SET)) == [
            "one-acct-db", "one-controller", "one-login",
        ]  # fmt: skip
        assert sorted(scene.objects(kinds.DEPLOYMENT)) == ["one-accounting", "one-rest"]


async def test_in_the_steady_state_nothing_is_written_for_ten_minutes():
    async with Nebius() as scene:
        harness = Harness()
        await scene.rise(cluster(), nodeset(), harness=harness)
        written, count = scene.written, len(harness.effects)
        await clock.sleep(TEN_MINUTES_S)
        assert (scene.written, len(harness.effects)) == (written, count)


async def test_a_restart_writes_nothing():
    async with Nebius() as scene:
        first = await scene.rise(cluster(), nodeset())
        await first.stop()
        harness = Harness()
        scene.process(harness)
        await scene.settle()
        assert harness.effects == []


async def test_a_cluster_is_available_once_and_stays_so():
    async with Nebius() as scene:
        await scene.rise(cluster())
        told = [
            change.after["status"]["phase"]
            for change in scene.api.history.log
            if change.kind == SLURM_CLUSTER and change.after and "status" in change.after
        ]
        assert told.index("Available") == len(told) - told.count("Available")
        # Each of its writes says something new.
        assert len(told) < 20


async def test_what_somebody_deletes_or_changes_is_put_right():
    async with Nebius() as scene:
        await scene.rise(cluster())
        await scene.drop(kinds.SERVICE, "one-controller-svc")
        await scene.drop(kinds.POD, "one-worker-1")
        where = Ref(kinds.CONFIG_MAP, SPACE, "one-sysctl")
        await scene.user.patch(where, {"data": {"sysctl.conf": "tampered"}}, dict)
        await scene.settle()
        assert scene.seen() == EXPECTED


# -- parts


@pytest.mark.parametrize(
    ("spec", "gone"),
    [
        (WITHOUT_ACCOUNTING, ("one-accounting", "one-acct-db", "one-slurmdbd-configs")),
        (nodes(login={"size": 0}), ("one-login", "one-login-svc", "one-ssh-configs")),
    ],
    ids=["accounting", "login"],
)
async def test_a_part_that_is_switched_off_goes_and_comes_back(spec, gone):
    async with Nebius() as scene:
        await scene.rise(cluster())
        whole = cluster()["spec"]["slurmNodes"]
        (part,) = spec["slurmNodes"]
        await scene.change(**spec)
        await scene.settle()
        there = {name for key in scene.seen() if (name := key.rpartition("/")[2])}
        assert not there & {*gone}
        assert scene.status()["phase"] == "Available"
        assert len(scene.pods_of(naming.WORKERS)) == 2
        await scene.change(
            slurmNodes={part: {key: whole[part].get(key) for key in spec["slurmNodes"][part]}}
        )
        await scene.settle()
        assert scene.seen().keys() == EXPECTED.keys()


async def test_an_exporter_is_told_to_prometheus_where_that_is_installed():
    async with Nebius() as scene:
        await scene.rise(cluster(**EXPORTER))
        assert scene.condition("ExporterAvailable")["status"] == "True"
        scene.serve(kinds.POD_MONITOR)
        await clock.sleep(120)
        assert sorted(scene.objects(kinds.POD_MONITOR)) == ["one"]


async def test_an_exporter_has_an_account_that_comes_and_goes_with_it():
    async with Nebius() as scene:
        made = (kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)
        await scene.rise(cluster(**EXPORTER))
        names = [name for kind in made for name in scene.there(kind)]
        assert names == ["one-exporter-sa", "one-exporter-role", "one-exporter-role-binding"]
        spec = scene.there(kinds.DEPLOYMENT)["one-slurm-exporter"]["spec"]["template"]["spec"]
        assert spec["serviceAccountName"] == "one-exporter-sa"
        await scene.change(**nodes(exporter={"serviceAccountName": "theirs"}))
        await scene.settle()
        assert [name for kind in made for name in scene.there(kind)] == []
        await scene.change(**nodes(exporter={"enabled": False, "serviceAccountName": None}))
        await scene.settle()
        assert [name for kind in made for name in scene.there(kind)] == []


async def test_mariadb_operator_has_the_database_where_it_is_installed_and_nobody_has_one_yet():
    async with Nebius() as scene:
        for kind in (kinds.MARIADB, kinds.GRANT):
            scene.serve(kind)
        await scene.rise(cluster())
        assert sorted(scene.objects(kinds.MARIADB)) == ["one-acct-db"]
        assert sorted(scene.objects(kinds.GRANT)) == ["one-acct-db"]
        assert "one-acct-db" not in scene.objects(kinds.STATEFUL_SET)
        told = scene.condition("AccountingAvailable")["message"]
        assert "Secret one-mariadb-password, key password is not there" in told
        # It makes the passwords, once it has seen what it is asked for.
        for name in ("one-mariadb-password", "one-mariadb-root"):
            await scene.make(secret(name, password="pass"))
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_records_stay_in_our_database_when_mariadb_operator_comes():
    async with Nebius() as scene:
        await scene.rise(cluster())
        for kind in (kinds.MARIADB, kinds.GRANT):
            scene.serve(kind)
        await clock.sleep(120)
        await scene.change(**nodes(login={"size": 2}))
        await scene.settle()
        assert scene.objects(kinds.MARIADB) == {}
        assert "one-acct-db" in scene.objects(kinds.STATEFUL_SET)


async def test_a_part_that_cannot_be_written_is_told_and_keeps_no_other_from_coming():
    async with Nebius() as scene:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "theirs", "controller": True}
        theirs = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "one-ssh-configs", "namespace": SPACE, "ownerReferences": [owner]},
        }
        await scene.hold(kinds.CONFIG_MAP, theirs)
        await scene.rise(cluster())
        told = scene.condition("LoginAvailable")
        assert told["status"] == "False"
        assert "one-ssh-configs: it belongs to Job theirs" in told["message"]
        assert scene.condition("RestAvailable")["status"] == "True"
        assert scene.status()["phase"] == "Not available"


async def test_a_configuration_that_slurm_refuses_is_held_back_and_told():
    async with Nebius() as scene:
        await scene.rise(cluster())
        before, pods = scene.conf("one-slurm-configs"), scene.pods()
        await scene.change(customSlurmConfig="Nonsense=1\n")
        await scene.settle()
        assert scene.conf("one-slurm-configs") == before
        told = scene.condition("ControllersAvailable")
        assert told["message"].startswith("ConfigRefused: ")
        assert {name: uid for name, uid in scene.pods().items() if "check" not in name} == pods
        await scene.change(customSlurmConfig="KillWait=31\n")
        await scene.settle()
        assert scene.status()["phase"] == "Available"
        assert (
            "KillWait=31"
            in scene.objects(kinds.CONFIG_MAP)["one-slurm-configs"]["data"]["custom_slurm.conf"]
        )


async def test_a_spec_that_cannot_be_understood_is_told_and_changes_nothing():
    async with Nebius() as scene:
        await scene.rise(cluster())
        pods = scene.pods()
        await scene.change(**nodes(login={"k8sNodeFilterName": "nowhere"}))
        await scene.settle()
        told = scene.condition("CommonAvailable")
        assert (told["status"], scene.status()["phase"]) == ("False", "Not available")
        assert "there is no filter 'nowhere'" in told["message"]
        assert scene.pods() == pods
        await scene.change(**nodes(login={"k8sNodeFilterName": "any"}))
        await scene.settle()
        assert scene.status()["phase"] == "Available"


# -- keys


SECRETS = (
    "one-munge",
    "one-rest-jwt-key",
    "one-sshd-keys",
    "one-mariadb-password",
    "one-mariadb-root",
)


def held(scene: Nebius, name: str) -> tuple[str, Object]:
    found = scene.objects(kinds.SECRET)[name]
    return found["metadata"]["uid"], found["data"]


async def test_keys_are_made_once_and_stay_as_they_are():
    async with Nebius() as scene:
        await scene.rise(cluster())
        before = {name: held(scene, name) for name in SECRETS}
        await scene.change(**nodes(login={"size": 2}))
        await scene.settle()
        assert {name: held(scene, name) for name in SECRETS} == before
        made = scene.objects(kinds.SECRET)["one-munge"]
        assert made["immutable"]
        assert DIGEST not in made["metadata"].get("annotations", {})  # nothing prunes it


async def test_a_munge_key_that_is_gone_is_not_replaced_under_daemons_that_have_it():
    async with Nebius() as scene:
        await scene.rise(cluster())
        pods = scene.pods()
        await scene.drop(kinds.SECRET, "one-munge")
        await scene.settle()
        assert "one-munge" not in scene.objects(kinds.SECRET)
        assert scene.pods() == pods
        told = scene.condition("ControllersAvailable")["message"]
        assert told.startswith("KeyLost: Secret one-munge is gone, and pods that run have its key")
        await scene.change(maintenance="downscale")
        await scene.settle()
        assert "one-munge" in scene.objects(kinds.SECRET)
        await scene.change(maintenance="none")
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_a_secret_that_is_there_already_is_used_as_it_is():
    async with Nebius() as scene:
        brought = {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "one-munge", "namespace": SPACE},
            "data": {"munge.key": "bWluZQ=="},
        }  # fmt: skip
        await scene.make(brought)
        await scene.rise(cluster())
        assert scene.objects(kinds.SECRET)["one-munge"]["data"] == brought["data"]
        assert scene.status()["phase"] == "Available"


async def test_passwords_that_are_protected_say_so():
    async with Nebius() as scene:
        await scene.rise(
            cluster(**nodes(accounting={"mariadbOperator": {"protectedSecret": True}}))
        )
        meta = scene.objects(kinds.SECRET)["one-mariadb-password"]["metadata"]
        assert meta["labels"]["slurm.nebius.ai/webhook"] == "true"
        assert meta["annotations"]["slurm.nebius.ai/cluster"] == "one"


# -- several


async def test_two_clusters_in_one_namespace_do_not_mix():
    async with Nebius() as scene:
        await scene.rise(cluster(), cluster("other", **WITHOUT_ACCOUNTING))
        assert {scene.status(name)["phase"] for name in ("one", "other")} == {"Available"}
        assert {k: v for k, v in scene.seen().items() if k in EXPECTED} == EXPECTED
        assert sorted(scene.slurm("other").slurmctld.nodes) == ["worker-0", "worker-1"]
        pods = {name: uid for name, uid in scene.pods().items() if name.startswith("one-")}
        await scene.drop(SLURM_CLUSTER, "other")
        await scene.settle()
        assert scene.pods() == pods
        assert scene.seen() == EXPECTED


async def test_a_cluster_in_another_namespace_is_one_of_its_own():
    async with Nebius() as scene:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}
        await scene.user.create(kinds.NAMESPACE, space, dict)
        scene.process()
        await scene.make(cluster())
        await scene.make(cluster(), namespace="lab")
        await scene.settle()
        there = {k: v for k, v in scene.seen().items() if " default/" in k}
        assert there == EXPECTED
        assert scene.objects(SLURM_CLUSTER, "lab")["one"]["status"]["phase"] == "Available"
        assert sorted(scene.slurm("one", "lab").slurmctld.nodes) == ["worker-0", "worker-1"]


async def test_one_slow_cluster_never_delays_another():
    async with Nebius() as scene:
        await scene.rise(cluster(), cluster("other"))
        # Nothing that is asked of its slurmrestd is ever answered, and its root is never filled.
        scene.slurm("one").plan(Late(float("inf")), times=-1)
        await scene.change("one", **nodes(worker={"size": 1}))
        await clock.sleep(30)
        began = clock.ticks()
        await scene.change("other", **nodes(login={"size": 2}, worker={"size": 3}))
        while len(scene.pods_of(naming.WORKERS, "other")) < 3 and clock.ticks() - began < 60:
            await clock.sleep(0.5)
        assert clock.ticks() - began < 5
        await clock.sleep(10)
        assert scene.status("other")["phase"] == "Available"
        assert scene.status("other")["readyLogin"] == 2


async def test_clusters_of_both_apis_stand_side_by_side():
    async with Nebius() as scene:
        await scene.rise(*EXAMPLE, cluster(), nodeset("batch"))
        assert scene.unready() == []
        assert scene.status()["phase"] == "Available"
        assert {"cpu-0", "cpu-1", "one-worker-0", "batch-0"} <= scene.pods().keys()
        assert sorted(scene.slurm().slurmctld.nodes) == ["cpu-0", "cpu-1"]
        assert sorted(scene.slurm("one").slurmctld.nodes) == [
            "batch-0", "batch-1", "worker-0", "worker-1",
        ]  # fmt: skip


def made_of(scene: Nebius) -> tuple[str, list[str]]:
    """Return which StatefulSet both want, and whose it is."""
    meta = scene.there(kinds.STATEFUL_SET)["slurm-controller"]["metadata"]
    return meta["uid"], [owner["kind"] for owner in meta["ownerReferences"]]


async def test_a_cluster_by_the_name_of_one_of_the_other_api_is_told_and_takes_nothing_from_it():
    async with Nebius() as scene:
        await scene.rise(*EXAMPLE)
        before, pods = made_of(scene), scene.pods()
        await scene.make(cluster("slurm"))
        await scene.settle()
        told = scene.condition("ControllersAvailable", "slurm")
        assert told["status"] == "False"
        assert "StatefulSet slurm-controller: it belongs to Controller slurm" in told["message"]
        assert "metadata.name: name this SlurmCluster otherwise" in told["message"]
        assert (made_of(scene), before[1]) == (before, ["Controller"])
        assert pods.items() <= scene.pods().items()
        assert scene.unready() == []


async def test_a_cluster_keeps_all_it_has_when_one_of_the_other_api_takes_its_name():
    async with Nebius() as scene:
        await scene.rise(cluster("slurm"))
        before, pods = made_of(scene), scene.pods()
        await scene.make(*EXAMPLE)
        await scene.settle()
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "Refused")
        assert "StatefulSet slurm-controller: it belongs to SlurmCluster slurm" in message
        assert "metadata.name: name this Controller otherwise" in message
        assert (made_of(scene), before[1]) == (before, ["SlurmCluster"])
        assert pods.items() <= scene.pods().items()
        assert scene.status("slurm")["phase"] == "Available"


@pytest.mark.parametrize("spoken", [slinky, nebius], ids=["slinky", "nebius"])
async def test_an_operator_of_one_api_leaves_the_other_alone(spoken):
    async with Nebius(spoken=(spoken,)) as scene:
        await scene.rise(*EXAMPLE, cluster("one"))
        there = {*scene.objects(kinds.STATEFUL_SET)}
        assert ("one-controller" in there) is (spoken is nebius)
        assert ("slurm-controller" in there) is (spoken is slinky)


async def test_an_api_that_is_installed_later_is_understood_from_then_on():
    async with Nebius(late=KINDS) as scene:
        await scene.rise(*EXAMPLE)
        assert scene.unready() == []
        for kind in KINDS:
            scene.serve(kind)
        await clock.sleep(60)
        await scene.make(cluster())
        await scene.settle()
        assert scene.status()["phase"] == "Available"


async def test_what_a_cluster_had_goes_with_it_but_for_what_opens_its_records():
    async with Nebius() as scene:
        await scene.rise(cluster())
        await scene.drop(SLURM_CLUSTER, "one")
        await scene.settle()
        assert scene.lost == []
        # The database's volume stays, and only they open it.
        assert sorted(scene.seen()) == [
            "Secret default/one-mariadb-password",
            "Secret default/one-mariadb-root",
        ]


# -- the examples

EXAMPLES = sorted((Path(__file__).parents[2] / "examples/nebius").glob("*.yaml"))


# What a user of the example with a database of their own brings.
BROUGHT = (
    secret("slurm-db", password="pass"),
    secret("slurm-db-ca", ca_crt="x"),
    secret("slurm-db-client", tls_crt="x", tls_key="x"),
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_an_example_comes_up(path):
    objects = [obj for obj in yaml.safe_load_all(path.read_text()) if obj]
    async with Nebius() as scene:
        scene.process()
        await scene.make(*objects, *BROUGHT, namespace=SPACE)
        await scene.settle()
        told = {name: obj["status"] for name, obj in scene.objects(SLURM_CLUSTER).items()}
        assert told
        assert {status["phase"] for status in told.values()} == {"Available"}, told
        assert {obj["status"]["phase"] for obj in scene.objects(NODE_SET).values()} <= {"Ready"}
