"""Every metric of the exporter: name, type, words, labels, which collector fills it. Pure.

The first part are the names that dashboards and alerts of the upstream exporter use: neither name,
type nor label of these is ours to change, a gauge called `_total` included. The rest is ours.

A label with an empty value is left out of a series, which to Prometheus is the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Prometheus' types."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class Collector(Enum):
    """Who fills a metric. All but the exporter itself are asked for by the flag --collectors."""

    NODES = "nodes"
    JOBS = "jobs"
    DIAG = "diag"
    TOPOLOGY = "topology"
    ACCOUNTING = "accounting"
    ITSELF = "exporter"


COLLECTORS = tuple(one for one in Collector if one is not Collector.ITSELF)
ALWAYS = "always"


@dataclass(frozen=True)
class Metric:
    """One metric. `since` is the Slurm release from which on it has values, or ALWAYS."""

    name: str
    kind: Kind
    collector: Collector
    words: str
    labels: tuple[str, ...] = ()
    since: str = ALWAYS
    per_job: bool = False  # has series for single jobs, which --job-series thins out
    buckets: tuple[float, ...] = ()  # upper bounds of a histogram, without +Inf

    @property
    def port(self) -> int:
        """Return where it is served by default."""
        return 8081 if self.collector is Collector.ITSELF else 8080


MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86400.0
# How long nodes drain or are out of service: 30 s to 30 days.
OUTAGE_S = (
    30.0, MINUTE_S, 5 * MINUTE_S, 10 * MINUTE_S, 30 * MINUTE_S, HOUR_S, 2 * HOUR_S, 4 * HOUR_S,
    8 * HOUR_S, 12 * HOUR_S, DAY_S, 2 * DAY_S, 3 * DAY_S, 7 * DAY_S, 14 * DAY_S, 30 * DAY_S,
)  # fmt: skip
# How long jobs wait for their start.
WAIT_S = (
    1.0, 5.0, 15.0, 30.0, MINUTE_S, 5 * MINUTE_S, 15 * MINUTE_S, 30 * MINUTE_S, HOUR_S, 4 * HOUR_S,
    12 * HOUR_S, DAY_S, 3 * DAY_S, 7 * DAY_S,
)  # fmt: skip

NODE = ("node_name",)
STANDING = ("state_base", "state_is_drain", "state_is_maintenance", "state_is_reserved")
# "true" or empty, unlike those of STANDING, which are "true" or "false".
FLAGS = (
    "state_is_completing", "state_is_fail", "state_is_planned", "state_is_not_responding",
    "state_is_invalid", "state_is_cloud", "state_is_power_down", "state_is_power_drain",
    "state_is_powered_down", "state_is_powering_down", "state_is_powering_up", "state_is_power_up",
)  # fmt: skip
NODE_INFO = (
    "node_name", "instance_id", *STANDING, *FLAGS,
    "is_unavailable", "reservation_name", "address", "reason", "comment",
)  # fmt: skip
# Times are seconds since 1970, empty where there is none.
JOB_INFO = (
    "job_id", "job_state", "job_state_reason", "slurm_partition", "job_name", "user_name",
    "user_mail", "user_id", "standard_error", "standard_output", "array_job_id", "array_task_id",
    "submit_time", "start_time", "end_time", "finished_time",
)  # fmt: skip
PLACE = ("nvlink_instance_group", "nodeset_name")
JOB = ("job_id",)
PARTITION, ACCOUNT = ("partition",), ("account",)
COLLECTOR = ("collector",)


def _of(collector: Collector, *rows: tuple[str, Kind, tuple[str, ...], str]) -> tuple[Metric, ...]:
    return tuple(Metric(name, kind, collector, words, labels) for name, kind, labels, words in rows)


def _per_job(*rows: tuple[str, tuple[str, ...], str]) -> tuple[Metric, ...]:
    return tuple(
        Metric(name, Kind.GAUGE, Collector.JOBS, words, labels, per_job=True)
        for name, labels, words in rows
    )


def _histogram(
    name: str, collector: Collector, labels: tuple[str, ...], buckets: tuple[float, ...], words: str
) -> Metric:
    return Metric(name, Kind.HISTOGRAM, collector, words, labels, buckets=buckets)


UPSTREAM = (
    *_of(
        Collector.NODES,
        ("slurm_node_info", Kind.GAUGE, NODE_INFO, "A node and its state, always 1."),
        ("slurm_node_cpus_total", Kind.GAUGE, NODE, "CPUs of a node."),
        ("slurm_node_cpus_allocated", Kind.GAUGE, NODE, "CPUs of a node that jobs have."),
        ("slurm_node_cpus_idle", Kind.GAUGE, NODE, "CPUs of a node that no job has."),
        ("slurm_node_cpus_effective", Kind.GAUGE, NODE, "CPUs of a node that jobs may have."),
        ("slurm_node_memory_total_bytes", Kind.GAUGE, NODE, "Memory of a node."),
        ("slurm_node_memory_allocated_bytes", Kind.GAUGE, NODE, "Memory that jobs have."),
        ("slurm_node_memory_free_bytes", Kind.GAUGE, NODE, "Memory that the node says is free."),
        ("slurm_node_memory_effective_bytes", Kind.GAUGE, NODE, "Memory that jobs may have."),
        (
            "slurm_node_partition",
            Kind.GAUGE,
            (*NODE, *PARTITION),
            "A partition that a node is in, always 1.",
        ),
        (
            "slurm_node_gpu_seconds_total",
            Kind.COUNTER,
            (*NODE, *STANDING),
            "GPUs of a node times the seconds that it was in a state.",
        ),
        (
            "slurm_node_fails_total",
            Kind.COUNTER,
            (*NODE, *STANDING, "reason"),
            "How often a node went down or was drained.",
        ),
    ),
    _histogram(
        "slurm_node_unavailability_duration_seconds",
        Collector.NODES,
        NODE,
        OUTAGE_S,
        "How long a node was out of service, counted when it is back.",
    ),
    _histogram(
        "slurm_node_draining_duration_seconds",
        Collector.NODES,
        NODE,
        OUTAGE_S,
        "How long a node drained with jobs on it, counted when that ended.",
    ),
    *_of(
        Collector.TOPOLOGY,
        (
            "slurm_node_nvlink_instance_group",
            Kind.GAUGE,
            (*NODE, "instance_id", *PLACE),
            "The NVLink group that a node is in, always 1.",
        ),
    ),
    *_per_job(
        ("slurm_job_info", JOB_INFO, "A job and its state, always 1."),
        ("slurm_node_job", (*JOB, *NODE, *PLACE), "A job that has a node, always 1."),
        ("slurm_job_duration_seconds", JOB, "How long a job has run, or ran."),
        ("slurm_job_cpus", JOB, "CPUs that a job has, or asks for while it has none."),
        ("slurm_job_memory_bytes", JOB, "Memory that a job has, or asks for while it has none."),
    ),
    *_of(
        Collector.DIAG,
        (
            "slurm_controller_rpc_calls_total",
            Kind.COUNTER,
            ("message_type",),
            "Messages that slurmctld got, by type.",
        ),
        (
            "slurm_controller_rpc_duration_seconds_total",
            Kind.COUNTER,
            ("message_type",),
            "Time that slurmctld spent on messages, by type.",
        ),
        (
            "slurm_controller_rpc_user_calls_total",
            Kind.COUNTER,
            ("user", "user_id"),
            "Messages that slurmctld got, by user.",
        ),
        (
            "slurm_controller_rpc_user_duration_seconds_total",
            Kind.COUNTER,
            ("user", "user_id"),
            "Time that slurmctld spent on messages, by user.",
        ),
        ("slurm_controller_server_thread_count", Kind.GAUGE, (), "Threads of slurmctld at work."),
    ),
    *_of(
        Collector.ITSELF,
        (
            "slurm_exporter_collection_duration_seconds",
            Kind.GAUGE,
            (),
            "How long the last collection of any kind took.",
        ),
        ("slurm_exporter_collection_attempts_total", Kind.COUNTER, (), "Collections begun."),
        ("slurm_exporter_collection_failures_total", Kind.COUNTER, (), "Collections that failed."),
        ("slurm_exporter_metrics_requests_total", Kind.COUNTER, (), "Scrapes of Slurm's metrics."),
        ("slurm_exporter_metrics_exported", Kind.GAUGE, (), "Series that a scrape gets."),
        (
            "slurm_exporter_collector_duration_seconds",
            Kind.GAUGE,
            COLLECTOR,
            "How long a collector's last run took.",
        ),
        (
            "slurm_exporter_collector_errors_total",
            Kind.COUNTER,
            COLLECTOR,
            "Runs of a collector that failed.",
        ),
        (
            "slurm_exporter_collector_inflight",
            Kind.GAUGE,
            COLLECTOR,
            "Runs of a collector under way.",
        ),
        (
            "slurm_exporter_collector_skipped_total",
            Kind.COUNTER,
            COLLECTOR,
            "Runs of a collector left out as another was under way or had taken long.",
        ),
    ),
)

OURS = (
    *_of(
        Collector.NODES,
        ("slurm_node_gpus", Kind.GAUGE, NODE, "GPUs of a node, if it has any."),
        ("slurm_node_gpus_allocated", Kind.GAUGE, NODE, "GPUs of a node that jobs have."),
        # One word a node: DOWN, DRAINED, DRAINING, POWERED_DOWN, ALLOCATED, MIXED, IDLE, UNKNOWN.
        (
            "slurm_partition_nodes",
            Kind.GAUGE,
            (*PARTITION, "state"),
            "Nodes of a partition, by what they are up to.",
        ),
        ("slurm_partition_cpus", Kind.GAUGE, PARTITION, "CPUs of a partition's nodes."),
        ("slurm_partition_gpus", Kind.GAUGE, PARTITION, "GPUs of a partition's nodes."),
        ("slurm_partition_memory_bytes", Kind.GAUGE, PARTITION, "Memory of a partition's nodes."),
    ),
    *_of(
        Collector.JOBS,
        # A job that waits in several partitions counts in each of them.
        (
            "slurm_partition_jobs",
            Kind.GAUGE,
            (*PARTITION, "state"),
            "Jobs that slurmctld knows, by partition and state.",
        ),
        (
            "slurm_partition_cpus_allocated",
            Kind.GAUGE,
            PARTITION,
            "CPUs that a partition's jobs have.",
        ),
        (
            "slurm_partition_gpus_allocated",
            Kind.GAUGE,
            PARTITION,
            "GPUs that a partition's jobs have.",
        ),
        (
            "slurm_partition_memory_allocated_bytes",
            Kind.GAUGE,
            PARTITION,
            "Memory that a partition's jobs have.",
        ),
        (
            "slurm_account_jobs",
            Kind.GAUGE,
            (*ACCOUNT, "state"),
            "Jobs that slurmctld knows, by account and state.",
        ),
        ("slurm_account_cpus_allocated", Kind.GAUGE, ACCOUNT, "CPUs that an account's jobs have."),
        ("slurm_account_gpus_allocated", Kind.GAUGE, ACCOUNT, "GPUs that an account's jobs have."),
        (
            "slurm_account_memory_allocated_bytes",
            Kind.GAUGE,
            ACCOUNT,
            "Memory that an account's jobs have.",
        ),
        (
            "slurm_account_cpu_seconds_allocated_total",
            Kind.COUNTER,
            ACCOUNT,
            "CPUs that an account's jobs had, times the seconds that they had them.",
        ),
        (
            "slurm_account_gpu_seconds_allocated_total",
            Kind.COUNTER,
            ACCOUNT,
            "GPUs that an account's jobs had, times the seconds that they had them.",
        ),
        # Reasons without their details: ReqNodeNotAvail, not the nodes behind it.
        (
            "slurm_jobs_pending",
            Kind.GAUGE,
            (*PARTITION, "reason"),
            "Jobs that wait, by partition and reason.",
        ),
        (
            "slurm_job_outcomes_total",
            Kind.COUNTER,
            (*PARTITION, *ACCOUNT, "state"),
            "Jobs that ended while the exporter looked, by how they ended.",
        ),
        (
            "slurm_job_series_ratio",
            Kind.GAUGE,
            (),
            "Share of the jobs that have series of their own: 1 all, 0 none.",
        ),
    ),
    _histogram(
        "slurm_job_queue_wait_seconds",
        Collector.JOBS,
        PARTITION,
        WAIT_S,
        "From submission to start, of jobs that started while the exporter looked.",
    ),
    *_per_job(("slurm_job_gpus", JOB, "GPUs that a job has, or asks for while it has none.")),
    *_of(
        Collector.DIAG,
        (
            "slurm_controller_agent_queue_size",
            Kind.GAUGE,
            (),
            "Messages that slurmctld has to send.",
        ),
        (
            "slurm_controller_dbd_agent_queue_size",
            Kind.GAUGE,
            (),
            "Messages that slurmctld keeps for slurmdbd.",
        ),
        ("slurm_controller_jobs_pending", Kind.GAUGE, (), "Jobs that wait, as slurmctld counts."),
        ("slurm_controller_jobs_running", Kind.GAUGE, (), "Jobs that run, as slurmctld counts."),
        # These four start anew at midnight, by slurmctld's clock.
        ("slurm_controller_jobs_submitted_total", Kind.COUNTER, (), "Jobs submitted."),
        ("slurm_controller_jobs_completed_total", Kind.COUNTER, (), "Jobs completed."),
        ("slurm_controller_jobs_canceled_total", Kind.COUNTER, (), "Jobs cancelled."),
        ("slurm_controller_jobs_failed_total", Kind.COUNTER, (), "Jobs failed."),
        (
            "slurm_scheduler_main_cycle_seconds",
            Kind.GAUGE,
            (),
            "How long the last pass of the main scheduler took.",
        ),
        (
            "slurm_scheduler_backfill_cycle_seconds",
            Kind.GAUGE,
            (),
            "How long the last pass of the backfill scheduler took.",
        ),
    ),
    *_of(
        Collector.ACCOUNTING,
        (
            "slurm_ended_jobs_cpu_seconds_allocated_total",
            Kind.COUNTER,
            (*PARTITION, *ACCOUNT),
            "CPUs of ended jobs times the seconds that they had them.",
        ),
        (
            "slurm_ended_jobs_cpu_seconds_used_total",
            Kind.COUNTER,
            (*PARTITION, *ACCOUNT),
            "CPU time that ended jobs used; over the allocated, their efficiency.",
        ),
        (
            "slurm_ended_jobs_gpu_seconds_allocated_total",
            Kind.COUNTER,
            (*PARTITION, *ACCOUNT),
            "GPUs of ended jobs times the seconds that they had them.",
        ),
        (
            "slurm_ended_jobs_total",
            Kind.COUNTER,
            (*PARTITION, *ACCOUNT, "state"),
            "Jobs that slurmdbd recorded as ended, by how they ended.",
        ),
    ),
    *_of(
        Collector.ITSELF,
        (
            "slurm_exporter_collector_last_success_timestamp_seconds",
            Kind.GAUGE,
            COLLECTOR,
            "When what is served of a collector was asked for; 0: never.",
        ),
        (
            "slurm_exporter_collector_up",
            Kind.GAUGE,
            COLLECTOR,
            "Whether a collector's last run succeeded.",
        ),
        # Causes: token, slurmrestd, slurmctld, slurmdbd, timeout, answer, kubernetes, program.
        (
            "slurm_exporter_collector_failing",
            Kind.GAUGE,
            (*COLLECTOR, "cause"),
            "Why a collector's last run failed, always 1; no series while it succeeds.",
        ),
        # Without accounting, for one: neither up nor failing, and no age that could be too high.
        (
            "slurm_exporter_collector_absent",
            Kind.GAUGE,
            COLLECTOR,
            "A collector that has nothing to read in this cluster, always 1.",
        ),
        (
            "slurm_exporter_collector_stale_total",
            Kind.COUNTER,
            COLLECTOR,
            "Results of a collector dropped as a newer one was there.",
        ),
        # Sources: list, changes, squeue, slurmdbd.
        (
            "slurm_exporter_job_source",
            Kind.GAUGE,
            ("source",),
            "Where jobs came from last, always 1.",
        ),
        (
            "slurm_exporter_jobs_unread",
            Kind.GAUGE,
            (),
            "Jobs of which only the state is known yet.",
        ),
        (
            "slurm_exporter_slurm_requests_total",
            Kind.COUNTER,
            ("family", "code"),
            "Requests of slurmrestd; code 0 is no answer.",
        ),
        (
            "slurm_exporter_slurm_request_seconds_total",
            Kind.COUNTER,
            ("family",),
            "Time spent waiting for slurmrestd.",
        ),
        (
            "slurm_exporter_exposition_bytes",
            Kind.GAUGE,
            ("encoding",),
            "Size of what a scrape gets: identity or gzip.",
        ),
        ("process_cpu_seconds_total", Kind.COUNTER, (), "CPU time that the exporter used."),
        ("process_resident_memory_bytes", Kind.GAUGE, (), "Memory that the exporter has."),
        ("process_start_time_seconds", Kind.GAUGE, (), "When the exporter started."),
        ("process_open_fds", Kind.GAUGE, (), "Files and connections that the exporter has open."),
    ),
)

METRICS = UPSTREAM + OURS
NAMED: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
