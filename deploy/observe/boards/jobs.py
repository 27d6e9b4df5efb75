"""Jobs: what waits and why, how jobs end, who has what. Pure."""

from ..grafana import Choice, Dashboard, Query, Row, Step, bars, heat, lines, number, stacked, table
from .places import CLUSTER, JOINED

_BAD_ENDS = "FAILED|NODE_FAIL|BOOT_FAIL|OUT_OF_MEMORY|TIMEOUT|DEADLINE"
_JOB = "job_id, user_name, slurm_partition, job_name, job_state, job_state_reason"

_NOW = Row(
    "Now",
    (
        number(
            "Running",
            "Jobs that run, as slurmctld counts them.",
            "short",
            "sum(slurm_controller_jobs_running{$here})",
        ),
        number(
            "Waiting",
            "Jobs that wait, as slurmctld counts them.",
            "short",
            "sum(slurm_controller_jobs_pending{$here})",
        ),
        number(
            "Lost with their nodes",
            "Jobs in a day that ended as their node failed.",
            "short",
            """sum(increase(slurm_job_outcomes_total{$here, state="NODE_FAIL"}[1d]))
            or vector(0)""",
            Step(1, "red"),
        ),
        number(
            "Ended badly",
            "Share of the jobs that ended in a day which failed or ran out of time or memory.",
            "percentunit",
            f"""sum(increase(slurm_job_outcomes_total{{$here, state=~"{_BAD_ENDS}"}}[1d]))
            / sum(increase(slurm_job_outcomes_total{{$here}}[1d]))""",
            Step(0.25, "orange"),
        ),
        number(
            "Jobs with series of their own",
            "Below 100 % the tables of single jobs below are a sample: see --job-series.",
            "percentunit",
            "min(slurm_job_series_ratio{$here})",
        ),
    ),
)

_QUEUE = Row(
    "The queue",
    (
        stacked(
            "Waiting, by reason",
            "Priority and Resources are the queue at work; other reasons may need somebody.",
            "short",
            Query(
                'sum by (reason) (slurm_jobs_pending{$here, partition=~"$partition"})',
                "{{reason}}",
            ),
        ),
        stacked(
            "Waiting, by partition",
            "A job that may run in several partitions counts in each.",
            "short",
            Query(
                'sum by (partition) (slurm_jobs_pending{$here, partition=~"$partition"})',
                "{{partition}}",
            ),
        ),
        lines(
            "How long jobs wait, by partition",
            "Of the jobs that started in the last hour nine in ten waited less.",
            "s",
            Query(
                """histogram_quantile(0.9, sum by (partition, le)
                (rate(slurm_job_queue_wait_seconds_bucket{$here, partition=~"$partition"}[1h])))""",
                "{{partition}}",
            ),
        ),
        heat(
            "How long jobs waited",
            "Jobs that started, by how long they had waited.",
            "s",
            Query(
                """sum by (le) (increase(slurm_job_queue_wait_seconds_bucket{$here,
                partition=~"$partition"}[15m]))""",
                "{{le}}",
            ),
        ),
        stacked(
            "Jobs by state",
            "All jobs that slurmctld knows, ended ones for as long as it keeps them.",
            "short",
            Query(
                'sum by (state) (slurm_partition_jobs{$here, partition=~"$partition"})',
                "{{state}}",
            ),
        ),
        lines(
            "Submitted, completed, failed",
            "Jobs per hour, as slurmctld counts them.",
            "short",
            Query("sum(increase(slurm_controller_jobs_submitted_total{$here}[1h]))", "submitted"),
            Query("sum(increase(slurm_controller_jobs_completed_total{$here}[1h]))", "completed"),
            Query("sum(increase(slurm_controller_jobs_canceled_total{$here}[1h]))", "cancelled"),
            Query("sum(increase(slurm_controller_jobs_failed_total{$here}[1h]))", "failed"),
        ),
    ),
)

