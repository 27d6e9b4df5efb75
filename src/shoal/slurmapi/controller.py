"""slurmctld itself: ping, statistics, configuration, reconfigure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from .calls import Calls
from .numbers import Number
from .peer import Ping
from .transport import LIST
from .versions import Capability
from .wire import Envelope, Request, present

FAMILY = "controller"


class RpcByType(msgspec.Struct, frozen=True, gc=False):
    """How often one kind of message came, and how long it took, in microseconds."""

    message_type: str = ""
    count: int = 0
    total_time: int = 0


class RpcByUser(msgspec.Struct, frozen=True, gc=False):
    """How often one user's messages came, and how long they took, in microseconds."""

    user: str = ""
    user_id: int = 0
    count: int = 0
    total_time: int = 0


class Statistics(msgspec.Struct, frozen=True, gc=False):
    """As much of slurmctld's statistics as is used."""

    server_thread_count: int = 0
    agent_queue_size: int = 0
    dbd_agent_queue_size: int = 0
    schedule_cycle_last: int = 0  # microseconds
    bf_cycle_last: int = 0  # microseconds
    jobs_pending: int = 0
    jobs_running: int = 0
    jobs_submitted: int = 0
    jobs_completed: int = 0
    jobs_canceled: int = 0
    jobs_failed: int = 0
    job_states_ts: Number = Number()
    rpcs_by_message_type: tuple[RpcByType, ...] = ()
    rpcs_by_user: tuple[RpcByUser, ...] = ()

    @property
    def job_records(self) -> int:
        """Return about how many jobs slurmctld holds, those that ended lately too.

        The counters of ended jobs start anew at midnight and count some that are gone by now, so
        this says too much rather than too little.
        """
        ended = self.jobs_completed + self.jobs_canceled + self.jobs_failed
        return self.jobs_pending + self.jobs_running + ended


class Diagnostics(Envelope, frozen=True):
    """The answer that holds the statistics."""

    statistics: Statistics = Statistics()


class Configuration(Envelope, frozen=True):
    """The answer that holds the configuration."""

    slurm_conf: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


_DIAGNOSTICS = msgspec.json.Decoder(Diagnostics)
_CONFIGURATION = msgspec.json.Decoder(Configuration)
_DONE = msgspec.json.Decoder(Envelope)


class Controller:
    """The calls about slurmctld itself."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def ping(self) -> tuple[Ping, ...]:
        """Return which slurmctld hosts answer; none does to a bad token either."""
        return await self._calls.peer.ping()

    async def statistics(self) -> Statistics:
        """Return slurmctld's counters."""
        request = Request("GET", "diag/", FAMILY)
        return (await self._calls.read(request, _DIAGNOSTICS)).statistics

    async def configuration(self) -> Mapping[str, Any]:
        """Return the configuration that slurmctld runs with."""
        request = Request("GET", "conf", FAMILY, needs=Capability.CONFIG_READ)
        return present(request, (await self._calls.read(request, _CONFIGURATION)).slurm_conf)

    async def reconfigure(self) -> None:
        """Have slurmctld read its files again: a GET with an effect, sent once and never again.

        It says yes to a configuration that slurmctld then dies of. Check that first.
        """
        request = Request("GET", "reconfigure/", FAMILY, limits=LIST, write=True, again=False)
        await self._calls.write(request, _DONE)
