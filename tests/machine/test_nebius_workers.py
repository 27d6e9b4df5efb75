"""Workers of slurm.nebius.ai come and go: of a cluster itself, and of NodeSets."""

import pytest

from fakes.slurmrestd.series import Refused
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.naming import NAMING
from shoal.dialects.nebius.types import NODE_SET, SLURM_CLUSTER
from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.client import Ref
from shoal.runtime import clock

from .example import EXAMPLE
from .nebius import SPACE, Nebius, cluster, nodes, nodeset

FIVE_MINUTES_S = 300


async def scale(scene: Nebius, size: int) -> None:
    await scene.change(**nodes(worker={"size": size}))


async def rescale(scene: Nebius, size: int) -> None:
    await scene.rescale("cpu", size)


# Whose they are -> the label of their pods, how they are called in Slurm, and how they are scaled.
OWNERS = {
    "of the cluster": (naming.WORKERS, "worker", scale),
    "of a NodeSet": (naming.NODE_SET, "cpu", rescale),
}


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_surplus_worker_ends_when_its_jobs_have(owner):
    component, name, scaled = OWNERS[owner]
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        slurm = scene.slurm("one").slurmctld
        jobs = [slurm.start(f"{name}-{number}") for number in range(2)]
        await scaled(scene, 0)
        await clock.sleep(FIVE_MINUTES_S)
        assert len(scene.pods_of(component)) == 2
        assert {"DRAIN"} <= slurm.nodes[f"{name}-1"].flags
        for job in jobs:
            slurm.end(job.job_id)
        await scene.settle()
        assert scene.pods_of(component) == []
        assert scene.lost == []
        await scaled(scene, 3)
        await scene.settle()
        assert len(scene.pods_of(component)) == 3
        assert scene.status()["phase"] == "Available"


async def test_a_nodeset_says_how_it_is_and_which_pods_are_its_own():
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        told = scene.status("cpu", NODE_SET)
        assert (told["phase"], told["replicas"]) == ("Ready", 2)
        selected = dict(word.split("=") for word in told["labelSelector"].split(","))
        pods = [
            name
            for name, pod in scene.objects(kinds.POD).items()
            if selected.items() <= pod["metadata"]["labels"].items()
        ]
        assert sorted(pods) == ["cpu-0", "cpu-1"]
        assert scene.condition("PodsReady", "cpu", NODE_SET)["reason"] == "NodeSetReady"


async def test_a_nodeset_waits_for_its_cluster_and_says_so():
    async with Nebius() as scene:
        await scene.rise(nodeset())
        told = scene.condition("PodsReady", "cpu", NODE_SET)
        assert "spec.clusterName: SlurmCluster one is not there" in told["message"]
        assert scene.status("cpu", NODE_SET)["phase"] == "Provisioning"
        await scene.make(cluster())
        await scene.settle()
        assert scene.status("cpu", NODE_SET)["phase"] == "Ready"


async def test_another_image_replaces_workers_as_they_become_free():
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        slurm = scene.slurm("one").slurmctld
        running, before = slurm.start("worker-0"), scene.pods()
        await scene.change(**nodes(worker={"slurmd": {"image": "slurmd:26.05.1"}}))
        await clock.sleep(FIVE_MINUTES_S)
        now = scene.pods()
        assert now["one-worker-0"] == before["one-worker-0"]
        slurm.end(running.job_id)
        await scene.settle()
        now = scene.pods()
        assert all(now[name] != before[name] for name in ("one-worker-0", "one-worker-1"))
        assert all(now[name] == before[name] for name in ("cpu-0", "one-controller-0"))
        assert scene.lost == []


async def test_scaling_restarts_nobody():
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        before = scene.pods()
        await scale(scene, 3)
        await rescale(scene, 1)
        await scene.settle()
        now = scene.pods()
        assert {name for name, uid in before.items() if now.get(name) != uid} == {"cpu-1"}


# -- what is deleted


