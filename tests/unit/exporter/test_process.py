"""An exporter from start to end."""

import asyncio
import os
import signal

import pytest

from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.server import FakeServer
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.exporter.catalogue import COLLECTORS, Collector
from shoal.exporter.health import Health
from shoal.exporter.process import Clients, collectors, run, source_of
from shoal.exporter.settings import Origin, Settings, StaticToken
from shoal.exporter.sources import ControllerJobs, QueueJobs, RecordedJobs
from shoal.runtime import clock

SLURMS = tuple(one for one in COLLECTORS if one is not Collector.TOPOLOGY)


def made(**more):
    settings = Settings("c", **more)
    clients = Clients(fake_client(FakeSlurm()))
    return collectors(settings, clients, Health.of(settings.collectors))


def test_those_collectors_run_that_are_asked_for():
    assert tuple(one.name for one in made(collectors=SLURMS)) == SLURMS
    assert [one.name for one in made(collectors=(Collector.DIAG,))] == [Collector.DIAG]


def test_the_topology_cannot_be_had_without_kubernetes():
    with pytest.raises(ValueError, match="name a kubeconfig, or leave it out"):
        made(collectors=(Collector.TOPOLOGY,))


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, ControllerJobs),
        ({"squeue": ("squeue",)}, QueueJobs),
        ({"origin": Origin.ACCOUNTING}, RecordedJobs),
    ],
)
def test_jobs_come_from_where_the_settings_say(more, kind):
    assert isinstance(source_of(Settings("c", **more), fake_client(FakeSlurm())), kind)


async def test_it_collects_until_it_is_told_to_stop():
    slurm = FakeSlurm()
    slurm.slurmctld.add("w-0")
    async with FakeServer(slurm) as server:
        settings = Settings(
            "c",
            url=server.url,
            identity=StaticToken(slurm.token()),
            metrics="127.0.0.1:0",
            monitoring="0",
            collectors=(Collector.NODES, Collector.DIAG),
        )
        task = asyncio.create_task(run(settings, None))
        async with asyncio.timeout(30):
            while not slurm.count("/nodes") or not slurm.count("/diag"):
                await clock.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)
            await task
    assert task.exception() is None
