"""Fields that are accepted and have no effect yet. Pure.

They are of the newer release, and what they ask for is not built; a condition says so, instead of
silence. A line goes when its capability comes; but slurmd is never restarted by a probe, as that
would be the end of its jobs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .nodeset_types import NodeSet
from .slurm_types import SlurmConfig
from .types import SlurmCluster

Asked = Callable[[Any], bool]

_NODES = "spec.slurmNodes"


def _sssd(part: Any) -> bool:  # noqa: ANN401 - a part of a cluster, or the spec of a NodeSet
    return bool(
        part.sssd or part.sssd_conf_secret_ref_name or part.sssd_ldap_ca_config_map_ref_name
    )


CLUSTER: Mapping[str, Asked] = {
    "spec.topology.blockSize": lambda c: c.spec.topology is not None,
    "spec.slurmConfig.suspendTime": (
        lambda c: c.spec.slurm_config.suspend_time != SlurmConfig().suspend_time
    ),
    f"{_NODES}.controller.sssd": lambda c: _sssd(c.spec.slurm_nodes.controller),
    f"{_NODES}.login.sssd": lambda c: _sssd(c.spec.slurm_nodes.login),
    f"{_NODES}.login.userIsolation": (
        lambda c: bool(
            c.spec.slurm_nodes.login.user_isolation
            and c.spec.slurm_nodes.login.user_isolation.enabled
        )
    ),
    f"{_NODES}.exporter.exporter": lambda c: c.spec.slurm_nodes.exporter.exporter is not None,
    f"{_NODES}.worker.slurmd.livenessProbe": (
        lambda c: bool(
            c.spec.slurm_nodes.worker and c.spec.slurm_nodes.worker.slurmd.liveness_probe
        )
    ),
}
NODE_SET: Mapping[str, Asked] = {
    "spec.ephemeralNodes": lambda n: n.spec.ephemeral_nodes,
    "spec.docker": lambda n: bool(n.spec.docker and n.spec.docker.enabled),
    "spec.topology.fabric": (
        lambda n: n.spec.topology is not None and n.spec.topology.fabric != "root"
    ),
    "spec.sssd": lambda n: _sssd(n.spec),
    "spec.workerInitRandomDelaySeconds": lambda n: n.spec.worker_init_random_delay_seconds > 0,
    "spec.nodeConfig.autoResume": lambda n: not n.spec.node_config.auto_resume,
    "spec.slurmd.livenessProbe": lambda n: n.spec.slurmd.liveness_probe is not None,
}


def unsupported(obj: SlurmCluster | NodeSet) -> tuple[str, ...]:
    """Return the fields of an object that ask for something that is not there yet."""
    table = CLUSTER if isinstance(obj, SlurmCluster) else NODE_SET
    return tuple(field for field, asked in table.items() if asked(obj))