_ENDS = Row(
    "How jobs end",
    (
        stacked(
            "Ends by state",
            "Jobs per hour that ended.",
            "short",
            Query(
                """sum by (state) (increase(slurm_job_outcomes_total{$here,
                partition=~"$partition", account=~"$account"}[1h]))""",
                "{{state}}",
            ),
        ),
        lines(
            "Bad ends by account",
            "Share of an account's jobs that failed or ran out of time or memory, in an hour.",
            "percentunit",
            Query(
                f"""sum by (account) (increase(slurm_job_outcomes_total{{$here,
                partition=~"$partition", account=~"$account", state=~"{_BAD_ENDS}"}}[1h]))
                / sum by (account) (increase(slurm_job_outcomes_total{{$here,
                partition=~"$partition", account=~"$account"}}[1h]))""",
                "{{account}}",
            ),
        ),
        lines(
            "CPU efficiency of ended jobs",
            "CPU time used over CPU time allocated, of jobs that ended in a day. From slurmdbd.",
            "percentunit",
            Query(
                """sum by (account) (increase(slurm_ended_jobs_cpu_seconds_used_total{$here,
                partition=~"$partition", account=~"$account"}[1d]))
                / sum by (account) (increase(slurm_ended_jobs_cpu_seconds_allocated_total{$here,
                partition=~"$partition", account=~"$account"}[1d]))""",
                "{{account}}",
            ),
        ),
        stacked(
            "Ends that slurmdbd recorded",
            "Jobs per day, also those that ended while the exporter was away.",
            "short",
            Query(
                """sum by (state) (increase(slurm_ended_jobs_total{$here,
                partition=~"$partition", account=~"$account"}[1d]))""",
                "{{state}}",
            ),
        ),
    ),
)

_WHO = Row(
    "Who has what",
    (
        stacked(
            "Running jobs by account",
            "Jobs that run, by account.",
            "short",
            Query(
                """sum by (account)
                (slurm_account_jobs{$here, account=~"$account", state="RUNNING"})""",
                "{{account}}",
            ),
        ),
        bars(
            "Users with most running jobs",
            "Needs series for single jobs: see --job-series.",
            "short",
            Query(
                """topk(10, count by (user_name) (slurm_job_info{$here, job_state="RUNNING",
                slurm_partition=~"$partition"}))""",
                "{{user_name}}",
            ),
        ),
        bars(
            "CPU hours by account",
            "CPUs that an account's jobs had in a day, times the hours that they had them.",
            "h",
            Query(
                """topk(10, sum by (account) (increase(slurm_account_cpu_seconds_allocated_total{
                $here, account=~"$account"}[1d])) / 3600)""",
                "{{account}}",
            ),
        ),
        table(
            "Largest running jobs",
            "Running jobs with the most CPUs. Needs series for single jobs: see --job-series.",
            "short",
            Query(
                f"""topk(50, sum by (job_id, user_name, slurm_partition, job_name)
                (slurm_job_cpus{{$here}} * on ({JOINED}, job_id)
                group_left (user_name, slurm_partition, job_name) max by ({JOINED}, {_JOB})
                (slurm_job_info{{$here, job_state="RUNNING", slurm_partition=~"$partition"}})))""",
                "CPUs",
            ),
        ),
        table(
            "Longest running jobs",
            "Running jobs by how long they have run, in seconds.",
            "s",
            Query(
                f"""topk(50, sum by (job_id, user_name, slurm_partition, job_name)
                (slurm_job_duration_seconds{{$here}} * on ({JOINED}, job_id)
                group_left (user_name, slurm_partition, job_name) max by ({JOINED}, {_JOB})
                (slurm_job_info{{$here, job_state="RUNNING", slurm_partition=~"$partition"}})))""",
                "Running for",
            ),
        ),
    ),
)

BOARD = Dashboard(
    "jobs",
    "Jobs",
    "Jobs of a Slurm cluster: what waits and why, how jobs end, who has what.",
    CLUSTER,
    (_NOW, _QUEUE, _ENDS, _WHO),
    (
        Choice("partition", "partition", "slurm_partition_jobs"),
        Choice("account", "account", "slurm_account_jobs"),
    ),
)
