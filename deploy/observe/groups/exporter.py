"""When somebody should look at the exporter: whether the other alerts can be believed. Pure."""

from ..alerts import Alert, Group, Severity

GROUP = Group(
    "exporter",
    (
        Alert(
            "SlurmExporterMissing",
            "absent(slurm_exporter_collection_attempts_total)",
            "5m",
            Severity.WARNING,
            "No exporter is seen",
            """Prometheus gets no numbers of an exporter, so no alert about a Slurm cluster can
            fire.""",
        ),
        Alert(
            "SlurmExporterStale",
            """time() - max by ($place, collector)
            (slurm_exporter_collector_last_success_timestamp_seconds) > 600""",
            "5m",
            Severity.WARNING,
            "Numbers of collector {{ $labels.collector }} of $where are old",
            """What is shown was true {{ $value | humanizeDuration }} ago. Alerts about it may be
            late, or not fire at all.""",
        ),
        Alert(
            "SlurmExporterTokenRefused",
            'max by ($place) (slurm_exporter_collector_failing{cause="token"}) > 0',
            "5m",
            Severity.WARNING,
            "Slurm of $where refuses the exporter's token",
            """The token has expired, or the key that signs it is another one than slurmctld's.""",
        ),
        Alert(
            "SlurmExporterLeavesRunsOut",
            """sum by ($place, collector)
            (increase(slurm_exporter_collector_skipped_total[30m])) > 10""",
            "15m",
            Severity.INFO,
            "Collector {{ $labels.collector }} of $where is too slow for its interval",
            """{{ $value | humanize }} runs in half an hour did not begin as the one before was
            still under way, or had taken long.""",
        ),
        Alert(
            "SlurmExporterManySeries",
            "sum by ($place) (slurm_exporter_metrics_exported) > 500000",
            "30m",
            Severity.INFO,
            "The exporter of $where has {{ $value | humanize }} series",
            """Most of them are of single jobs, and Prometheus pays for each.""",
        ),
    ),
)
