"""Jobs as each source tells of them, in one shape. Pure."""

import re
from functools import lru_cache
from sys import intern

from ..slurm import tres
from ..slurm.jobs import RUNNING
from ..slurmapi import accounting, jobs
from .snapshot import UNKNOWN, Job, base_of

# Told apart by cluster and size, there are few: jobs are made of the same requests again and again.
REMEMBERED = 4096
NO_NODES = frozenset({"None assigned", "(null)"})

_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?", re.ASCII)


@lru_cache(REMEMBERED)
def resources(text: str) -> tuple[int, int, int]:
    """Return CPUs, MiB and GPUs; what cannot be read is nothing, as one job is not worth all."""
    try:
        told = tres.parse(text)
    except ValueError:
        return 0, 0, 0
    return told.amount("cpu"), told.amount(tres.MEMORY), told.gpus


@lru_cache(REMEMBERED)
def waiting_tasks(text: str) -> int:
    """Return how many tasks of an array `0-3,7%2` names; 1 for a job that is none."""
    count = 0
    for part in text.partition("%")[0].split(","):
        if found := _RANGE.fullmatch(part):
            low, high, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
            count += max(0, high - low) // max(1, step) + 1
    return max(1, count)


@lru_cache(REMEMBERED)
def state_of(words: tuple[str, ...]) -> tuple[str, bool]:
    """Return the base state, and whether the job holds its nodes, or may."""
    return base_of(words)


def of_slurmctld(told: jobs.Job) -> Job:
    """Return a job that slurmrestd read from slurmctld."""
    state, holds = state_of(told.job_state)
    has = resources(told.tres_alloc_str)
    wants = resources(told.tres_req_str)
    cpus, memory, gpus = (had or asked for had, asked in zip(has, wants, strict=True))
    return Job(
        job_id=str(told.job_id),
        state=state,
        holds=holds,
        reason=intern(told.state_reason),
        partition=intern(told.partition),
        account=intern(told.account),
        name=told.name,
        user=intern(told.user_name),
        user_id=intern(str(told.user_id)),
        mail=intern(told.mail_user),
        standard_error=told.standard_error,
        standard_output=told.standard_output,
        array_job=str(told.array_job_id.whole or ""),
        array_task="" if (task := told.array_task_id.whole) is None else str(task),
        tasks=waiting_tasks(told.array_task_string),
        submit=told.submit_time.time or 0,
        start=told.start_time.time or 0,
        end=told.end_time.time or 0,
        nodes=told.nodes,
        cpus=cpus or told.cpus.whole or 0,
        memory_mib=memory,
        gpus=gpus,
    )


def of_state(job_id: str, words: tuple[str, ...], tasks: int) -> Job:
    """Return a job of which only the state is known."""
    state, holds = state_of(words)
    return Job(job_id=job_id, state=state, holds=holds, read=False, tasks=tasks)


def of_slurmdbd(told: accounting.PastJob) -> Job:
    """Return a job that slurmdbd recorded."""
    state, _ = state_of(told.state.current)
    has = counted(told.tres.allocated)
    wants = counted(told.tres.requested)
    cpus, memory, gpus = (had or asked for had, asked in zip(has, wants, strict=True))
    return Job(
        job_id=str(told.job_id),
        state=state,
        # Its word comes late: what it thinks to run may have ended.
        holds=state in RUNNING or state == UNKNOWN,
        reason=intern(told.state.reason),
        partition=intern(told.partition),
        account=intern(told.account),
        name=told.name,
        user=intern(told.user or ""),
        standard_error=told.stderr,
        standard_output=told.stdout,
        array_job=str(told.array.job_id or ""),
        array_task="" if (task := told.array.task_id.whole) is None else str(task),
        submit=told.time.submission,
        start=told.time.start,
        end=told.time.end,
        nodes="" if told.nodes in NO_NODES else told.nodes,
        cpus=cpus,
        memory_mib=memory,
        gpus=gpus,
    )


def counted(told: tuple[accounting.Tres, ...]) -> tuple[int, int, int]:
    """Return CPUs, MiB and GPUs."""
    cpus = memory = gpus = 0
    for one in told:
        # Slurm says -2 of what it does not know.
        amount = max(0, one.count)
        cpus += amount if one.type == "cpu" else 0
        memory += amount if one.type == "mem" else 0
        gpus += amount if one.type == "gres" and one.name == "gpu" else 0
    return cpus, memory, gpus
