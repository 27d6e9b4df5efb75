"""All jobs, by the client tool squeue: its command line and its output, line by line. Pure.

A job's name may hold anything, line breaks and what parts our fields included. So the fields that
users cannot choose come first, and each line carries a mark that nobody can know beforehand: what
has none is the rest of a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from sys import intern

from .records import resources, state_of, waiting_tasks
from .snapshot import Job

PART = "\x1f"
FIELDS = (
    "JobID", "State", "Reason", "Partition", "UserName", "UserID", "Account", "ArrayJobID",
    "ArrayTaskID", "SubmitTime", "StartTime", "EndTime", "NodeList", "tres-alloc", "STDERR",
    "STDOUT", "Name",
)  # fmt: skip
_NOTHING = frozenset({"N/A", "NONE", "Unknown", "(null)", ""})


def command(program: Sequence[str], mark: str) -> tuple[str, ...]:
    """Return the command that lists all jobs; a field without a width is printed whole."""
    first, *more = FIELDS
    form = ",".join((f"{first}:{PART}{mark}{PART}", *(f"{name}:{PART}" for name in more)))
    *before, tool = program
    # Otherwise times come in the zone and the form of whoever runs it. Right before the tool: what
    # stands before it may clear the environment.
    return (
        *before, "env", "TZ=UTC0", "SLURM_TIME_FORMAT=%s", tool,
        "--noheader", "--all", "--states=all", f"--Format={form}",
    )  # fmt: skip


def read(lines: Iterable[str], mark: str) -> Iterator[Job]:
    """Yield the jobs in squeue's output; a ValueError names a line that is none."""
    for line in lines:
        fields = line.rstrip("\n").split(PART, len(FIELDS))
        if len(fields) > 1 and fields[1] == mark:
            # A line break in one of the last three: what is behind it is lost.
            fields += [""] * (len(FIELDS) + 1 - len(fields))
            try:
                yield _job(fields)
            except ValueError as error:
                raise ValueError(f"squeue printed {line[:80]!r}: {error}") from None


def _job(fields: list[str]) -> Job:
    (
        number, _, state, reason, partition, user, user_id, account, array, task,
        submit, start, end, nodes, tres, stderr, stdout, name,
    ) = fields  # fmt: skip
    base, holds = state_of((state,))
    cpus, memory, gpus = resources(tres)
    waits = not task.isdecimal() and task not in _NOTHING
    return Job(
        job_id=str(int(number)),
        state=base,
        holds=holds,
        reason=intern(reason),
        partition=intern(partition),
        account=intern(_given(account)),
        name=name.removesuffix(PART),
        user=intern(user),
        user_id=intern(user_id),
        standard_error=_given(stderr),
        standard_output=_given(stdout),
        # Every job has its own number there.
        array_job=array if task not in _NOTHING else "",
        array_task=task if task.isdecimal() else "",
        tasks=waiting_tasks(task) if waits else 1,
        submit=_time(submit),
        start=_time(start),
        end=_time(end),
        nodes=_given(nodes),
        cpus=cpus,
        memory_mib=memory,
        gpus=gpus,
    )


def _given(text: str) -> str:
    return "" if text in _NOTHING else text


def _time(text: str) -> int:
    return 0 if text in _NOTHING else int(text)
