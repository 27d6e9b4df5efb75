"""The container in which a worker's slurmd runs. Pure."""

import math
from collections.abc import Mapping
from typing import Any

from ..kube import quantities
from ..kube.objects import Object
from ..model.cluster import Cluster
from ..model.nodeset import NodeSet
from ..slurm import conf
from ..slurm.keys import V25_05
from . import marks, pods, probes, shell, slurm_conf, volumes, worker_conf
from .services import Port

PORT = Port("slurmd", slurm_conf.SLURMD_PORT)
SSH_PORT = Port("ssh", 22)
SSH_CONFIG = "ssh-config"
SSSD = "sssd-conf"
SSHD_CONFIG = "sshd_config"
SSSD_CONF = "sssd.conf"
_NAME = "slurmd"
# What Slurm calls the instance that a node runs on is the Kubernetes node here: people, and what
# reads metrics, find the one by the other. slurmd takes it since 23.11.
_INSTANCE = "POD_NODE_NAME"
# What jobs under cgroups, GPUs and containers need; who cares says `privileged: false`.
_PRIVILEGED: Object = {
    "privileged": True,
    "capabilities": {"add": ["BPF", "NET_ADMIN", "SYS_ADMIN", "SYS_NICE"]},
}
# Enough to run jobs as their users without cgroups.
_LEAST = ("CHOWN", "KILL", "SETGID", "SETUID")


def container(cluster: Cluster, nodeset: NodeSet) -> Object:
    """Return the container, as the user wants it."""
    alive = probes.handler(cluster.version, PORT.name, probes.LIVE)
    ready = probes.handler(cluster.version, PORT.name, probes.READY)
    leave = ["sh", "-c", shell.script("leave"), "leave", _reason(cluster)]
    return pods.container(
        nodeset.part,
        _NAME,
        {
            "args": _arguments(cluster, nodeset),
            "env": _environment(cluster, nodeset),
            "ports": [PORT.opened, *([SSH_PORT.opened] if nodeset.ssh else [])],
            # No liveness probe: jobs go on while slurmd is slow or gone, and the end of its
            # container would be their end.
            "startupProbe": probes.started(alive),
            "readinessProbe": probes.ready(ready),
            "lifecycle": {"preStop": {"exec": {"command": leave}}},
            "securityContext": _security(cluster, nodeset),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(volumes.LOGS, pods.LOGS),
                *(_ssh_mounts() if nodeset.ssh else ()),
            ],
        },
    )


def shape(nodeset: NodeSet) -> str:
    """Return a digest of what slurmd tells of its node; empty: it could not be told.

    Slurm believes the first slurmd of a name, and no later one.
    """
    try:
        limits, node = _limits(nodeset), worker_conf.node_conf(nodeset)
    except ValueError:
        return ""
    return marks.digest(node, str(limits["cpu"]), str(limits["memory"]))[:10]


def _reason(cluster: Cluster) -> str:
    return f"{cluster.naming.reason_prefix}Pod is terminating"


def _ssh_mounts() -> tuple[Object, Object]:
    return (
        volumes.mount(SSH_CONFIG, f"/etc/ssh/{SSHD_CONFIG}", read_only=True, file=SSHD_CONFIG),
        volumes.mount(SSSD, f"/etc/sssd/{SSSD_CONF}", read_only=True, file=SSSD_CONF),
    )


def _arguments(cluster: Cluster, nodeset: NodeSet) -> list[str]:
    # In quotes, as images hand their arguments through a shell.
    node = f"'{worker_conf.node_conf(nodeset)}'"
    # Kubernetes puts the variable in, and no shell.
    instance = f"$({_INSTANCE})"
    return [
        *("-Z", "--conf-server", cluster.conf_server),
        *("--instance-id", instance, "--conf", node),
    ]


def _environment(cluster: Cluster, nodeset: NodeSet) -> list[Object]:
    limits = _limits(nodeset)
    made: list[Object] = [
        {"name": _INSTANCE, "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "POD_CPUS", "value": str(math.ceil(limits["cpu"]))},
        {"name": "POD_MEMORY", "value": str(math.floor(limits["memory"] / 2**20))},
    ]
    if _places_itself(cluster, nodeset):
        # The annotation of the pod as it is when slurmd starts. Not in --conf, where an empty
        # `Topology=` would take the next key for its value; images add it when there is one.
        path = f"metadata.annotations['{cluster.naming.annotations.topology}']"
        source: Object = {"fieldRef": {"fieldPath": path}}
        names = ("POD_TOPOLOGY", "SLINKY_TOPOLOGY")
        made = [*({"name": name, "valueFrom": source} for name in names), *made]
    return made


def _places_itself(cluster: Cluster, nodeset: NodeSet) -> bool:
    """Say whether a node may name its place in the network: Slurm can, and the user does not."""
    able = cluster.version is None or cluster.version >= V25_05
    return able and "topology" not in worker_conf.node_keys(nodeset)


def _limits(nodeset: NodeSet) -> dict[str, Any]:
    """Return how much of the machine the pod may use; 0: all of it."""
    found: dict[str, Any] = {"cpu": 0, "memory": 0}
    for asked in (nodeset.part.pods.spec, *_asked(nodeset)):
        limits: Mapping[str, Any] = (asked.get("resources") or {}).get("limits") or {}
        found |= {name: quantities.parse(limits[name]) for name in found if limits.get(name)}
    return found


def _asked(nodeset: NodeSet) -> list[Object]:
    """Return what the user wants of this container, in both places where that can be said."""
    wishes = nodeset.part.pods
    in_spec = (c for c in wishes.spec.get("containers") or () if c.get("name") == _NAME)
    return [wishes.containers.get(_NAME, {}), *in_spec]


def _security(cluster: Cluster, nodeset: NodeSet) -> Object:
    asked = [(wish.get("securityContext") or {}).get("privileged") for wish in _asked(nodeset)]
    if False not in asked:
        return _PRIVILEGED
    # task/affinity, which is Slurm's default, binds processes of others.
    plugins = conf.effective(conf.parse(cluster.config.extra)).get("taskplugin")
    binds = not plugins or "affinity" in plugins[-1].value.lower()
    more = ("SYS_NICE",) if binds else ()
    # sshd needs what runtimes give by default.
    kept: Object = {} if nodeset.ssh else {"drop": ["ALL"]}
    return {"privileged": False, "capabilities": {**kept, "add": [*_LEAST, *more]}}