async def test_a_deleted_cluster_stays_until_the_jobs_of_its_workers_have_ended():
    async with Nebius() as scene:
        await scene.rise(cluster())
        slurm = scene.slurm("one").slurmctld
        running = slurm.start("worker-1")
        await scene.drop(SLURM_CLUSTER, "one")
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods_of(naming.WORKERS) == ["one-worker-1"]
        assert scene.pods_of(naming.CONTROLLER) == ["one-controller-0"]
        told = scene.condition("WorkersAvailable")["message"]
        assert "1 worker still with jobs: one-worker-1" in told
        who = "slurmclusters.slurm.nebius.ai one"
        assert f'kubectl annotate {who} {NAMING.annotations.force}="true"' in told
        slurm.end(running.job_id)
        await scene.settle()
        assert scene.objects(SLURM_CLUSTER) == {}
        assert scene.pods() == {}
        assert scene.lost == []


async def test_a_cluster_that_goes_with_its_nodesets_stays_until_they_are_gone():
    async with Nebius() as scene:
        await scene.rise(cluster(**nodes(worker=None)), nodeset())
        slurm = scene.slurm("one").slurmctld
        running = slurm.start("cpu-0")
        await scene.drop(NODE_SET, "cpu")
        await scene.drop(SLURM_CLUSTER, "one")
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods_of(naming.NODE_SET) == ["cpu-0"]
        assert scene.pods_of(naming.CONTROLLER) == ["one-controller-0"]
        assert scene.status("cpu", NODE_SET)["phase"] == "Terminating"
        told = scene.condition("PodsReady", "cpu", NODE_SET)["message"]
        force = f'kubectl annotate nodesets.slurm.nebius.ai cpu {NAMING.annotations.force}="true"'
        assert force in told
        assert "NodeSet cpu goes first" in scene.condition("WorkersAvailable")["message"]
        slurm.end(running.job_id)
        await scene.settle()
        assert scene.pods() == {}
        assert scene.lost == []


async def test_the_workers_of_a_nodeset_that_stays_outlive_their_cluster():
    async with Nebius() as scene:
        await scene.rise(cluster(), nodeset())
        await scene.drop(SLURM_CLUSTER, "one")
        await scene.settle()
        assert sorted(scene.pods()) == ["cpu-0", "cpu-1"]
        assert "is not there" in scene.condition("PodsReady", "cpu", NODE_SET)["message"]


async def test_a_user_may_give_the_jobs_of_a_deleted_cluster_up():
    async with Nebius() as scene:
        await scene.rise(cluster())
        scene.slurm("one").slurmctld.start("worker-1")
        await scene.drop(SLURM_CLUSTER, "one")
        await clock.sleep(FIVE_MINUTES_S)
        note = {"metadata": {"annotations": {NAMING.annotations.force: "true"}}}
        await scene.user.patch(Ref(SLURM_CLUSTER, SPACE, "one"), note, dict)
        await scene.settle()
        assert scene.objects(SLURM_CLUSTER) == {}


async def test_a_deleted_cluster_that_cannot_be_understood_says_so_and_goes_once_it_can():
    async with Nebius() as scene:
        await scene.rise(cluster())
        await scene.change(**nodes(worker={"k8sNodeFilterName": "nowhere"}))
        await scene.drop(SLURM_CLUSTER, "one")
        await scene.settle()
        assert "there is no filter 'nowhere'" in scene.condition("WorkersAvailable")["message"]
        assert len(scene.pods_of(naming.WORKERS)) == 2
        await scene.change(**nodes(worker={"k8sNodeFilterName": "any"}))
        await scene.settle()
        assert scene.objects(SLURM_CLUSTER) == {}


async def test_a_partition_of_a_nodeset_that_is_not_there_is_told():
    async with Nebius() as scene:
        spec = {
            "configType": "structured",
            "partitions": [{"name": "main", "nodeSetRefs": ["cpu", "nobody"]}],
        }
        whole = cluster(**nodes(worker=None), partitionConfiguration=spec)
        await scene.rise(whole, nodeset())
        told = scene.condition("NodeSetRefsResolved")
        assert (told["status"], told["reason"]) == ("False", "IgnoredNodeSetRefs")
        assert "nobody" in told["message"]
        assert scene.status()["phase"] == "Available"


# -- nodes that slurm.conf names


