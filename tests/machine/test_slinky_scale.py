"""Workers come and go: no job is lost, whatever Slurm says or does not say."""

import pytest

from fakes.slurmrestd.faults import Late, Lost, Says
from fakes.slurmrestd.slurm import Daemon
from shoal.controllers import pulse
from shoal.decide import portion
from shoal.kube import kinds
from shoal.runtime import clock

from .example import EXAMPLE
from .slinky import Scene

FIVE_MINUTES_S = 300
SILENCES = {
    "nobody listens": lambda slurm: slurm.plan(Lost(), times=-1),
    "no answer": lambda slurm: slurm.plan(Late(float("inf")), times=-1),
    "an empty list": lambda slurm: slurm.plan(
        Says(200, {"nodes": [], "errors": [], "last_update": {"set": True, "number": 1}}),
        "nodes/", times=-1,
    ),
    "a refusal": lambda slurm: slurm.plan(Says(500, {"errors": [{"error_number": 1}]}), times=-1),
    "slurmctld down": lambda slurm: setattr(slurm, "controller", Daemon.DOWN),
    "slurmctld hung": lambda slurm: setattr(slurm, "controller", Daemon.HUNG),
}  # fmt: skip


def workers(scene: Scene) -> list[str]:
    return sorted(name for name in scene.objects(kinds.POD) if name.startswith("cpu-"))


async def test_a_surplus_worker_is_drained_first_and_deleted_when_slurm_says_that_it_is_drained():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm().slurmctld
        job = slurm.start("cpu-1", limit=5)
        slurm.start("cpu-0", limit=60)
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(FIVE_MINUTES_S)
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert "DRAIN" in slurm.nodes["cpu-1"].flags
        words = "slurm-operator: Pod is pending termination for scale-in"
        assert slurm.nodes["cpu-1"].reason == words
        assert "DRAIN" not in slurm.nodes["cpu-0"].flags
        slurm.end(job.job_id)
        await clock.sleep(60)
        assert workers(scene) == ["cpu-0"]
        assert scene.lost == []
        assert scene.find("NodeSet", "cpu")["status"]["replicas"] == 1


@pytest.mark.parametrize("silence", SILENCES)
async def test_while_slurm_says_nothing_a_surplus_worker_stays(silence):
    """https://github.com/SlinkyProject/slurm-operator/pull/79"""
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm()
        slurm.slurmctld.start("cpu-1")
        SILENCES[silence](slurm)
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(FIVE_MINUTES_S)
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert scene.lost == []
        slurm.heal()
        slurm.controller = Daemon.UP
        for job in list(slurm.slurmctld.jobs):
            slurm.slurmctld.end(job)
        await clock.sleep(300)
        assert workers(scene) == []
        assert scene.lost == []


async def test_without_a_restapi_a_surplus_worker_stays():
    async with Scene() as scene:
        await scene.rise(*(obj for obj in EXAMPLE if obj["kind"] != "RestApi"))
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(FIVE_MINUTES_S)
        assert workers(scene) == ["cpu-0", "cpu-1"]


async def test_a_worker_that_slurm_has_not_heard_of_stays():
    async with Scene() as scene:
        await scene.rise()
        del scene.slurm().slurmctld.nodes["cpu-1"]
        scene.slurm().slurmctld.add("somebody")
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(FIVE_MINUTES_S)
        assert workers(scene) == ["cpu-0", "cpu-1"]


async def test_a_drain_of_an_administrator_is_kept_word_for_word():
    """https://github.com/SlinkyProject/slurm-operator/pull/3"""
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm().slurmctld
        slurm.update_nodes("root", ["cpu-1"], {"state": ["DRAIN"], "reason": "broken fan"})
        job = slurm.start("cpu-1", limit=5)
        slurm.start("cpu-0", limit=60)
        await scene.edit("NodeSet", "cpu", replicas=1)
        await clock.sleep(120)
        assert slurm.nodes["cpu-1"].reason == "broken fan"
        assert workers(scene) == ["cpu-0", "cpu-1"]
        slurm.end(job.job_id)
        await clock.sleep(60)
        assert workers(scene) == ["cpu-0"]
        assert slurm.nodes["cpu-1"].reason == "broken fan"
        assert scene.lost == []


async def test_a_worker_that_never_ran_goes_at_once():
    async with Scene() as scene:
        await scene.rise()
        scene.toys.begins_after_s = 10_000
        await scene.edit("NodeSet", "cpu", replicas=4)
        await clock.sleep(30)
        assert workers(scene) == ["cpu-0", "cpu-1", "cpu-2", "cpu-3"]
        scene.slurm().controller = Daemon.DOWN
        await scene.edit("NodeSet", "cpu", replicas=2)
        await clock.sleep(30)
        assert workers(scene) == ["cpu-0", "cpu-1"]


async def test_a_worker_that_ended_is_replaced_under_its_name():
    async with Scene() as scene:
        await scene.rise()
        before = scene.pods()["cpu-1"]
        pod = scene.objects(kinds.POD)["cpu-1"]
        dead = {**pod, "status": {"phase": "Failed", "reason": "Evicted"}}
        scene.api.history.write(kinds.POD, ("default", "cpu-1"), dead)
        await scene.settle()
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert scene.pods()["cpu-1"] != before
        assert scene.unready() == []


