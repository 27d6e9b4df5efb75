"""When somebody should look at slurmctld and slurmdbd. Pure."""

from ..alerts import Alert, Group, Severity

GROUP = Group(
    "controller",
    (
        Alert(
            "SlurmctldUnreachable",
            """max by ($place, cause)
            (slurm_exporter_collector_failing{cause=~"slurmctld|slurmrestd|timeout"}) > 0""",
            "5m",
            Severity.CRITICAL,
            "Slurm of $where does not answer",
            """The exporter gets no answer; cause: {{ $labels.cause }}. Jobs that run go on, none is
            started, and the other alerts show the last state that was seen.""",
        ),
        Alert(
            "SlurmdbdUnreachable",
            'max by ($place) (slurm_exporter_collector_failing{cause="slurmdbd"}) > 0',
            "10m",
            Severity.WARNING,
            "slurmdbd of $where does not answer",
            """slurmctld keeps records for it until it is back, but not without end.""",
        ),
        Alert(
            "SlurmdbdFallsBehind",
            "max by ($place) (slurm_controller_dbd_agent_queue_size) > 5000",
            "10m",
            Severity.CRITICAL,
            "{{ $value }} records wait for slurmdbd of $where",
            """When there are more than MaxDBDMsgs, by default at least 10000, slurmctld throws
            records away, or stops: accounting is lost.""",
        ),
        Alert(
            "SlurmctldBusy",
            "max by ($place) (slurm_controller_server_thread_count) > 200",
            "5m",
            Severity.WARNING,
            "slurmctld of $where has {{ $value }} threads at work",
            """At 256 whoever asks has to wait: commands time out, nodes may seem not to
            respond.""",
        ),
        Alert(
            "SlurmctldSlow",
            """sum by ($place) (rate(slurm_controller_rpc_duration_seconds_total[10m]))
            / sum by ($place) (rate(slurm_controller_rpc_calls_total[10m])) > 1""",
            "10m",
            Severity.WARNING,
            "slurmctld of $where needs {{ $value | humanizeDuration }} for a message",
            """On average, over all types of messages. Users see sinfo and squeue hang.""",
        ),
        Alert(
            "SlurmUserFloodsController",
            "sum by ($place, user) (rate(slurm_controller_rpc_user_calls_total[10m])) > 50",
            "15m",
            Severity.INFO,
            "{{ $labels.user }} sends {{ $value | humanize }} messages a second to slurmctld",
            """Most often squeue or sacct in a loop, or thousands of srun in one job.""",
        ),
        Alert(
            "SlurmctldMessagesWait",
            "max by ($place) (slurm_controller_agent_queue_size) > 1000",
            "15m",
            Severity.WARNING,
            "{{ $value }} messages of slurmctld of $where wait to be sent",
            """Nodes do not take them: they are gone, or the network between is.""",
        ),
        Alert(
            "SlurmSchedulerSlow",
            """max by ($place) (slurm_scheduler_main_cycle_seconds) > 10
            or max by ($place) (slurm_scheduler_backfill_cycle_seconds) > 300""",
            "15m",
            Severity.WARNING,
            "A cycle of the scheduler of $where takes {{ $value | humanizeDuration }}",
            """Jobs start late even where there is room, and slurmctld answers late meanwhile.""",
        ),
    ),
)
