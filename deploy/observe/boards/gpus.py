"""GPUs: how many are in use, by whom, and how many are lost to broken nodes. Pure."""

from ..grafana import Choice, Dashboard, Query, Row, Step, bars, lines, number, stacked, table
from .places import CLUSTER, JOINED

_NOW = Row(
    "Now",
    (
        number(
            "GPUs",
            "GPUs of all nodes, in any state.",
            "short",
            "sum(slurm_node_gpus{$here})",
        ),
        number(
            "In use",
            "GPUs that jobs have.",
            "short",
            "sum(slurm_node_gpus_allocated{$here})",
        ),
        number(
            "Share in use",
            "GPUs that jobs have over GPUs of nodes in service.",
            "percentunit",
            f"""sum(slurm_node_gpus_allocated{{$here}})
            / sum(slurm_node_gpus{{$here}}
            unless on ({JOINED}, node_name) slurm_node_info{{$here, is_unavailable="true"}})""",
        ),
        number(
            "Out of service",
            "GPUs of nodes that take no jobs and should.",
            "short",
            f"""sum(slurm_node_gpus{{$here}}
            and on ({JOINED}, node_name) slurm_node_info{{$here, is_unavailable="true"}})
            or vector(0)""",
            Step(1, "orange"),
        ),
        number(
            "GPU hours lost in a day",
            "Hours that GPUs of nodes which were down or drained could not be used.",
            "h",
            """sum(increase(slurm_node_gpu_seconds_total{$here, state_base="DOWN"}[1d])
            or increase(slurm_node_gpu_seconds_total{$here, state_base="IDLE",
            state_is_drain="true"}[1d])) / 3600 or vector(0)""",
        ),
    ),
)

_USE = Row(
    "Use",
    (
        lines(
            "There and in use",
            "GPUs that are there and that jobs have.",
            "short",
            Query("sum(slurm_node_gpus{$here})", "there"),
            Query("sum(slurm_node_gpus_allocated{$here})", "in use"),
        ),
        lines(
            "Share in use, by partition",
            "GPUs that a partition's jobs have over those of its nodes.",
            "percentunit",
            Query(
                # A partition without running jobs has no series of what they have.
                """(sum by (partition) (slurm_partition_gpus_allocated{$here,
                partition=~"$partition"})
                or 0 * sum by (partition) (slurm_partition_gpus{$here, partition=~"$partition"}))
                / (sum by (partition) (slurm_partition_gpus{$here,
                partition=~"$partition"}) > 0)""",
                "{{partition}}",
            ),
        ),
        stacked(
            "By account",
            "GPUs that the jobs of an account have.",
            "short",
            Query("sum by (account) (slurm_account_gpus_allocated{$here})", "{{account}}"),
        ),
        stacked(
            "By state of the node",
            "GPUs by what state their node is in, from the GPU seconds of the last quarter hour.",
            "short",
            Query(
                """sum by (state_base, state_is_drain)
                (rate(slurm_node_gpu_seconds_total{$here}[15m]))""",
                "{{state_base}} drain={{state_is_drain}}",
            ),
        ),
        bars(
            "GPU hours by account",
            "GPUs that an account's jobs had in a day, times the hours that they had them.",
            "h",
            Query(
                """topk(10, sum by (account)
                (increase(slurm_account_gpu_seconds_allocated_total{$here}[1d])) / 3600)""",
                "{{account}}",
            ),
        ),
        lines(
            "Free GPUs, and jobs that wait for resources",
            "Both high for long: jobs ask for what no single node has, or a limit holds them.",
            "short",
            Query(
                f"""sum(slurm_node_gpus{{$here}}
                unless on ({JOINED}, node_name) slurm_node_info{{$here, is_unavailable="true"}})
                - sum(slurm_node_gpus_allocated{{$here}})""",
                "free GPUs",
            ),
            Query(
                """sum(slurm_jobs_pending{$here, partition=~"$partition",
                reason=~"Resources|Priority"})""",
                "jobs that wait",
            ),
        ),
    ),
)

_WHERE = Row(
    "Where",
    (
        lines(
            "GPUs in use, by node",
            "Share of a node's GPUs that jobs have. Choose nodes above when there are many.",
            "percentunit",
            Query(
                """sum by (node_name) (slurm_node_gpus_allocated{$here, node_name=~"$node"})
                / sum by (node_name) (slurm_node_gpus{$here, node_name=~"$node"})""",
                "{{node_name}}",
            ),
        ),
        bars(
            "Nodes out of service, by NVLink group",
            "A group that lacks a node cannot run a job that asks for the whole group.",
            "short",
            Query(
                f"""count by (nvlink_instance_group) (slurm_node_nvlink_instance_group{{$here}}
                and on ({JOINED}, node_name) slurm_node_info{{$here, is_unavailable="true"}})""",
                "{{nvlink_instance_group}}",
            ),
        ),
        stacked(
            "GPU hours of ended jobs",
            "Hours a day that jobs which have ended had GPUs, by account. From slurmdbd.",
            "h",
            Query(
                """sum by (account) (increase(slurm_ended_jobs_gpu_seconds_allocated_total{$here,
                partition=~"$partition"}[1d])) / 3600""",
                "{{account}}",
            ),
        ),
        table(
            "Jobs with the most GPUs",
            "Running jobs. Needs series for single jobs: see --job-series.",
            "short",
            Query(
                f"""topk(50, sum by (job_id, user_name, slurm_partition, job_name)
                (slurm_job_gpus{{$here}} * on ({JOINED}, job_id)
                group_left (user_name, slurm_partition, job_name)
                max by ({JOINED}, job_id, user_name, slurm_partition, job_name)
                (slurm_job_info{{$here, job_state="RUNNING"}})))""",
                "GPUs",
            ),
        ),
    ),
)

BOARD = Dashboard(
    "gpus",
    "GPUs",
    "GPUs of a Slurm cluster: in use, by whom, idle while jobs wait, lost to broken nodes.",
    CLUSTER,
    (_NOW, _USE, _WHERE),
    (
        Choice("partition", "partition", "slurm_partition_gpus"),
        Choice("node", "node_name", "slurm_node_gpus"),
    ),
)
