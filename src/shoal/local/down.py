"""Take a cluster away so that nothing of it is left."""

import shutil

from ..host.lock import locked
from . import cgroups, claims, machines, network
from .cluster import Cluster, Networked, load
from .settings import Settings
from .up import lock_of


def down(settings: Settings, cluster: Cluster) -> None:
    """End every process of `cluster`, then remove its namespaces, groups and files."""
    with locked(lock_of(settings, cluster.name), lambda: None):
        # While we waited it may have grown.
        cluster = load(cluster.folder) or cluster
        # The nodes first: their kubelets must not see a dead API server and act on it.
        for machine in reversed(machines.every(cluster).values()):
            machine.cut_power()
        if isinstance(cluster.place, Networked):
            if claims.is_ours(cluster, cluster.place):
                network.remove(cluster, cluster.place)
                cgroups.remove(cluster.place.tag)
            with locked(claims.LOCK, lambda: None):
                claims.release(cluster, cluster.place)
        if cluster.folder.exists():
            shutil.rmtree(cluster.folder)
