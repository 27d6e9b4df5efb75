"""Which jobs hold nodes, by the client tool squeue: its command line and its output. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from ..slurm import durations, jobs
from ..slurm.durations import Limit, Open
from ..slurm.jobs import JobState

# All states in which a job holds nodes or may; squeue knows each of these words.
STATES = (
    "CONFIGURING", "COMPLETING", "REQUEUED", "RESIZING", "RUNNING", "SIGNALING", "STAGE_OUT",
    "STOPPED", "SUSPENDED",
)  # fmt: skip
# Job id, state, start, time limit, the host of its script (or of the session that has it), nodes.
FORMAT = "%A|%T|%S|%l|%B|%N"
COMMAND = (
    # Otherwise times come in the zone and the form of whoever runs it.
    "env", "TZ=UTC0", "SLURM_TIME_FORMAT=standard",
    "squeue", "--noheader", "--all", "--array", f"--states={','.join(STATES)}",
    f"--format={FORMAT}",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One job."""

    job_id: int
    state: JobState
    start: datetime | None
    limit: Limit
    nodes: str  # a hostlist
    batch_host: str = ""


def read(output: str) -> Iterator[Line]:
    """Yield the jobs in squeue's output; a ValueError names a line that is none."""
    for text in output.splitlines():
        if not text.strip():
            continue
        fields = text.split("|", 5)
        try:
            number, state, start, limit, host, nodes = (field.strip() for field in fields)
            told = jobs.parse(state), _time(start), _limit(limit)
            yield Line(int(number), *told, nodes, "" if host == "n/a" else host)
        except ValueError as error:
            raise ValueError(f"squeue printed {text[:80]!r}, not {FORMAT!r}: {error}") from None


def _time(text: str) -> datetime | None:
    return None if text in ("N/A", "Unknown", "") else _utc(datetime.fromisoformat(text))


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)


def _limit(text: str) -> Limit:
    # A job without a limit of its own; it is no reason to know nothing of the others.
    return Open.NOT_SET if text in ("INVALID", "") else durations.parse(text)
