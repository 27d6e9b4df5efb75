"""Nodes: which are out of service and why, how full they are, how often they fail. Pure."""

from ..grafana import Choice, Dashboard, Query, Row, Step, bars, heat, lines, number, stacked, table
from .places import CLUSTER

_COLUMNS = "node_name, state_base, reason, comment, reservation_name, instance_id, address"

_NOW = Row(
    "Now",
    (
        number(
            "Out of service",
            "Nodes that take no jobs and should: down, drained, not responding.",
            "short",
            'count(slurm_node_info{$here, is_unavailable="true"}) or vector(0)',
            Step(1, "orange"),
        ),
        number(
            "Not responding",
            "Nodes whose slurmd slurmctld cannot reach.",
            "short",
            'count(slurm_node_info{$here, state_is_not_responding="true"}) or vector(0)',
            Step(1, "red"),
        ),
        number(
            "Draining",
            "Nodes that take no new jobs and still run some.",
            "short",
            """count(slurm_node_info{$here, state_is_drain="true", state_base=~"ALLOCATED|MIXED"})
            or vector(0)""",
            Step(1, "orange"),
        ),
        number(
            "In maintenance",
            "Nodes in a reservation for maintenance.",
            "short",
            'count(slurm_node_info{$here, state_is_maintenance="true"}) or vector(0)',
        ),
        number(
            "Reserved",
            "Nodes in a reservation.",
            "short",
            'count(slurm_node_info{$here, state_is_reserved="true"}) or vector(0)',
        ),
        number(
            "Powered down or on the way",
            "Nodes that Slurm has switched off, or switches on or off now.",
            "short",
            """count(slurm_node_info{$here, state_is_powered_down="true"}
            or slurm_node_info{$here, state_is_powering_up="true"}
            or slurm_node_info{$here, state_is_powering_down="true"}) or vector(0)""",
        ),
    ),
)

_STATES = Row(
    "States",
    (
        stacked(
            "Nodes by state",
            "The state of each node, without flags.",
            "short",
            Query("count by (state_base) (slurm_node_info{$here})", "{{state_base}}"),
        ),
        stacked(
            "Nodes by partition and state",
            "What the nodes of a partition are up to; a node may be in several partitions.",
            "short",
            Query(
                """sum by (partition, state)
                (slurm_partition_nodes{$here, partition=~"$partition"})""",
                "{{partition}} {{state}}",
            ),
        ),
        stacked(
            "Nodes that failed",
            "Times in an hour that nodes went down or were drained, by the state they went to.",
            "short",
            Query(
                "sum by (state_base) (increase(slurm_node_fails_total{$here}[1h]))",
                "{{state_base}}",
            ),
        ),
        table(
            "Out of service, and why",
            "Nodes that take no jobs and should. The reason is what whoever drained them wrote.",
            "short",
            Query(
                f"""max by ({_COLUMNS})
                (slurm_node_info{{$here, is_unavailable="true", node_name=~"$node"}})"""
            ),
        ),
        table(
            "Draining, and why",
            "Nodes that take no new jobs and still run some.",
            "short",
            Query(
                f"""max by ({_COLUMNS}) (slurm_node_info{{$here, node_name=~"$node",
                state_is_drain="true", state_base=~"ALLOCATED|MIXED"}})"""
            ),
        ),
    ),
)

_USE = Row(
    "Use",
    (
        lines(
            "CPUs in use by node",
            "Share of a node's CPUs that jobs have. Choose nodes above when there are many.",
            "percentunit",
            Query(
                """sum by (node_name) (slurm_node_cpus_allocated{$here, node_name=~"$node"})
                / sum by (node_name) (slurm_node_cpus_effective{$here, node_name=~"$node"})""",
                "{{node_name}}",
            ),
        ),
        lines(
            "Memory in use by node",
            "Share of a node's memory that jobs have.",
            "percentunit",
            Query(
                """sum by (node_name) (slurm_node_memory_allocated_bytes{$here, node_name=~"$node"})
                / sum by (node_name)
                (slurm_node_memory_effective_bytes{$here, node_name=~"$node"})""",
                "{{node_name}}",
            ),
        ),
        lines(
            "Free memory by node",
            "What the node itself says is free; little of it with few jobs is a leak.",
            "bytes",
            Query(
                'sum by (node_name) (slurm_node_memory_free_bytes{$here, node_name=~"$node"})',
                "{{node_name}}",
            ),
        ),
    ),
)

_OUTAGES = Row(
    "Outages",
    (
        bars(
            "Nodes that fail most",
            "Times in a week that a node went down or was drained.",
            "short",
            Query(
                """topk(10, sum by (node_name)
                (increase(slurm_node_fails_total{$here, node_name=~"$node"}[7d])))""",
                "{{node_name}}",
            ),
        ),
        heat(
            "How long nodes are out of service",
            "Outages that ended, by how long they were.",
            "s",
            Query(
                """sum by (le)
                (increase(slurm_node_unavailability_duration_seconds_bucket{$here}[1h]))""",
                "{{le}}",
            ),
        ),
        lines(
            "How long nodes drain",
            "Of the nodes that were drained in a day: half, and nine in ten, took less.",
            "s",
            Query(
                """histogram_quantile(0.5, sum by (le)
                (rate(slurm_node_draining_duration_seconds_bucket{$here}[1d])))""",
                "half",
            ),
            Query(
                """histogram_quantile(0.9, sum by (le)
                (rate(slurm_node_draining_duration_seconds_bucket{$here}[1d])))""",
                "nine in ten",
            ),
        ),
    ),
)

BOARD = Dashboard(
    "nodes",
    "Nodes",
    "Nodes of a Slurm cluster: which are out of service and why, how full they are, which fail.",
    CLUSTER,
    (_NOW, _STATES, _USE, _OUTAGES),
    (
        Choice("partition", "partition", "slurm_partition_nodes"),
        Choice("node", "node_name", "slurm_node_info"),
    ),
)
