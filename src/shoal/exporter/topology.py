"""Where workers are: the NVLink group of their machine, and the NodeSet that they belong to."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..kube import kinds
from ..kube.objects import Resource
from ..kube.pods import Pod
from ..kubeapi.client import Client, Which
from . import text
from .catalogue import NAMED, Collector
from .shared import Shared
from .snapshot import Place, TopologySeen


@dataclass(frozen=True)
class Workers:
    """How workers and their machines are told: by labels, which each front end has its own of."""

    namespace: str
    selector: str
    nodeset_label: str = "slurm.nebius.ai/nodeset"
    group_label: str = "topology.nebius.com/nvl-instance-group-id"


class TopologyCollector:
    """Reads pods and machines, and tells of groups. A worker's pod has the name of its node."""

    name = Collector.TOPOLOGY

    def __init__(self, client: Client, workers: Workers, shared: Shared) -> None:
        self._client = client
        self._workers = workers
        self._shared = shared

    async def gather(self) -> TopologySeen:
        """Read the workers' pods, and the machines that are in a group."""
        asked = self._workers
        machines = Which(kinds.NODE, labels=asked.group_label, metadata_only=True)
        groups = {
            machine.metadata.name: machine.metadata.labels.get(asked.group_label, "")
            for machine in await self._client.every(machines, Resource)
        }
        pods = await self._client.every(Which(kinds.POD, asked.namespace, asked.selector), Pod)
        return TopologySeen(
            {
                pod.metadata.name: Place(
                    groups.get(pod.spec.node_name, ""),
                    pod.metadata.labels.get(asked.nodeset_label, ""),
                )
                for pod in pods
            }
        )

    def tell(self, seen: TopologySeen, _now: float) -> Iterator[str]:
        """Take note of what is seen, and yield it as text."""
        self._shared.places = seen.places
        instances = self._shared.instances
        return text.family(
            NAMED["slurm_node_nvlink_instance_group"],
            (
                ((node, instances.get(node, ""), place.nvlink_group, place.nodeset), 1)
                for node, place in sorted(seen.places.items())
                if place.nvlink_group
            ),
        )

    async def close(self) -> None:
        """Do nothing: the client is somebody else's."""