async def test_many_workers_come_in_one_pass_and_go_by_one_call():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("NodeSet", "cpu", replicas=40)
        await scene.settle()
        assert len(workers(scene)) == 40
        slurm = scene.slurm()
        asked = slurm.count("POST")
        await scene.edit("NodeSet", "cpu", replicas=2)
        await scene.settle()
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert slurm.count("POST") - asked == 1


async def test_idle_workers_are_drained_and_gone_before_the_clock_has_slurm_asked_again(
    monkeypatch,
):
    monkeypatch.setattr(pulse, "SMALL_S", 600.0)
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("NodeSet", "cpu", replicas=40)
        await scene.settle()
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(5)
        assert workers(scene) == []
        assert scene.lost == []


async def test_a_drain_that_slurm_does_not_take_is_not_asked_for_again_and_again():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm()
        # It says yes, and does nothing.
        slurm.plan(Says(200, {"errors": []}), "POST", times=-1)
        before = slurm.count("POST")
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(60)
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert slurm.count("POST") - before <= 2 + 60 / pulse.SMALL_S


async def test_many_workers_come_and_go_portion_by_portion_and_the_status_tells_how_far(
    monkeypatch,
):
    monkeypatch.setattr(portion.portion, "__defaults__", (10,))
    async with Scene() as scene:
        await scene.rise()
        told: list[int] = []
        await scene.edit("NodeSet", "cpu", replicas=45)
        for _ in range(100):
            await clock.sleep(0.05)
            replicas = scene.find("NodeSet", "cpu")["status"]["replicas"]
            if replicas not in told:
                told.append(replicas)
        await scene.settle()
        assert len(workers(scene)) == 45
        assert len(told) >= 4
        await scene.edit("NodeSet", "cpu", replicas=0)
        await scene.settle()
        assert workers(scene) == []
        assert scene.lost == []


async def test_a_user_who_changes_his_mind_while_many_workers_come_is_heard(monkeypatch):
    monkeypatch.setattr(portion.portion, "__defaults__", (10,))
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("NodeSet", "cpu", replicas=1000)
        await clock.sleep(0.5)
        await scene.edit("NodeSet", "cpu", replicas=2)
        most = 0
        for _ in range(20):
            await clock.sleep(0.5)
            most = max(most, len(workers(scene)))
        await scene.settle()
        assert 2 < most < 200
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert scene.lost == []


async def test_scaling_reads_the_nodes_once_a_period_and_not_once_a_worker():
    async with Scene() as scene:
        await scene.rise()
        await scene.edit("NodeSet", "cpu", replicas=20)
        await scene.settle()
        slurm = scene.slurm()
        slurm.slurmctld.start("cpu-[0-19]")
        await scene.edit("NodeSet", "cpu", replicas=10)
        await clock.sleep(20)
        before = slurm.count("GET")
        await clock.sleep(60)
        # One question every four seconds, and the jobs every fifteen: two calls each with its ping.
        assert slurm.count("GET") - before <= 60 / 4 + 4 * 60 / 15
        assert len(workers(scene)) == 20


async def test_a_worker_on_its_nodes_network_is_the_slurm_node_of_that_name():
    async with Scene() as scene:
        await scene.rise()
        template = {"spec": {"hostNetwork": True}}
        await scene.edit("NodeSet", "cpu", template=template, replicas=0)
        await scene.settle()
        await scene.edit("NodeSet", "cpu", replicas=2)
        await scene.settle()
        slurm = scene.slurm().slurmctld
        assert {"node-of-cpu-0", "node-of-cpu-1"} < slurm.nodes.keys()
        before = scene.pods()
        # None is taken for one that Slurm has lost.
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods() == before
        job = slurm.start("node-of-cpu-1")
        slurm.start("node-of-cpu-0", limit=60)
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(FIVE_MINUTES_S)
        assert workers(scene) == ["cpu-0", "cpu-1"]
        assert "DRAIN" in slurm.nodes["node-of-cpu-1"].flags
        slurm.end(job.job_id)
        await clock.sleep(60)
        assert workers(scene) == ["cpu-0"]


async def test_a_pod_that_took_a_workers_place_meanwhile_is_not_deleted_for_it():
    async with Scene() as scene:
        await scene.rise()
        slurm = scene.slurm()
        slurm.slurmctld.update_nodes("root", ["cpu-1"], {"state": ["DRAIN"], "reason": "x"})
        # cpu-0 is drained and cpu-1 deleted in one pass, and the first of them takes its time.
        slurm.plan(Late(4), "POST")
        await scene.edit("NodeSet", "cpu", replicas=0)
        await clock.sleep(1)
        await scene.remove(kinds.POD, "cpu-1")
        await clock.sleep(2)
        spec = {"nodeName": "elsewhere", "containers": [{"name": "x", "image": "y"}]}
        meta = {"name": "cpu-1", "namespace": "default"}
        await scene.make({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        theirs = scene.pods()["cpu-1"]
        await clock.sleep(60)
        assert scene.pods()["cpu-1"] == theirs
        assert "cpu-0" not in scene.pods()
