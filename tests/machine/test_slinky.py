"""The operator of slinky.slurm.net: what comes up, what stays quiet, and whose is whose."""

import random

import pytest

from fakes.port import Harness
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .example import ACCOUNTING, CONTROLLER, EXAMPLE, KEYS, ROWS, SPACE, keys, made, secret
from .slinky import Scene, played

TEN_MINUTES_S = 600
# A workload without pods.
BARE = {"replicas": 0, "template": {"metadata": {"labels": {}, "annotations": {}}, "spec": {}}}


async def end() -> dict[str, Object]:
    async with Scene() as scene:
        await scene.rise()
        return scene.seen()


# -- all of it


async def test_the_whole_example_comes_up_and_no_pass_fails(logs):
    async with Scene() as scene:
        await scene.rise()
        assert scene.unready() == []
        assert [e for e in logs if e["log_level"] in ("warning", "error")] == []
        assert sorted(scene.objects(kinds.SERVICE)) == [
            "login", "slurm-accounting", "slurm-controller", "slurm-controller-internal",
            "slurm-restapi", "slurm-workers-slurm",
        ]  # fmt: skip
        assert sorted(scene.slurm().slurmctld.nodes) == ["cpu-0", "cpu-1"]
        assert "NodeSet=cpu Feature=cpu" in scene.conf()
        assert "AccountingStorageHost=slurm-accounting.default" in scene.conf()


async def test_in_the_steady_state_nothing_is_written_for_ten_minutes():
    async with Scene() as scene:
        harness = Harness()
        await scene.rise(harness=harness)
        written, count = scene.written, len(harness.effects)
        await clock.sleep(TEN_MINUTES_S)
        assert (scene.written, len(harness.effects)) == (written, count)


async def test_a_restart_writes_nothing():
    async with Scene() as scene:
        first = await scene.rise()
        await first.stop()
        harness = Harness()
        scene.process(harness)
        await scene.settle()
        assert harness.effects == []


async def test_on_the_way_up_a_status_is_written_for_news_only():
    async with Scene() as scene:
        await scene.rise()
        for kind, name in ROWS:
            told = [
                change.after["status"]["conditions"][0]["reason"]
                for change in scene.api.history.log
                if change.kind.kind == kind and change.key[1] == name and change.after
                and "status" in change.after
            ]  # fmt: skip
            # Once ready it stays so: what is not there yet is said before, and never again.
            assert told.index("AsAsked") == len(told) - told.count("AsAsked"), (kind, told)


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_is_made_first_the_end_is_the_same(seed):
    order = list(EXAMPLE)
    chance = random.Random(seed)
    chance.shuffle(order)
    async with Scene(seed) as scene:
        scene.process()
        for obj in order:
            await scene.make(obj)
            await clock.sleep(chance.choice([0, 0.05, 1, 30]))
        await scene.settle()
        assert scene.unready() == []
        assert scene.seen() == EXPECTED


EXPECTED: dict[str, Object] = played(end())


# -- what is not there, or cannot be understood


@pytest.mark.parametrize(
    "row", [("RestApi", "slurm"), ("LoginSet", "login"), ("NodeSet", "cpu")], ids=lambda r: r[0]
)
async def test_a_part_without_its_controller_says_so_and_heals_when_it_comes(row):
    async with Scene() as scene:
        await scene.rise(*(obj for obj in EXAMPLE if obj["kind"] != "Controller"))
        status, reason, message = scene.ready(*row)
        assert (status, reason) == ("False", "ControllerMissing")
        assert message.startswith("spec.controllerRef: Controller slurm is not there")
        await scene.make(CONTROLLER)
        await scene.settle()
        assert scene.unready() == []
        assert scene.seen() == EXPECTED


async def test_a_controller_without_its_accounting_waits_for_it_and_says_so():
    async with Scene() as scene:
        await scene.rise(*(obj for obj in EXAMPLE if obj["kind"] != "Accounting"))
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "Missing")
        assert "spec.accountingRef: Accounting slurm is not there" in message
        assert "slurm-config" not in scene.objects(kinds.CONFIG_MAP)
        await scene.make(ACCOUNTING)
        await scene.settle()
        assert scene.seen() == EXPECTED


async def test_when_the_accounting_goes_slurmctld_is_left_as_it_is():
    async with Scene() as scene:
        await scene.rise()
        before, pods = scene.conf(), scene.pods()
        await scene.remove(scene.kind("Accounting"), "slurm")
        await scene.settle()
        assert scene.conf() == before
        assert scene.ready("Controller", "slurm")[1] == "Missing"
        assert scene.ready("RestApi", "slurm")[1] == "Missing"
        still = scene.pods()
        assert {name: uid for name, uid in pods.items() if "accounting" not in name} == still


