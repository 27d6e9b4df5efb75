"""Fields of slurm.nebius.ai that change nothing, and why; docs/nebius.md tells the same.

A pattern stands for all fields that it fits.
"""

from fnmatch import fnmatchcase

LIMITS = "limits are those of slurmctld, slurmd and sshd: nobody works in the other containers"
ONE = "there is one pod: a second would do the same work, or write to the same place"
EARLIER = "of an exporter of earlier releases"
NO_PORT = "it listens on no port that others use"
KEEPER = "no pod writes into the root: Slurm's files are mounted there"
SSSD = "SSSD is not supported yet"
LOAD = "workers that come and go with their load are not supported yet"
NO_EFFECT = {
    "SlurmCluster spec.crVersion": "every release that is known is read alike",
    "SlurmCluster spec.sConfigController.*": KEEPER,
    "SlurmCluster spec.slurmConfig.suspendTime": LOAD,
    "SlurmCluster spec.topology.blockSize": "the network is not looked at yet",
    "SlurmCluster spec.slurmNodes.accounting.size": ONE,
    "SlurmCluster spec.slurmNodes.exporter.size": ONE,
    "SlurmCluster spec.slurmNodes.exporter.exporter.*": EARLIER,
    "SlurmCluster spec.slurmNodes.exporter.munge.*": EARLIER,
    "SlurmCluster spec.slurmNodes.exporter.volumes.*": EARLIER,
    "SlurmCluster spec.slurmNodes.exporter.exporterContainer.port": (
        "it listens on 8080 and 8081, as images of either make do"
    ),
    "SlurmCluster spec.slurmNodes.*.munge.port": NO_PORT,
    "SlurmCluster spec.slurmNodes.*.munge.securityLimitsConfig": LIMITS,
    "SlurmCluster spec.slurmNodes.accounting.slurmdbd.securityLimitsConfig": LIMITS,
    "SlurmCluster spec.slurmNodes.accounting.mariadbOperator.securityLimitsConfig": LIMITS,
    "SlurmCluster spec.slurmNodes.exporter.exporterContainer.securityLimitsConfig": LIMITS,
    "SlurmCluster spec.slurmNodes.rest.rest.securityLimitsConfig": LIMITS,
    "SlurmCluster spec.slurmNodes.*.sssd*": SSSD,
    "SlurmCluster spec.slurmNodes.login.userIsolation.*": "users are not kept apart yet",
    "SlurmCluster spec.slurmNodes.worker.slurmd.livenessProbe": (
        "a restart of slurmd's container would be the end of its jobs"
    ),
    "NodeSet spec.slurmd.livenessProbe": (
        "a restart of slurmd's container would be the end of its jobs"
    ),
    "NodeSet spec.munge.security.limitsConfig": LIMITS,
    "NodeSet spec.updateStrategy": "both ways wait for jobs here",
    "NodeSet spec.ephemeral*": LOAD,
    "NodeSet spec.initialNumberEphemeralNodes": LOAD,
    "NodeSet spec.nodeConfig.autoResume": LOAD,
    "NodeSet spec.docker.enabled": "Docker in workers is not supported yet",
    "NodeSet spec.topology.fabric": "the network is not looked at yet",
    "NodeSet spec.workerInitRandomDelaySeconds": "a delay at the start is not supported yet",
    "NodeSet spec.sssd*": SSSD,
}


def why(kind: str, path: str) -> str:
    """Say why a field has no effect; empty: it has."""
    named = f"{kind} {path}"
    return next((reason for key, reason in NO_EFFECT.items() if fnmatchcase(named, key)), "")
