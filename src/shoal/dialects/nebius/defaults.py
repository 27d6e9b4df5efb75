"""Values that an object means although nobody wrote them. Pure.

The types have as defaults of their own what the API server fills in; here is what follows from
several fields, or from a field that may be empty, and where a newer field stands for an older one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...model.jail import Claimed, Given, Volume
from ...model.maintenance import Mode
from . import naming
from .node_types import Worker
from .nodeset_types import NodeSet
from .parts import NodeContainer
from .types import SlurmCluster

PORTS: Mapping[str, int] = {
    naming.CONTROLLER: 6817,
    naming.WORKERS: 6818,
    naming.NODE_SET: 6818,
    naming.ACCOUNTING: 6819,
    naming.REST: 6820,
    naming.LOGIN: 22,
}


def port(component: str, container: NodeContainer | None) -> int:
    """Return the port that a part listens on; 0 stands for the usual one, as in older objects."""
    return (container.port if container else None) or PORTS[component]


def mode(cluster: SlurmCluster) -> Mode:
    """Return what the cluster is down for; a word that nobody knows takes nothing down."""
    try:
        return Mode(cluster.spec.maintenance)
    except ValueError:
        return Mode.NONE


def worker(cluster: SlurmCluster) -> Worker | None:
    """Return the cluster's own workers, if it has any."""
    found = cluster.spec.slurm_nodes.worker
    return found if found is not None and found.size > 0 else None


def with_gpu(cluster: SlurmCluster, nodesets: Iterable[NodeSet]) -> bool:
    """Say whether there are GPUs.

    `clusterType` speaks of the cluster's own workers alone: it is `gpu` unless somebody says
    otherwise, and newer objects, which have NodeSets only, never do.
    """
    own = worker(cluster) is not None and cluster.spec.cluster_type == "gpu"
    return own or any(one.spec.gpu.enabled for one in nodesets)


def cgroup_version(cluster: SlurmCluster) -> str:
    """Return the version of cgroups: v1 if either of the two places says so."""
    own = worker(cluster)
    said = (cluster.spec.cgroup_version, own.cgroup_version if own else "v2")
    return "v1" if "v1" in said else "v2"


def sshd_keys(cluster: SlurmCluster) -> str:
    """Return the Secret with sshd's host keys: the user's, or the one that is made."""
    made = naming.Names(cluster.metadata.name).sshd_keys
    return cluster.spec.secrets.sshd_keys_name or made


def cluster_of(nodeset: NodeSet) -> str:
    """Return the name of a NodeSet's cluster; empty: nobody says."""
    noted = nodeset.metadata.annotations.get(naming.PARENTAL_CLUSTER, "")
    return nodeset.spec.cluster_name or noted


# Beside Kubernetes' own sources, where a volume may be claimed for each pod.
CLAIM = "volumeClaimTemplateSpec"


def spool(nodeset: NodeSet) -> Volume:
    """Return the volume of slurmd's files; without a word of it they go with the pod."""
    found = nodeset.spec.slurmd.volumes.spool or {"emptyDir": {}}
    match found:
        case {"volumeClaimTemplateSpec": dict(spec)}:
            return Claimed(spec)
        case {"volumeSource": dict(source)}:
            return Given(source)
        case _:
            return Given(found)


@dataclass(frozen=True)
class Attributes:
    """What a NodeSet says of its nodes in Slurm."""

    features: tuple[str, ...] = ()
    static: str = ""  # options on the node's line
    extra: str = ""  # what slurmd registers as the node's extra


def attributes(nodeset: NodeSet) -> Attributes:
    """Return a NodeSet's attributes, of whichever release they are written for."""
    new, old = nodeset.spec.node_config, nodeset.spec.node_attributes
    features = tuple(dict.fromkeys((*new.features, *old.features)))
    return Attributes(features, new.static, new.dynamic or old.extra or "")
