"""slurmctld: what it is asked, by whom, and whether it keeps up. Pure."""

from ..grafana import Dashboard, Query, Row, Step, bars, lines, number, stacked, table
from .places import CLUSTER

_NOW = Row(
    "Now",
    (
        number(
            "Threads at work",
            "slurmctld has at most 256; then whoever asks has to wait.",
            "short",
            "max(slurm_controller_server_thread_count{$here})",
            Step(100, "orange"),
            Step(200, "red"),
        ),
        number(
            "Messages",
            "Messages that slurmctld gets in a second.",
            "reqps",
            "sum(rate(slurm_controller_rpc_calls_total{$here}[5m]))",
        ),
        number(
            "Time for a message",
            "How long slurmctld needs for a message, on average.",
            "s",
            """sum(rate(slurm_controller_rpc_duration_seconds_total{$here}[5m]))
            / sum(rate(slurm_controller_rpc_calls_total{$here}[5m]))""",
            Step(0.1, "orange"),
            Step(1, "red"),
        ),
        number(
            "To be sent",
            "Messages to nodes that slurmctld has not sent yet.",
            "short",
            "max(slurm_controller_agent_queue_size{$here})",
            Step(1000, "orange"),
        ),
        number(
            "Kept for slurmdbd",
            "Records that slurmdbd has not taken yet; they are lost when there are too many.",
            "short",
            "max(slurm_controller_dbd_agent_queue_size{$here})",
            Step(1000, "orange"),
            Step(5000, "red"),
        ),
    ),
)

_MESSAGES = Row(
    "Messages",
    (
        stacked(
            "By type",
            "The ten types of which there are most.",
            "reqps",
            Query(
                """topk(10, sum by (message_type)
                (rate(slurm_controller_rpc_calls_total{$here}[5m])))""",
                "{{message_type}}",
            ),
        ),
        lines(
            "Time for a message, by type",
            "The ten slowest types, on average.",
            "s",
            Query(
                """topk(10, sum by (message_type)
                (rate(slurm_controller_rpc_duration_seconds_total{$here}[5m]))
                / (sum by (message_type)
                (rate(slurm_controller_rpc_calls_total{$here}[5m])) > 0))""",
                "{{message_type}}",
            ),
        ),
        stacked(
            "What slurmctld spends its time on",
            "Seconds of work in a second, by type of message.",
            "short",
            Query(
                """topk(10, sum by (message_type)
                (rate(slurm_controller_rpc_duration_seconds_total{$here}[5m])))""",
                "{{message_type}}",
            ),
        ),
        stacked(
            "By user",
            "The ten users who ask most. squeue in a loop is seen here.",
            "reqps",
            Query(
                """topk(10, sum by (user)
                (rate(slurm_controller_rpc_user_calls_total{$here}[5m])))""",
                "{{user}}",
            ),
        ),
        bars(
            "Time spent on users",
            "Seconds of slurmctld's work that users cost in an hour.",
            "s",
            Query(
                """topk(10, sum by (user)
                (increase(slurm_controller_rpc_user_duration_seconds_total{$here}[1h])))""",
                "{{user}}",
            ),
        ),
        lines(
            "Threads over time",
            "slurmctld has at most 256.",
            "short",
            Query("max(slurm_controller_server_thread_count{$here})", "threads"),
        ),
    ),
)

_SCHEDULER = Row(
    "Scheduler and queues",
    (
        lines(
            "How long a cycle takes",
            "The last pass of the main scheduler and of backfill.",
            "s",
            Query("max(slurm_scheduler_main_cycle_seconds{$here})", "main"),
            Query("max(slurm_scheduler_backfill_cycle_seconds{$here})", "backfill"),
        ),
        lines(
            "Messages that wait",
            "For nodes, and for slurmdbd. A line that only rises: somebody does not answer.",
            "short",
            Query("max(slurm_controller_agent_queue_size{$here})", "for nodes"),
            Query("max(slurm_controller_dbd_agent_queue_size{$here})", "for slurmdbd"),
        ),
        lines(
            "Jobs",
            "Jobs that run and that wait, as slurmctld counts them.",
            "short",
            Query("sum(slurm_controller_jobs_running{$here})", "running"),
            Query("sum(slurm_controller_jobs_pending{$here})", "waiting"),
        ),
        table(
            "All types of messages",
            "What slurmctld got in an hour, and the seconds it spent on it.",
            "short",
            Query(
                """sum by (message_type)
                (increase(slurm_controller_rpc_calls_total{$here}[1h]))""",
                "Messages",
            ),
            Query(
                """sum by (message_type)
                (increase(slurm_controller_rpc_duration_seconds_total{$here}[1h]))""",
                "Seconds",
            ),
        ),
    ),
)

BOARD = Dashboard(
    "controller",
    "Controller",
    "slurmctld: what it is asked, by whom, whether it and its scheduler keep up.",
    CLUSTER,
    (_NOW, _MESSAGES, _SCHEDULER),
)
