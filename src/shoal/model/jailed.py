"""Workers and login nodes of a cluster with a shared root. Pure."""

import enum
import re
from dataclasses import dataclass

from ..kube.objects import Object
from .jail import Claimed, Fittings, Volume
from .part import Files, Part, ServiceWishes
from .settings import Cgroup, Feature

SPOOL = "worker-spool"


class Registration(enum.Enum):
    """How Slurm comes to know a worker."""

    DYNAMIC = "dynamic"  # slurmd brings its node along: scaling changes no file
    STATIC = "static"  # slurm.conf names it, for images whose slurmd does not


def feature_name(nodeset: str) -> str:
    """Return the feature by which the workers of a NodeSet are found.

    It is the end of a variable's name too, where a shell takes no other characters.
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", nodeset)


@dataclass(frozen=True)
class JailedWorkers:
    """What workers of one shape have in a cluster with a shared root."""

    fittings: Fittings
    spool: Volume
    shared_memory: str = "64Gi"
    gpu: bool = False
    gdr_copy: bool = False
    node_extra: str = ""  # of the Slurm node, with shell variables in it
    features: tuple[str, ...] = ()  # of all of them
    chosen: tuple[Feature, ...] = ()  # of some of them
    cgroup: Cgroup = Cgroup.V2
    registration: Registration = Registration.DYNAMIC
    listed: int = 0  # workers that slurm.conf names, be they down for maintenance or not
    port: int = 6818
    sshd: Files | None = None  # with the user's sshd_config; None: ours
    supervisord: Files | None = None  # with the user's supervisord.conf; None: ours
    service: str = ""  # a headless Service of these workers alone; empty: none
    gres: tuple[str, ...] = ()  # lines of gres.conf, without the nodes' names

    @property
    def claims(self) -> tuple[Object, ...]:
        """Return the templates of the claims that are made for each worker."""
        mounts = (*self.fittings.submounts, *self.fittings.mounts)
        found = [(SPOOL, self.spool), *((mount.name, mount.volume) for mount in mounts)]
        return tuple(
            {"metadata": {"name": name}, "spec": volume.spec}
            for name, volume in found
            if isinstance(volume, Claimed)
        )


@dataclass(frozen=True)
class GateNames:
    """What the objects of login nodes are called."""

    workload: str
    service: str  # by which people find them
    headless: str  # by which each pod has a name
    config: str  # the ConfigMap with sshd_config


@dataclass(frozen=True)
class Gate:
    """Pods that people log in to by SSH, and are in the jail then."""

    part: Part
    names: GateNames
    service: ServiceWishes
    fittings: Fittings
    replicas: int = 1
    sshd: Files | None = None  # with the user's sshd_config; None: ours
    cluster: str = ""  # the object that stands for its cluster
