"""A cluster at a glance: what is there, what is in use, what waits. Pure."""

from dataclasses import replace

from ..grafana import Dashboard, Query, Row, Step, lines, number, stacked, table
from .places import CLUSTER

_NOW = Row(
    "Now",
    (
        number(
            "Nodes",
            "Nodes that Slurm knows, in any state.",
            "short",
            "count(slurm_node_info{$here})",
        ),
        number(
            "Out of service",
            "Nodes that take no jobs and should: down, drained, not responding.",
            "short",
            'count(slurm_node_info{$here, is_unavailable="true"}) or vector(0)',
            Step(1, "orange"),
        ),
        number(
            "CPUs in use",
            "Share of all CPUs that jobs have.",
            "percentunit",
            "sum(slurm_node_cpus_allocated{$here}) / sum(slurm_node_cpus_total{$here})",
        ),
        number(
            "GPUs in use",
            "Share of all GPUs that jobs have.",
            "percentunit",
            "sum(slurm_node_gpus_allocated{$here}) / sum(slurm_node_gpus{$here})",
        ),
        number(
            "Jobs that run",
            "As slurmctld counts them.",
            "short",
            "sum(slurm_controller_jobs_running{$here})",
        ),
        number(
            "Jobs that wait",
            "As slurmctld counts them.",
            "short",
            "sum(slurm_controller_jobs_pending{$here})",
        ),
        number(
            "Age of these numbers",
            "How long ago slurmctld was last asked with success.",
            "s",
            """time() - min(slurm_exporter_collector_last_success_timestamp_seconds{$here,
            collector=~"nodes|jobs|diag"})""",
            Step(120, "orange"),
            Step(600, "red"),
        ),
    ),
)

_CAPACITY = Row(
    "Capacity",
    (
        stacked(
            "Nodes by state",
            "The state of each node, without flags such as draining.",
            "short",
            Query("count by (state_base) (slurm_node_info{$here})", "{{state_base}}"),
        ),
        lines(
            "CPUs",
            "CPUs that are there, that jobs may have, and that jobs have.",
            "short",
            Query("sum(slurm_node_cpus_total{$here})", "there"),
            Query("sum(slurm_node_cpus_effective{$here})", "for jobs"),
            Query("sum(slurm_node_cpus_allocated{$here})", "in use"),
        ),
        lines(
            "Memory",
            "Memory that is there, that jobs may have, and that jobs have.",
            "bytes",
            Query("sum(slurm_node_memory_total_bytes{$here})", "there"),
            Query("sum(slurm_node_memory_effective_bytes{$here})", "for jobs"),
            Query("sum(slurm_node_memory_allocated_bytes{$here})", "in use"),
        ),
    ),
)

_WORK = Row(
    "Work",
    (
        stacked(
            "Jobs that wait, by reason",
            "Priority and Resources are the queue at work; other reasons may need somebody.",
            "short",
            Query("sum by (reason) (slurm_jobs_pending{$here})", "{{reason}}"),
        ),
        stacked(
            "Jobs that ended, by how",
            "Jobs per hour. NODE_FAIL is a job lost with its node.",
            "short",
            Query("sum by (state) (increase(slurm_job_outcomes_total{$here}[1h]))", "{{state}}"),
        ),
        lines(
            "How long jobs wait",
            "Of the jobs that started in the last hour: half, and nine in ten, waited less.",
            "s",
            Query(
                """histogram_quantile(0.5, sum by (le)
                (rate(slurm_job_queue_wait_seconds_bucket{$here}[1h])))""",
                "half",
            ),
            Query(
                """histogram_quantile(0.9, sum by (le)
                (rate(slurm_job_queue_wait_seconds_bucket{$here}[1h])))""",
                "nine in ten",
            ),
        ),
        stacked(
            "CPUs by account",
            "CPUs that the jobs of an account have.",
            "short",
            Query("sum by (account) (slurm_account_cpus_allocated{$here})", "{{account}}"),
        ),
        stacked(
            "GPUs by account",
            "GPUs that the jobs of an account have.",
            "short",
            Query("sum by (account) (slurm_account_gpus_allocated{$here})", "{{account}}"),
        ),
        stacked(
            "Memory by account",
            "Memory that the jobs of an account have.",
            "bytes",
            Query("sum by (account) (slurm_account_memory_allocated_bytes{$here})", "{{account}}"),
        ),
    ),
)

_PARTITIONS = Row(
    "Partitions",
    (
        replace(
            table(
                "Partitions",
                "What each partition has and does. Nodes and waiting jobs may be in several.",
                "short",
                Query("sum by (partition) (slurm_partition_nodes{$here})", "Nodes"),
                Query(
                    """sum by (partition)
                    (slurm_partition_nodes{$here, state=~"DOWN|DRAINED|UNKNOWN"})""",
                    "Out of service",
                ),
                Query("sum by (partition) (slurm_partition_cpus{$here})", "CPUs"),
                Query("sum by (partition) (slurm_partition_cpus_allocated{$here})", "CPUs in use"),
                Query("sum by (partition) (slurm_partition_gpus{$here})", "GPUs"),
                Query("sum by (partition) (slurm_partition_gpus_allocated{$here})", "GPUs in use"),
                Query(
                    'sum by (partition) (slurm_partition_jobs{$here, state="RUNNING"})', "Running"
                ),
                Query("sum by (partition) (slurm_jobs_pending{$here})", "Waiting"),
            ),
            height=8,
        ),
    ),
)

BOARD = Dashboard(
    "cluster",
    "Cluster",
    "A Slurm cluster at a glance: what is there, what is in use, what waits and why.",
    CLUSTER,
    (_NOW, _CAPACITY, _WORK, _PARTITIONS),
)
