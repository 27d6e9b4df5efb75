"""What can happen to a node: power, reboot, cable."""

from . import machines, network
from .api import Api
from .cluster import Cluster, Networked
from .errors import LocalError
from .machine import Machine


def stop(cluster: Cluster, name: str) -> None:
    """Cut the node's power."""
    _machine(cluster, name).cut_power()


def start(api: Api, name: str) -> None:
    """Switch the node on."""
    _machine(api.cluster, name)
    machines.start_node(api.cluster, name, api.programs)


def reboot(api: Api, name: str) -> None:
    """Cut the node's power and switch it on again; it comes back with a new boot id."""
    stop(api.cluster, name)
    start(api, name)


def partition(cluster: Cluster, name: str) -> None:
    """Pull the node's cable: it runs on, and nobody hears of it."""
    _machine(cluster, name)
    assert isinstance(cluster.place, Networked)
    network.partition(cluster.place, name)


def heal(cluster: Cluster, name: str) -> None:
    """Put the cable back."""
    _machine(cluster, name)
    assert isinstance(cluster.place, Networked)
    network.heal(cluster.place, name)


def _machine(cluster: Cluster, name: str) -> Machine:
    if name not in cluster.node_names:
        raise LocalError(
            f"cluster {cluster.name} has no node {name}",
            f"its nodes are: {', '.join(cluster.node_names) or 'none'}",
        )
    return Machine(cluster.node(name))