@pytest.mark.parametrize(
    ("lacking", "rows"),
    {
        "keys": (("Accounting", "slurm"), ("Controller", "slurm"), ("NodeSet", "cpu"),
                 ("RestApi", "slurm"), ("LoginSet", "login"), ("Token", "alice")),
        "db": (("Accounting", "slurm"),),
        "sssd": (("LoginSet", "login"),),
        "files": (("Controller", "slurm"),),
    }.items(),
)  # fmt: skip
async def test_what_lacks_a_secret_or_a_configmap_names_the_field_and_heals(lacking, rows):
    async with Scene() as scene:
        (late,) = [obj for obj in EXAMPLE if obj["metadata"]["name"] == lacking]
        await scene.rise(*(obj for obj in EXAMPLE if obj is not late))
        for row in rows:
            status, reason, message = scene.ready(*row)
            assert (status, reason) == ("False", "Missing"), row
            assert message.startswith("spec.")
            assert lacking in message
        await scene.make(late)
        await scene.settle()
        assert scene.unready() == []
        assert scene.seen() == EXPECTED


async def test_a_worker_is_not_started_before_its_key_is_there():
    async with Scene() as scene:
        await scene.rise(*(obj for obj in EXAMPLE if obj is not KEYS))
        assert not [name for name in scene.pods() if name.startswith("cpu-")]


@pytest.mark.parametrize(
    ("kind", "name", "spec", "field"),
    [
        ("Token", "alice", {"lifetime": "soon"}, "spec.lifetime"),
        ("Token", "alice", {"lifetime": "0s"}, "spec.lifetime"),
        ("NodeSet", "cpu", {"extraConf": "Gres='x'", "replicas": 3}, "extraConf"),
        (
            "RestApi",
            "slurm",
            {"service": {"spec": {"ports": [{"name": "slurmrestd", "port": 1}]}}},
            "service.spec.ports",
        ),
    ],
)
async def test_a_spec_that_makes_no_sense_is_told_once_and_heals(kind, name, spec, field, logs):
    async with Scene() as scene:
        await scene.rise()
        before, pods = scene.find(kind, name)["spec"], scene.pods()
        await scene.edit(kind, name, **spec)
        await scene.settle()
        status, reason, message = scene.ready(kind, name)
        assert (status, reason) == ("False", "Invalid")
        assert field in message
        assert scene.pods() == pods
        assert not [e for e in logs if e["log_level"] == "error"]
        back = {key: before.get(key) for key in spec}
        await scene.edit(kind, name, **back)
        await scene.settle()
        assert scene.unready() == []


async def test_what_the_api_server_refuses_is_told_and_heals():
    async with Scene() as scene:
        await scene.rise()
        # The field cannot change in a StatefulSet, whoever asks.
        await scene.edit("Controller", "slurm", persistence={"storageClassName": "fast"})
        await scene.settle()
        status, reason, message = scene.ready("Controller", "slurm")
        assert (status, reason) == ("False", "Refused")
        assert "statefulset spec" in message
        await scene.edit("Controller", "slurm", persistence=None)
        await scene.settle()
        assert scene.unready() == []


# -- whose is whose


def foreign(kind: kinds.Kind, name: str) -> Object:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "web", "uid": "u"}
    meta = {"name": name, "namespace": SPACE, "ownerReferences": [{**owner, "controller": True}]}
    pod = {"nodeName": "elsewhere", "containers": [{"name": "x", "image": "y"}]}
    spec = {kinds.POD: pod, kinds.DEPLOYMENT: BARE}.get(kind, {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "name", "row"),
    [
        (kinds.SERVICE, "slurm-controller", ("Controller", "slurm")),
        (kinds.SERVICE, "slurm-workers-slurm", ("Controller", "slurm")),
        (kinds.CONFIG_MAP, "slurm-config", ("Controller", "slurm")),
        (kinds.SECRET, "slurm-accounting", ("Accounting", "slurm")),
        (kinds.DEPLOYMENT, "slurm-restapi", ("RestApi", "slurm")),
        (kinds.SERVICE, "login", ("LoginSet", "login")),
        (kinds.POD, "cpu-0", ("NodeSet", "cpu")),
        (kinds.SECRET, "alice-jwt-alice", ("Token", "alice")),
    ],
)
async def test_an_object_of_somebody_else_is_reported_and_not_taken_over(kind, name, row):
    async with Scene() as scene:
        theirs = foreign(kind, name)
        await scene.hold(kind, theirs)
        await scene.rise()
        status, reason, message = scene.ready(*row)
        assert (status, reason) == ("False", "Refused")
        assert f"{kind.kind} {name}: it belongs to Job web" in message
        assert message.endswith(", or delete that")
        found = scene.find(kind.kind, name)
        assert found["metadata"]["ownerReferences"] == theirs["metadata"]["ownerReferences"]
        assert found["spec"] == theirs["spec"]
        quiet = scene.written
        await clock.sleep(TEN_MINUTES_S)
        assert scene.written == quiet
        # Nothing wakes us when it goes, but we look again.
        await scene.remove(kind, name)
        await scene.settle()
        assert scene.unready() == []


