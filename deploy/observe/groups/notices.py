"""What users want to hear of their own jobs. Not for administrators: see notifier/. Pure."""

from ..alerts import Alert, Group, Severity

_JOB = """max by ($place, job_id, job_name, user_name, user_mail, job_state)"""
_ENDED = "COMPLETED|FAILED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|BOOT_FAIL|DEADLINE|PREEMPTED"

GROUP = Group(
    "notices",
    (
        Alert(
            "SlurmJobEnded",
            f"""{_JOB} (slurm_job_info{{user_mail!="", job_state=~"{_ENDED}"}}) > 0""",
            "0m",
            Severity.INFO,
            "Job {{ $labels.job_id }} ({{ $labels.job_name }}): {{ $labels.job_state }}",
            """The job of {{ $labels.user_name }} in $where has ended.""",
        ),
    ),
)
