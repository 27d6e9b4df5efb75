"""Where workers are."""

from shoal.exporter.shared import Shared
from shoal.exporter.snapshot import Place, TopologySeen
from shoal.exporter.topology import TopologyCollector, Workers
from shoal.kube import kinds
from shoal.kube.objects import Meta, Resource
from shoal.kube.pods import Pod, PodSpec

from .builders import NOW, samples, value

WORKERS = Workers("here", "app.kubernetes.io/instance=c")


class Api:
    """An API server with two workers, one of them on a machine in a group."""

    def __init__(self):
        self.asked = []

    async def every(self, which, _type):
        self.asked.append(which)
        if which.kind is kinds.NODE:
            labels = {WORKERS.group_label: "nvl-7"}
            return [Resource(metadata=Meta(name="machine-1", labels=labels))]
        return [
            Pod(
                metadata=Meta(name=f"gpu-{n}", labels={WORKERS.nodeset_label: "gpu"}),
                spec=PodSpec(node_name=f"machine-{n}"),
            )
            for n in (0, 1)
        ]


async def test_a_worker_is_in_the_group_of_its_machine():
    api = Api()
    seen = await TopologyCollector(api, WORKERS, Shared()).gather()
    assert seen.places == {"gpu-0": Place("", "gpu"), "gpu-1": Place("nvl-7", "gpu")}
    machines, pods = api.asked
    assert (machines.labels, machines.metadata_only) == (WORKERS.group_label, True)
    assert (pods.namespace, pods.labels) == ("here", WORKERS.selector)


def test_groups_are_told_with_the_instance_and_others_learn_the_places():
    shared = Shared(instances={"gpu-1": "i-1"})
    places = {"gpu-0": Place("", "gpu"), "gpu-1": Place("nvl-7", "gpu")}
    text = "".join(TopologyCollector(Api(), WORKERS, shared).tell(TopologySeen(places), NOW))
    labels = {"instance_id": "i-1", "nvlink_instance_group": "nvl-7", "nodeset_name": "gpu"}
    assert value(text, "slurm_node_nvlink_instance_group", node_name="gpu-1", **labels) == 1
    assert len(samples(text)) == 1
    assert shared.places == places