def second(name: str) -> tuple[Object, ...]:
    """Return a small cluster of another name."""
    ref = {"name": name}
    return (
        secret(f"{name}-keys", slurm_key=name, jwt_key=name),
        made("Controller", name, **keys(f"{name}-keys"), slurmctld={"image": "slurmctld:26.05"}),
        made("RestApi", name, controllerRef=ref, slurmrestd={"image": "slurmrestd:26.05"}),
        made(
            "LoginSet", f"{name}-login", controllerRef=ref, login={"image": "login:26.05"},
            sssdConfRef={"name": "sssd", "key": "sssd.conf"},
        ),
        made("NodeSet", f"{name}-cpu", controllerRef=ref, slurmd={"image": "slurmd:26.05"}),
    )  # fmt: skip


async def test_two_clusters_in_one_namespace_do_not_mix():
    async with Scene() as scene:
        await scene.rise(*EXAMPLE, *second("other"))
        assert scene.unready() == []
        assert {k: v for k, v in scene.seen().items() if k in EXPECTED} == EXPECTED
        assert sorted(scene.slurm("other").slurmctld.nodes) == ["other-cpu-0"]
        assert "NodeSet=cpu" not in scene.conf("other-config")
        assert "NodeSet=other-cpu" in scene.conf("other-config")
        assert "accounting_storage/none" in scene.conf("other-config")
        pods = scene.pods()
        await scene.rewrite("Secret", "other-keys", **secret("", slurm_key="new")["data"])
        await scene.settle()
        moved = {name for name, uid in scene.pods().items() if pods.get(name) != uid}
        assert moved
        assert all(name.startswith("other-") for name in moved)


async def test_only_the_namespaces_that_were_named_are_looked_after():
    async with Scene(namespaces=("ours",)) as scene:
        for name in ("ours", "theirs"):
            space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await scene.user.create(kinds.NAMESPACE, space, dict)
        scene.process()
        for name in ("ours", "theirs"):
            await scene.make(*EXAMPLE, namespace=name)
        await scene.settle()
        assert [scene.ready(*row, "ours")[0] for row in ROWS] == ["True"] * len(ROWS)
        assert scene.objects(kinds.POD, "theirs") == {}
        assert all("status" not in scene.find(*row, "theirs") for row in ROWS)
        assert scene.slurm(namespace="ours").slurmctld.nodes.keys() == {"cpu-0", "cpu-1"}


async def test_what_an_object_had_goes_with_it():
    async with Scene() as scene:
        await scene.rise()
        for kind, name in ROWS:
            await scene.remove(scene.kind(kind), name)
        await scene.settle()
        assert sorted(scene.seen()) == [
            "ConfigMap default/files",
            "Secret default/db",
            "Secret default/keys",
            "Secret default/sssd",
        ]


async def test_what_somebody_deletes_or_changes_is_put_right():
    async with Scene() as scene:
        await scene.rise()
        await scene.remove(kinds.SERVICE, "slurm-controller")
        await scene.remove(kinds.POD, "cpu-1")
        where = Ref(kinds.CONFIG_MAP, SPACE, "login-ssh-config")
        await scene.user.patch(where, {"data": {"sshd_config": "tampered"}}, dict)
        await scene.settle()
        assert scene.seen() == EXPECTED


# -- shapes of a cluster


async def test_a_monitor_of_prometheus_that_is_asked_for_holds_nothing_up():
    async with Scene() as scene:
        await scene.rise()
        monitor = {"enabled": True, "serviceMonitor": {"enabled": True}}
        await scene.edit("Controller", "slurm", metrics=monitor)
        await scene.settle()
        assert scene.unready() == []
        assert "MetricsType=metrics/openmetrics" in scene.conf()


async def test_a_slurmctld_elsewhere_is_told_of_and_its_workers_ask_it():
    async with Scene() as scene:
        elsewhere = {"external": True, "externalConfig": {"host": "ctl.example.com", "port": 7817}}
        other = [obj for obj in EXAMPLE if obj["kind"] not in ("Controller", "Accounting")]
        await scene.rise(*other, made("Controller", "slurm", **keys(), **elsewhere))
        assert scene.unready([row for row in ROWS if row[0] != "Accounting"]) == []
        assert scene.objects(kinds.STATEFUL_SET) == {}
        assert "SlurmctldHost=ctl.example.com" in scene.conf()
        worker = str(scene.find("Pod", "cpu-0")["spec"]["containers"])
        assert "ctl.example.com:7817" in worker
        await scene.edit("Controller", "slurm", externalConfig={"host": "new.example.com"})
        await scene.settle()
        assert "SlurmctldHost=new.example.com" in scene.conf()