def listed(name: str = "cpu", **spec: object) -> Object:
    made = nodeset(name, **spec)
    meta = {**made["metadata"], "annotations": {"shoal/registration": "static"}}
    return {**made, "metadata": meta}


def refuse_to_forget(scene: Nebius) -> list[str]:
    """Let Slurm forget no node, as it does with those of slurm.conf; return what it was asked."""
    asked: list[str] = []

    def refuse(_: str, hostlist: str) -> None:
        asked.append(hostlist)
        raise Refused(2016, f"Failure to update node {hostlist}", "_delete_node")

    scene.slurm("one").slurmctld.delete_nodes = refuse  # type: ignore[method-assign]
    return asked


async def test_a_nodeset_that_slurm_conf_names_goes_without_slurm_being_asked_to_forget_it(logs):
    async with Nebius() as scene:
        await scene.rise(cluster(**nodes(worker=None)), listed())
        asked = refuse_to_forget(scene)
        assert "NodeName=cpu-[0-1]" in scene.conf("one-slurm-configs")
        await scene.drop(NODE_SET, "cpu")
        await scene.settle()
        assert scene.there(NODE_SET) == {}
        assert "NodeName=cpu" not in scene.conf("one-slurm-configs")
        # Another one of its name comes before Slurm has read that.
        await scene.make(listed())
        await scene.settle()
        assert scene.pods_of(naming.NODE_SET) == ["cpu-0", "cpu-1"]
        assert asked == []
        assert [e for e in logs if e["log_level"] == "error"] == []


async def test_slurm_conf_names_a_node_as_long_as_its_worker_runs():
    async with Nebius() as scene:
        await scene.rise(cluster(**nodes(worker=None)), listed(replicas=3))
        refuse_to_forget(scene)
        slurm = scene.slurm("one").slurmctld
        running = slurm.start("cpu-2")
        await rescale(scene, 1)
        await clock.sleep(FIVE_MINUTES_S)
        assert "cpu-2" in scene.pods_of(naming.NODE_SET)
        assert "NodeName=cpu-[0-2]" in scene.conf("one-slurm-configs")
        slurm.end(running.job_id)
        await scene.settle()
        # The busy one has stayed, and whoever stays is named.
        assert scene.pods_of(naming.NODE_SET) == ["cpu-2"]
        assert "NodeName=cpu-[0-2]" in scene.conf("one-slurm-configs")
        await rescale(scene, 0)
        await scene.settle()
        assert "NodeName=cpu" not in scene.conf("one-slurm-configs")
        assert scene.lost == []


async def test_a_nodeset_by_the_name_of_one_of_the_other_api_says_so_and_takes_no_worker_from_it():
    async with Nebius() as scene:
        await scene.rise(*EXAMPLE)
        before = {name: uid for name, uid in scene.pods().items() if name.startswith("cpu-")}
        await scene.make(cluster(**nodes(worker=None)), nodeset("cpu"))
        await scene.settle()
        message = scene.condition("PodsReady", "cpu", NODE_SET)["message"]
        assert "Pod cpu-0: it belongs to NodeSet cpu" in message
        assert "metadata.name: name this NodeSet otherwise, or delete that" in message
        assert before
        assert before.items() <= scene.pods().items()


async def test_slurm_conf_goes_on_naming_nodes_whose_annotation_was_taken_away():
    async with Nebius() as scene:
        await scene.rise(cluster(**nodes(worker=None)), listed())
        refuse_to_forget(scene)
        running = scene.slurm("one").slurmctld.start("cpu-1")
        before = scene.pods_of(naming.NODE_SET)
        plain = {"metadata": {"annotations": None}}
        await scene.user.patch(Ref(NODE_SET, SPACE, "cpu"), plain, dict)
        await clock.sleep(FIVE_MINUTES_S)
        assert scene.pods_of(naming.NODE_SET) == before
        assert "NodeName=cpu-[0-1]" in scene.conf("one-slurm-configs")
        scene.slurm("one").slurmctld.end(running.job_id)
        # With the last of them the annotation is forgotten.
        await rescale(scene, 0)
        await scene.settle()
        await rescale(scene, 2)
        await scene.settle()
        assert "NodeName=cpu" not in scene.conf("one-slurm-configs")
        assert scene.lost == []
