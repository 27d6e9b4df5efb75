"""Where our definitions differ from the tables of slurm.nebius.ai, and why.

A line is `<release> <path> <word>`; a path that ends in * stands for all below it.
"""

REPLICATION = "spec.slurmNodes.accounting.mariadbOperator.replication"
DEVIATIONS: dict[str, tuple[str, ...]] = {
    "both releases have a default, and the older one counts": (
        "head spec.plugStackConfig default",
        "head spec.plugStackConfig.ncclDebug default",
        "head spec.plugStackConfig.ncclDebug.outputDirectory default",
        "head spec.plugStackConfig.pyxis default",
        "head spec.plugStackConfig.pyxis.containerImageSave default",
        "head spec.sConfigController.reconfigureWaitTimeout default",
        "head spec.slurmConfig default",
        "head spec.slurmConfig.defMemPerNode default",
        "head spec.slurmConfig.minJobAge default",
        "head spec.slurmNodes.accounting.slurmConfig.jobAcctGatherType default",
    ),
    "the older release replaces a fifth of its workers at a time, and NodeSets are workers too": (
        "head spec.maxUnavailable default",
    ),
    "only the newer release has a default, and it says what an empty field meant before": (
        "seed spec.gpu.enabled default",
        "seed spec.gpu.nvidia.gdrCopyEnabled default",
        "seed spec.slurmd.port default",
        "seed status.phase default",
    ),
    "a default would switch on what the older release does not have": (
        "head spec.plugStackConfig.ncclInspectorPreConf default",
        "head spec.plugStackConfig.pyxis.importerPath default",
        "head spec.slurmNodes.controller.openMetrics default",
    ),
    "one release insists on it, and objects of the other lack it": (
        "seed spec.slurmNodes.worker required",
        "seed spec.slurmd.volumes.jailSubMounts required",
        "head spec.sConfigController.serviceAccountName required",
        "head spec.slurmd.volumes.spool required",
        "head status.replicas required",
    ),
    "the newer release takes one more word": ("seed spec.partitionConfiguration.configType enum",),
    "the newer release has a rule for fields that the older one does not have": (
        "seed spec.partitionConfiguration rules",
        "seed spec rules",
    ),
    "without `has` the rule is an error where the field is missing": (
        "head spec.partitionConfiguration rules",
    ),
    "a bound of the newer release would refuse objects of the older one": (
        "head spec.slurmNodes.exporter.podMonitorConfig.metricRelabelConfigs[].modulus minimum",
        "head spec.slurmNodes.exporter.podMonitorConfig.relabelConfig[].modulus minimum",
    ),
    "conditions are merged one by one": (
        "seed status.conditions x-kubernetes-list-type",
        "seed status.conditions x-kubernetes-list-map-keys",
        "head status.conditions x-kubernetes-list-type",
        "head status.conditions x-kubernetes-list-map-keys",
    ),
    "it is mariadb-operator's, changes with its releases, and is kept whatever it says": (
        f"seed {REPLICATION} type",
        f"seed {REPLICATION}.primary type",
        f"seed {REPLICATION}.replica type",
        f"head {REPLICATION} type",
        f"head {REPLICATION}.primary type",
        f"head {REPLICATION}.replica type",
        # A boolean in the older release, a number in the newer.
        f"seed {REPLICATION}.syncBinlog missing",
        f"head {REPLICATION}.syncBinlog missing",
        f"head {REPLICATION}.agent* missing",
        f"head {REPLICATION}.initContainer* missing",
        f"head {REPLICATION}.replica.bootstrapFrom* missing",
        f"head {REPLICATION}.replica.recovery* missing",
    ),
}
