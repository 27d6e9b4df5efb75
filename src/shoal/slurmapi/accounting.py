"""slurmdbd: jobs of the past and the present, accounts, users, QOS, associations, clusters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from .calls import Calls
from .numbers import Number
from .transport import LIST
from .versions import Capability
from .wire import Envelope, Request, Tree, present

FAMILY = "accounting"


class Tres(msgspec.Struct, frozen=True, gc=False):
    """Some amount of a trackable resource."""

    type: str
    name: str = ""
    count: int = 0


class JobTres(msgspec.Struct, frozen=True, gc=False):
    """What a job has, and what it asked for."""

    allocated: tuple[Tres, ...] = ()
    requested: tuple[Tres, ...] = ()


class CpuTime(msgspec.Struct, frozen=True, gc=False):
    """How much CPU time was used."""

    seconds: int = 0
    microseconds: int = 0


class JobTime(msgspec.Struct, frozen=True, gc=False):
    """When; 0 where it is not known or has not happened."""

    submission: int = 0
    start: int = 0
    end: int = 0
    elapsed: int = 0
    limit: Number = Number()  # minutes
    total: CpuTime = CpuTime()  # of all steps that ended; none where steps are left out


class JobCondition(msgspec.Struct, frozen=True, gc=False):
    """A job's state, and why."""

    current: tuple[str, ...] = ()
    reason: str = ""


class ArrayPlace(msgspec.Struct, frozen=True, gc=False):
    """Which task of which array a job is."""

    job_id: int = 0
    task_id: Number = Number()


class PastJob(msgspec.Struct, frozen=True, gc=False):
    """As much of slurmdbd's record of a job as is used; it may still run."""

    job_id: int
    name: str = ""
    user: str | None = ""  # null when slurmrestd does not know the user id
    account: str = ""
    cluster: str = ""
    partition: str = ""
    nodes: str = ""  # a hostlist, or "None assigned"
    array: ArrayPlace = ArrayPlace()
    stdout: str = ""
    stderr: str = ""
    state: JobCondition = JobCondition()
    time: JobTime = JobTime()
    tres: JobTres = JobTres()


