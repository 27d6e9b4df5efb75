"""When somebody should look at jobs and the queue. Pure."""

from ..alerts import Alert, Group, Severity

_PARTITION = "partition {{ $labels.partition }} of $where"
_LOST = 'slurm_job_outcomes_total{state="NODE_FAIL"}'
_FAILED = 'slurm_job_outcomes_total{state=~"FAILED|NODE_FAIL|BOOT_FAIL"}'
# Reasons that no other job's end will change: https://slurm.schedmd.com/job_reason_codes.html
_FOR_EVER = (
    "AccountNotAllowed|BadConstraints|DependencyNeverSatisfied|InvalidAccount|InvalidQOS"
    "|PartitionDown|PartitionInactive|PartitionNodeLimit|PartitionTimeLimit|QOSNotAllowed"
    "|ReservationDeleted"
)
_HELD = "JobHeldAdmin|JobHoldMaxRequeue|JobLaunchFailure|.*requeued.held|.*requeued.in.held.state"

GROUP = Group(
    "jobs",
    (
        Alert(
            "SlurmJobsLostToNodes",
            # A counter that appears with its first event has nothing to increase from.
            f"""sum by ($place, partition) (increase({_LOST}[15m])) > 0
            or sum by ($place, partition) ({_LOST} unless {_LOST} offset 15m) > 0""",
            "0m",
            Severity.CRITICAL,
            "Jobs were lost with their nodes",
            f"""{{{{ $value | humanize }}}} jobs in {_PARTITION} ended with NODE_FAIL in a quarter
            of an hour.""",
        ),
        Alert(
            "SlurmJobsFailOften",
            f"""sum by ($place, partition) (increase({_FAILED}[1h]))
            / sum by ($place, partition) (increase(slurm_job_outcomes_total[1h])) > 0.5
            and sum by ($place, partition) (increase(slurm_job_outcomes_total[1h])) > 20""",
            "15m",
            Severity.WARNING,
            "{{ $value | humanizePercentage }} of the jobs fail",
            f"""More than half of the jobs that ended in {_PARTITION} in an hour failed, of more
            than twenty. One user with a mistake, or a node that fails all it gets.""",
        ),
        Alert(
            "SlurmNothingStarts",
            """sum by ($place, partition)
            (slurm_jobs_pending{reason=~"None|Priority|Resources"}) > 0
            and sum by ($place, partition) (slurm_partition_nodes{state="IDLE"}) > 0
            unless sum by ($place, partition)
            (increase(slurm_job_queue_wait_seconds_count[30m])) > 0""",
            "30m",
            Severity.WARNING,
            f"Jobs wait and nodes idle in {_PARTITION}",
            f"""{{{{ $value }}}} jobs wait for their turn in {_PARTITION}, nodes are idle, and no
            job has started for half an hour. Right if a large job waits for its last node;
            otherwise the scheduler does not get through.""",
        ),
        Alert(
            "SlurmJobsCannotStart",
            f"""sum by ($place, partition, reason)
            (slurm_jobs_pending{{reason=~"{_FOR_EVER}"}}) > 0""",
            "1h",
            Severity.INFO,
            f"{{{{ $value }}}} jobs in {_PARTITION} cannot start",
            """Their reason is {{ $labels.reason }}, which no other job's end will change: the
            request or the configuration has to.""",
        ),
        Alert(
            "SlurmJobsHeld",
            f"""sum by ($place, partition, reason) (slurm_jobs_pending{{reason=~"{_HELD}"}}) > 0""",
            "30m",
            Severity.WARNING,
            f"{{{{ $value }}}} jobs in {_PARTITION} are held",
            """Their reason is {{ $labels.reason }}: they stay until an administrator releases
            them.""",
        ),
        Alert(
            "SlurmQueueWaitLong",
            """histogram_quantile(0.9, sum by ($place, partition, le)
            (rate(slurm_job_queue_wait_seconds_bucket[6h]))) > 43200""",
            "1h",
            Severity.INFO,
            f"Jobs in {_PARTITION} wait for half a day",
            """One in ten of the jobs that started in the last six hours had waited for more than
            {{ $value | humanizeDuration }}.""",
        ),
        Alert(
            "SlurmGpusIdleWhileJobsWait",
            # A partition without running jobs has no series of what they have.
            """(sum by ($place, partition) (slurm_partition_gpus)
            - (sum by ($place, partition) (slurm_partition_gpus_allocated)
            or 0 * sum by ($place, partition) (slurm_partition_gpus)))
            / (sum by ($place, partition) (slurm_partition_gpus) > 0) > 0.25
            and sum by ($place, partition)
            (slurm_jobs_pending{reason=~"Priority|Resources"}) > 0""",
            "2h",
            Severity.INFO,
            f"{{{{ $value | humanizePercentage }}}} of the GPUs in {_PARTITION} idle as jobs wait",
            """For two hours: the nodes are out of service, the free GPUs are spread over nodes, or
            jobs take a node's CPUs or memory without its GPUs.""",
        ),
    ),
)
