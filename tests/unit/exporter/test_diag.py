"""slurmctld's own counters."""

from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.catalogue import METRICS, Collector
from shoal.exporter.diag import DiagCollector
from shoal.exporter.snapshot import DiagSeen
from shoal.slurmapi.controller import RpcByType, RpcByUser, Statistics

from .builders import NOW, samples, value

TOLD = Statistics(
    server_thread_count=3,
    bf_cycle_last=2061,
    rpcs_by_message_type=(RpcByType("REQUEST_PING", 5, 1_500_000),),
    rpcs_by_user=(RpcByUser("alice", 1001, 7, 250),),
)


def text(statistics=TOLD):
    return "".join(DiagCollector(fake_client(FakeSlurm())).tell(DiagSeen(statistics), NOW))


def test_messages_are_told_by_type_and_by_user_in_seconds():
    calls = "slurm_controller_rpc_calls_total"
    assert value(text(), calls, message_type="REQUEST_PING") == 5
    seconds = "slurm_controller_rpc_duration_seconds_total"
    assert value(text(), seconds, message_type="REQUEST_PING") == 1.5
    alice = {"user": "alice", "user_id": "1001"}
    assert value(text(), "slurm_controller_rpc_user_calls_total", **alice) == 7
    assert value(text(), "slurm_controller_rpc_user_duration_seconds_total", **alice) == 0.00025


def test_microseconds_are_told_as_seconds_without_a_tail():
    assert "slurm_scheduler_backfill_cycle_seconds 0.002061\n" in text()


def test_messages_that_slurmctld_calls_alike_are_one_series():
    alike = (RpcByType("UNKNOWN", 5, 10), RpcByType("UNKNOWN", 7, 20))
    written = text(Statistics(rpcs_by_message_type=alike))
    assert written.count('slurm_controller_rpc_calls_total{message_type="UNKNOWN"} 12\n') == 1


def test_every_metric_of_this_collector_is_told():
    assert {name for name, _ in samples(text())} == {
        m.name for m in METRICS if m.collector is Collector.DIAG
    }


async def test_the_counters_are_slurmctlds():
    seen = await DiagCollector(fake_client(FakeSlurm())).gather()
    assert seen.statistics.server_thread_count == 1
