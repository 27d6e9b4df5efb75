"""slurmctld's own counters: messages, queues, schedulers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..slurmapi.client import Client
from ..slurmapi.controller import RpcByType, RpcByUser, Statistics
from . import text
from .catalogue import NAMED, Collector
from .snapshot import DiagSeen

MICRO = 1_000_000  # slurmctld counts microseconds
PLAIN: Mapping[str, Callable[[Statistics], float]] = {
    "slurm_controller_server_thread_count": lambda told: told.server_thread_count,
    "slurm_controller_agent_queue_size": lambda told: told.agent_queue_size,
    "slurm_controller_dbd_agent_queue_size": lambda told: told.dbd_agent_queue_size,
    "slurm_controller_jobs_pending": lambda told: told.jobs_pending,
    "slurm_controller_jobs_running": lambda told: told.jobs_running,
    "slurm_controller_jobs_submitted_total": lambda told: told.jobs_submitted,
    "slurm_controller_jobs_completed_total": lambda told: told.jobs_completed,
    "slurm_controller_jobs_canceled_total": lambda told: told.jobs_canceled,
    "slurm_controller_jobs_failed_total": lambda told: told.jobs_failed,
    "slurm_scheduler_main_cycle_seconds": lambda told: told.schedule_cycle_last / MICRO,
    "slurm_scheduler_backfill_cycle_seconds": lambda told: told.bf_cycle_last / MICRO,
}


class DiagCollector:
    """Reads and tells of slurmctld's counters."""

    name = Collector.DIAG

    def __init__(self, client: Client) -> None:
        self._client = client

    async def gather(self) -> DiagSeen:
        """Read them."""
        return DiagSeen(await self._client.controller.statistics())

    def tell(self, seen: DiagSeen, _now: float) -> Iterator[str]:
        """Yield them as text."""
        told = seen.statistics
        for name, value in PLAIN.items():
            yield from text.family(NAMED[name], [((), value(told))])
        yield from _rpcs("slurm_controller_rpc", told.rpcs_by_message_type, _type)
        yield from _rpcs("slurm_controller_rpc_user", told.rpcs_by_user, _user)

    async def close(self) -> None:
        """Do nothing: nothing is open."""


def _type(rpc: RpcByType | RpcByUser) -> tuple[str, ...]:
    assert isinstance(rpc, RpcByType)
    return (rpc.message_type,)


def _user(rpc: RpcByType | RpcByUser) -> tuple[str, ...]:
    assert isinstance(rpc, RpcByUser)
    return (rpc.user, str(rpc.user_id))


def _rpcs(
    prefix: str,
    rpcs: Sequence[RpcByType | RpcByUser],
    whose: Callable[[RpcByType | RpcByUser], tuple[str, ...]],
) -> Iterator[str]:
    calls, seconds = NAMED[f"{prefix}_calls_total"], NAMED[f"{prefix}_duration_seconds_total"]
    # Added up: two types that slurmctld has no name for are one to it, and a series may stand once.
    counts, times = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for rpc in rpcs:
        counts[whose(rpc)] += rpc.count
        times[whose(rpc)] += rpc.total_time
    yield from text.family(calls, counts.items())
    yield from text.family(seconds, ((key, time / MICRO) for key, time in times.items()))
