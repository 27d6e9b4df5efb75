"""Jobs: read one, submit, signal, cancel, requeue; and all of them, where that is affordable."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .calls import Calls
from .errors import NotFoundError, Problem, refusal
from .numbers import Number, wrapped
from .transport import LIST
from .versions import Capability
from .wire import Dated, Envelope, Request, present

FAMILY = "jobs"
# 2017: there is no such job, 2021: it has ended.
NOTHING_TO_END = (0, 2017, 2021)


class Job(msgspec.Struct, frozen=True, gc=False):
    """As much of a job as is used; the names are slurmrestd's."""

    job_id: int
    name: str = ""
    job_state: tuple[str, ...] = ()
    state_reason: str = ""
    user_name: str = ""
    user_id: int = 0
    account: str = ""
    partition: str = ""
    qos: str = ""
    nodes: str = ""  # a hostlist
    required_nodes: str = ""
    batch_flag: bool = False  # it has a script, which runs on:
    batch_host: str = ""
    node_count: Number = Number()
    cpus: Number = Number()
    tres_alloc_str: str = ""
    tres_req_str: str = ""
    array_job_id: Number = Number()
    array_task_id: Number = Number()
    array_task_string: str = ""
    submit_time: Number = Number()
    start_time: Number = Number()
    end_time: Number = Number()
    time_limit: Number = Number()  # minutes
    restart_cnt: int = 0
    requeue: bool = False
    standard_output: str = ""
    standard_error: str = ""
    mail_user: str = ""
    comment: str = ""
    admin_comment: str = ""
    extra: str = ""


class JobList(Dated, frozen=True, gc=False):
    """Some jobs, and when slurmctld made the list."""

    jobs: list[Job] | msgspec.UnsetType = msgspec.UNSET


class JobState(msgspec.Struct, frozen=True, gc=False):
    """A job and its state: a task of a pending array has its own line, such as `6_0`."""

    job_id: str
    state: tuple[str, ...] = ()


class JobStates(Envelope, frozen=True, gc=False):
    """All jobs and their states."""

    jobs: list[JobState] | msgspec.UnsetType = msgspec.UNSET


class SignalError(msgspec.Struct, frozen=True):
    """Why a signal was not sent."""

    string: str = ""
    code: int = 0


class SignalStatus(msgspec.Struct, frozen=True):
    """What became of a signal to one job."""

    error: SignalError = SignalError()
    step_id: str = ""


class Signalled(Envelope, frozen=True):
    """What became of a signal: a refusal hides here, in an answer that is fine otherwise."""

    status: tuple[SignalStatus, ...] = ()


class Submitted(Envelope, frozen=True):
    """What became of a submission."""

    job_id: int | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class JobDescription:
    """A batch job to submit. `more` holds further fields of slurmrestd's job description."""

    name: str
    script: str
    # slurmctld refuses a job without any environment.
    environment: tuple[str, ...] = ("PATH=/bin:/usr/bin:/sbin:/usr/sbin",)
    current_working_directory: str = "/tmp"
    account: str | None = None
    partition: str | None = None
    required_nodes: tuple[str, ...] | None = None
    comment: str | None = None
    standard_output: str | None = None
    standard_error: str | None = None
    time_limit: float | None = None  # minutes
    more: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return it as slurmrestd reads it."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        given |= given.pop("more")
        if "time_limit" in given:
            given["time_limit"] = wrapped(given["time_limit"])
        return given


_LIST = msgspec.json.Decoder(JobList)
_STATES = msgspec.json.Decoder(JobStates)
_SIGNALLED = msgspec.json.Decoder(Signalled)
_SUBMITTED = msgspec.json.Decoder(Submitted)
_DONE = msgspec.json.Decoder(Envelope)


class Jobs:
    """The calls about jobs."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def all(self) -> Sequence[Job]:
        """Return every job. Expensive: 50,000 jobs cost slurmrestd 40 s and 7 GB that it keeps.

        Nothing may poll this; `sources.choose` says when it is affordable at all.
        """
        request = Request("GET", "jobs/", FAMILY, limits=LIST)
        return present(request, (await self._calls.read(request, _LIST)).jobs)

    async def states(self) -> Sequence[JobState]:
        """Return every job's state: 80 bytes each, 4 s for 50,000."""
        request = Request("GET", "jobs/state/", FAMILY, limits=LIST)
        return present(request, (await self._calls.read(request, _STATES)).jobs)

    async def one(self, job_id: int) -> Job:
        """Return one job; a NotFoundError when slurmctld no longer or never knew it."""
        found = await self.with_parts(job_id)
        # The id of an array brings all its tasks.
        named = [job for job in found if job.job_id == job_id]
        if not named:
            raise NotFoundError(f"GET /job/{job_id}", "there is no such job")
        return named[0]

    async def with_parts(self, job_id: int) -> Sequence[Job]:
        """Return a job, all tasks of an array, or all parts of a heterogeneous job."""
        request = Request("GET", f"job/{job_id}", FAMILY)
        return present(request, (await self._calls.read(request, _LIST)).jobs)

    async def find(self, job_id: int) -> Job | None:
        """Return one job, or None when slurmctld no longer or never knew it."""
        try:
            return await self.one(job_id)
        except NotFoundError:
            return None

    async def submit(self, job: JobDescription, user: str = "") -> int:
        """Submit a batch job and return its id; `user`: as whom, with SlurmUser's token."""
        request = Request(
            "POST",
            "job/submit",
            FAMILY,
            body={"job": job.body()},
            about=job.name,
            user=user,
            write=True,
        )
        return present(request, (await self._calls.write(request, _SUBMITTED)).job_id)

    async def cancel(self, job_id: int) -> None:
        """Cancel a job; one that has ended or never was is no error."""
        await self._signal(Request("DELETE", f"job/{job_id}", FAMILY, write=True))

    async def signal(self, job_id: int, name: str) -> None:
        """Send a signal, such as `USR1`, to a job's processes, if it has any."""
        query = {"signal": name}
        request = Request("DELETE", f"job/{job_id}", FAMILY, query, about=name, write=True)
        await self._signal(request)

    async def _signal(self, request: Request) -> None:
        told = (await self._calls.write(request, _SIGNALLED)).status
        wrong = [
            Problem(error=one.error.string, error_number=one.error.code)
            for one in told
            if one.error.code not in NOTHING_TO_END
        ]
        if wrong:
            raise refusal(str(request), wrong)

    async def requeue(self, job_ids: Iterable[int]) -> None:
        """Put jobs back into the queue."""
        wanted = [str(job_id) for job_id in job_ids]
        request = Request(
            "POST",
            "jobs/requeue",
            FAMILY,
            body={"jobs": wanted},
            about=",".join(wanted),
            needs=Capability.REQUEUE,
            write=True,
        )
        await self._calls.write(request, _DONE)
