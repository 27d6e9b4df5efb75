"""When somebody should look at nodes. Pure."""

from ..alerts import Alert, Group, Severity

_NODE = "{{ $labels.node_name }} of $where"
_REASON = "{{ $labels.reason }}"

GROUP = Group(
    "nodes",
    (
        Alert(
            "SlurmNodeUnavailable",
            """max by ($place, node_name, reason)
            (slurm_node_info{is_unavailable="true", state_is_not_responding!="true"}) > 0""",
            "15m",
            Severity.WARNING,
            f"Node {_NODE} is out of service",
            f"""{_NODE} takes no jobs for a quarter of an hour. Slurm's reason: {_REASON}.""",
        ),
        Alert(
            "SlurmNodeNotResponding",
            'max by ($place, node_name) (slurm_node_info{state_is_not_responding="true"}) > 0',
            "5m",
            Severity.WARNING,
            f"Node {_NODE} does not respond",
            f"""slurmctld cannot reach slurmd on {_NODE}. After SlurmdTimeout the node is down, and
            jobs on it end with NODE_FAIL.""",
        ),
        Alert(
            "SlurmManyNodesUnavailable",
            """count by ($place) (slurm_node_info{is_unavailable="true"})
            / count by ($place) (slurm_node_info) > 0.1""",
            "10m",
            Severity.CRITICAL,
            "{{ $value | humanizePercentage }} of the nodes of $where are out of service",
            """More than one node in ten takes no jobs. One cause for many nodes is likely: the
            network, a shared filesystem, a configuration, a check that finds fault with all.""",
        ),
        Alert(
            "SlurmPartitionWithoutNodes",
            """sum by ($place, partition) (slurm_partition_nodes) > 0
            unless sum by ($place, partition)
            (slurm_partition_nodes{state=~"ALLOCATED|MIXED|IDLE|DRAINING|POWERED_DOWN"}) > 0""",
            "10m",
            Severity.CRITICAL,
            "Partition {{ $labels.partition }} of $where has no node in service",
            """All {{ $value }} nodes of the partition are down or drained. What is submitted to it
            waits.""",
        ),
        Alert(
            "SlurmNodeDrainsLong",
            """max by ($place, node_name, reason)
            (slurm_node_info{state_is_drain="true", state_base=~"ALLOCATED|MIXED"}) > 0""",
            "1d",
            Severity.INFO,
            f"Node {_NODE} has been draining for a day",
            f"""{_NODE} takes no new jobs and still runs old ones. Reason: {_REASON}. Nobody ends
            those jobs; whoever drained the node waits for them.""",
        ),
        Alert(
            "SlurmNodeFailsOften",
            "sum by ($place, node_name) (increase(slurm_node_fails_total[1d])) > 3",
            "0m",
            Severity.WARNING,
            f"Node {_NODE} has failed {{{{ $value | humanize }}}} times in a day",
            """A node that comes back and fails again has a fault that its checks do not see, and
            each time jobs may be lost.""",
        ),
        Alert(
            "SlurmNodeFailedChecks",
            r"""max by ($place, node_name, reason) (slurm_node_info{state_is_drain="true",
            reason=~"\\[(node|hardware)_problem\\].*"}) > 0""",
            "10m",
            Severity.WARNING,
            f"A health check drained {_NODE}",
            f"""{_NODE} is drained: {_REASON}.""",
        ),
        Alert(
            "SlurmKillTaskFailed",
            """max by ($place, node_name)
            (slurm_node_info{state_is_drain="true", reason=~"Kill task failed.*"}) > 0""",
            "5m",
            Severity.WARNING,
            f"Processes of a job do not end on {_NODE}",
            f"""Slurm drained {_NODE} as a job's processes stayed after UnkillableStepTimeout; most
            often they wait for a filesystem or a GPU.""",
        ),
        Alert(
            "SlurmNodeStartsLong",
            """max by ($place, node_name)
            (slurm_node_info{state_is_powering_up="true", state_is_not_responding!="true"}) > 0""",
            "30m",
            Severity.WARNING,
            f"Node {_NODE} has been starting for half an hour",
            f"""Slurm asked for {_NODE} and it does not come: no room in the cloud, a pod that
            cannot be scheduled, an image that cannot be pulled.""",
        ),
        Alert(
            "SlurmGpusUnavailable",
            """sum by ($place) (slurm_node_gpus and on ($place, node_name)
            slurm_node_info{is_unavailable="true"})
            / sum by ($place) (slurm_node_gpus) > 0.1""",
            "30m",
            Severity.WARNING,
            "{{ $value | humanizePercentage }} of the GPUs of $where are out of service",
            """The nodes of more than one GPU in ten take no jobs.""",
        ),
    ),
)