class Account(msgspec.Struct, frozen=True):
    """An account."""

    name: str
    description: str = ""
    organization: str = ""

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Defaults(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user's jobs belong to unless they say otherwise."""

    account: str = ""


class User(msgspec.Struct, frozen=True, omit_defaults=True):
    """A user, and how much he may: None, Operator, Administrator."""

    name: str
    administrator_level: tuple[str, ...] = ()
    default: Defaults = Defaults()

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Qos(msgspec.Struct, frozen=True, omit_defaults=True):
    """A quality of service."""

    name: str
    description: str = ""
    priority: Number = Number()

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Association(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who may use which account, where."""

    account: str = ""
    cluster: str = ""
    user: str = ""
    partition: str = ""
    parent_account: str = ""

    def __str__(self) -> str:
        """Return whose it is."""
        return f"{self.account}/{self.user}" if self.user else self.account


class ControlHost(msgspec.Struct, frozen=True):
    """Where a cluster's slurmctld is, as slurmdbd knows it."""

    host: str = ""
    port: int = 0


class Cluster(msgspec.Struct, frozen=True):
    """A cluster that registered with slurmdbd."""

    name: str
    controller: ControlHost = ControlHost()


class DatabasePing(msgspec.Struct, frozen=True):
    """What one slurmdbd host answered."""

    hostname: str = ""
    responding: bool = False
    primary: bool = False

    @property
    def up(self) -> bool:
        """Return whether it answered."""
        return self.responding


class _Jobs(Envelope, frozen=True):
    jobs: list[PastJob] | msgspec.UnsetType = msgspec.UNSET


class _Accounts(Envelope, frozen=True):
    accounts: list[Account] | msgspec.UnsetType = msgspec.UNSET


class _Users(Envelope, frozen=True):
    users: list[User] | msgspec.UnsetType = msgspec.UNSET


class _Qos(Envelope, frozen=True):
    qos: list[Qos] | msgspec.UnsetType = msgspec.UNSET


class _Associations(Envelope, frozen=True):
    associations: list[Association] | msgspec.UnsetType = msgspec.UNSET


class _Clusters(Envelope, frozen=True):
    clusters: list[Cluster] | msgspec.UnsetType = msgspec.UNSET


class _Pings(Envelope, frozen=True):
    pings: list[DatabasePing] | msgspec.UnsetType = msgspec.UNSET


class Content(Envelope, frozen=True):
    """What slurmdbd is configured with."""

    accounts: tuple[Account, ...] = ()
    users: tuple[User, ...] = ()
    qos: tuple[Qos, ...] = ()
    associations: tuple[Association, ...] = ()
    clusters: tuple[Cluster, ...] = ()


_JOBS = msgspec.json.Decoder(_Jobs)
_ACCOUNTS = msgspec.json.Decoder(_Accounts)
_USERS = msgspec.json.Decoder(_Users)
_QOS = msgspec.json.Decoder(_Qos)
_ASSOCIATIONS = msgspec.json.Decoder(_Associations)
_CLUSTERS = msgspec.json.Decoder(_Clusters)
_PINGS = msgspec.json.Decoder(_Pings)
_DONE = msgspec.json.Decoder(Envelope)
_CONTENT = msgspec.json.Decoder(Content)


@dataclass(frozen=True)
class Wanted:
    """Which jobs to ask slurmdbd for: of a cluster, in a time, in one of some states."""

    cluster: str = ""
    start_time: int | None = None  # seconds since 1970; jobs that ended before are left out
    end_time: int | None = None
    states: tuple[str, ...] = ()
    steps: bool = False  # count their CPU time; most of the answer then

    def queries(self) -> list[dict[str, str]]:
        """Return it as slurmrestd reads it: its "CSV state list" takes one state and no list."""
        times = {"start_time": self.start_time, "end_time": self.end_time}
        always = {
            **({"cluster": self.cluster} if self.cluster else {}),
            **{name: f"uts{time}" for name, time in times.items() if time is not None},
            # Steps are most of the answer, and only their CPU time is ever looked at.
            **({} if self.steps else {"skip_steps": "true"}),
            # Otherwise times are cut to the period asked for, and a start is no longer one.
            "disable_truncate_usage_time": "true",
        }
        return [{**always, "state": state} for state in self.states] or [always]


def _read(
    path: str, query: Mapping[str, str] | None = None, needs: Capability | None = None
) -> Request:
    return Request("GET", path, FAMILY, query or {}, tree=Tree.SLURMDB, limits=LIST, needs=needs)


def _given(item: msgspec.Struct) -> Any:  # noqa: ANN401 - any JSON
    """Return what is said of a record; slurmrestd wants to hear of no user, too."""
    said = msgspec.to_builtins(item)
    return {"user": "", **said} if isinstance(item, Association) else said


class Accounting:
    """The calls about what slurmdbd keeps. None of them needs slurmctld."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def ping(self) -> Sequence[DatabasePing]:
        """Return which slurmdbd hosts answer."""
        request = _read("ping/", needs=Capability.DATABASE_PING)
        answer = await self._calls.read(request, _PINGS)
        return present(request, answer.pings)

    async def jobs(self, wanted: Wanted) -> Sequence[PastJob]:
        """Return jobs, those that run too; slurmdbd hears of changes a little late."""
        found: list[PastJob] = []
        for query in wanted.queries():
            request = _read("jobs/", query=query)
            found += present(request, (await self._calls.read(request, _JOBS)).jobs)
        return found

    async def accounts(self) -> Sequence[Account]:
        """Return all accounts."""
        request = _read("accounts/")
        answer = await self._calls.read(request, _ACCOUNTS)
        return present(request, answer.accounts)

    async def users(self) -> Sequence[User]:
        """Return all users."""
        request = _read("users/")
        answer = await self._calls.read(request, _USERS)
        return present(request, answer.users)

    async def qos(self) -> Sequence[Qos]:
        """Return all qualities of service."""
        request = _read("qos/")
        answer = await self._calls.read(request, _QOS)
        return present(request, answer.qos)

    async def associations(self) -> Sequence[Association]:
        """Return all associations."""
        request = _read("associations/")
        answer = await self._calls.read(request, _ASSOCIATIONS)
        return present(request, answer.associations)

    async def clusters(self) -> Sequence[Cluster]:
        """Return the clusters that registered."""
        request = _read("clusters/")
        answer = await self._calls.read(request, _CLUSTERS)
        return present(request, answer.clusters)

    async def content(self) -> Content:
        """Return what slurmdbd is configured with, all at once."""
        return await self._calls.read(_read("config"), _CONTENT)

    # Each of these makes what is not there and changes what is; there already is no error.

    async def write_accounts(self, accounts: Iterable[Account]) -> None:
        """Make or change accounts."""
        await self._write("accounts", accounts)

    async def write_users(self, users: Iterable[User]) -> None:
        """Make or change users."""
        await self._write("users", users)

    async def write_qos(self, qos: Iterable[Qos]) -> None:
        """Make or change qualities of service."""
        await self._write("qos", qos)

    async def write_associations(self, associations: Iterable[Association]) -> None:
        """Make or change associations; without its account slurmdbd says yes and makes none."""
        await self._write("associations", associations)

    async def _write(self, kind: str, items: Iterable[msgspec.Struct]) -> None:
        wanted = list(items)
        if not wanted:
            return
        request = Request(
            "POST",
            f"{kind}/",
            FAMILY,
            body={kind: [_given(item) for item in wanted]},
            tree=Tree.SLURMDB,
            about=",".join(map(str, wanted)),
            write=True,
        )
        await self._calls.write(request, _DONE)
