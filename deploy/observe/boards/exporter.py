"""The exporter: how fresh its numbers are and what they cost. Pure."""

from ..grafana import Dashboard, Query, Row, Step, bars, lines, number, stacked, table
from .places import CLUSTER, JOINED

_ITSELF = f"and on ({JOINED}, job, instance) slurm_exporter_metrics_exported{{$here}}"

_FRESH = Row(
    "Fresh",
    (
        number(
            "Age",
            "How long ago Slurm was last asked with success, by the collector that is most behind.",
            "s",
            "time() - min(slurm_exporter_collector_last_success_timestamp_seconds{$here})",
            Step(120, "orange"),
            Step(600, "red"),
        ),
        number(
            "Collectors that fail",
            "Collectors whose last run failed. What they found before is still served.",
            "short",
            "count(slurm_exporter_collector_up{$here} == 0) or vector(0)",
            Step(1, "red"),
        ),
        number(
            "Jobs of which little is known",
            "Jobs whose state is known and the rest not yet; falls after a start.",
            "short",
            "sum(slurm_exporter_jobs_unread{$here})",
        ),
        bars(
            "Age by collector",
            "How long ago a collector last had success.",
            "s",
            Query(
                """time() - max by (collector)
                (slurm_exporter_collector_last_success_timestamp_seconds{$here})""",
                "{{collector}}",
            ),
        ),
    ),
)

_COLLECTORS = Row(
    "Collectors",
    (
        lines(
            "How long a run takes",
            "Longer than a third of the interval, and runs are left out.",
            "s",
            Query(
                "max by (collector) (slurm_exporter_collector_duration_seconds{$here})",
                "{{collector}}",
            ),
        ),
        lines(
            "Runs that failed or were left out",
            "Runs per hour that failed, or did not begin as another was under way or took long.",
            "short",
            Query(
                """sum by (collector)
                (increase(slurm_exporter_collector_errors_total{$here}[1h]))""",
                "failed: {{collector}}",
            ),
            Query(
                """sum by (collector)
                (increase(slurm_exporter_collector_skipped_total{$here}[1h]))""",
                "left out: {{collector}}",
            ),
            Query(
                """sum by (collector)
                (increase(slurm_exporter_collector_stale_total{$here}[1h]))""",
                "dropped: {{collector}}",
            ),
        ),
        lines(
            "Runs under way",
            "One that stays under way waits for an answer of Slurm's.",
            "short",
            Query("sum by (collector) (slurm_exporter_collector_inflight{$here})", "{{collector}}"),
        ),
        table(
            "Why collectors fail",
            "Empty while all is well. The cause is where to look: token, slurmrestd, slurmctld.",
            "short",
            Query("max by (collector, cause) (slurm_exporter_collector_failing{$here})"),
        ),
        table(
            "Collectors with nothing to read",
            "What they ask for is no part of this cluster: accounting, where there is no slurmdbd.",
            "short",
            Query("max by (collector) (slurm_exporter_collector_absent{$here})"),
        ),
    ),
)

_COST = Row(
    "Cost",
    (
        stacked(
            "Requests of slurmrestd",
            "By family of calls and answer; 0 is no answer.",
            "reqps",
            Query(
                """sum by (family, code)
                (rate(slurm_exporter_slurm_requests_total{$here}[5m]))""",
                "{{family}} {{code}}",
            ),
        ),
        lines(
            "Time that slurmrestd takes",
            "Seconds for an answer, on average.",
            "s",
            Query(
                """sum by (family) (rate(slurm_exporter_slurm_request_seconds_total{$here}[5m]))
                / (sum by (family)
                (rate(slurm_exporter_slurm_requests_total{$here}[5m])) > 0)""",
                "{{family}}",
            ),
        ),
        stacked(
            "Where jobs come from",
            "The source of the job list; the exporter changes it with the number of jobs.",
            "short",
            Query("max by (source) (slurm_exporter_job_source{$here})", "{{source}}"),
        ),
        lines(
            "Series",
            "Series that a scrape gets. Too many: see --job-series.",
            "short",
            Query("sum(slurm_exporter_metrics_exported{$here})", "series"),
        ),
        lines(
            "Size of a scrape",
            "As it is, and as it goes over the wire.",
            "bytes",
            Query("sum by (encoding) (slurm_exporter_exposition_bytes{$here})", "{{encoding}}"),
        ),
        lines(
            "Scrapes and collections",
            "Both in a minute.",
            "short",
            Query("sum(rate(slurm_exporter_metrics_requests_total{$here}[5m])) * 60", "scrapes"),
            Query(
                "sum(rate(slurm_exporter_collection_attempts_total{$here}[5m])) * 60",
                "collections",
            ),
            Query(
                "sum(rate(slurm_exporter_collection_failures_total{$here}[5m])) * 60",
                "failed",
            ),
        ),
        lines(
            "CPU",
            "Cores in use.",
            "short",
            Query(f"rate(process_cpu_seconds_total{{$here}}[5m]) {_ITSELF}", "{{instance}}"),
        ),
        lines(
            "Memory",
            "Resident memory.",
            "bytes",
            Query(f"process_resident_memory_bytes{{$here}} {_ITSELF}", "{{instance}}"),
        ),
        lines(
            "Open files",
            "Files and connections; a line that only rises is a leak.",
            "short",
            Query(f"process_open_fds{{$here}} {_ITSELF}", "{{instance}}"),
        ),
    ),
)

BOARD = Dashboard(
    "exporter",
    "Exporter",
    "The exporter: how fresh its numbers are, what fails, what it costs Slurm and Prometheus.",
    CLUSTER,
    (_FRESH, _COLLECTORS, _COST),
)
