"""What the operator says of clusters of slurm.nebius.ai in events: troubles, each once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fakes.port import Harness
from shoal.kube import kinds
from shoal.runtime import clock
from shoal.runtime.events import Recorder

from .nebius import SPACE, Nebius, cluster, nodes

HALF_AN_HOUR_S = 1800


@asynccontextmanager
async def told() -> AsyncIterator[Nebius]:
    """Give a scene whose events are sent."""
    recorder = Recorder("slurm-operator")
    async with Nebius(recorder=recorder) as scene:
        sending = asyncio.create_task(recorder.run(scene.user))
        yield scene
        sending.cancel()


def said(scene: Nebius) -> list[str]:
    """Return the warnings about the cluster, in order."""
    found = [
        event
        for event in scene.there(kinds.EVENT).values()
        if event["regarding"]["kind"] == "SlurmCluster" and event["type"] == "Warning"
    ]
    found.sort(key=lambda event: event["eventTime"])
    assert all("series" not in event for event in found), "each is told once"
    return [f"{event['reason']}: {event['note']}" for event in found]


async def test_a_cluster_that_comes_up_is_no_trouble():
    async with told() as scene:
        await scene.rise(cluster())
        await clock.sleep(HALF_AN_HOUR_S)
        assert said(scene) == []


async def test_a_configuration_that_slurm_refuses_is_one_event_and_another_one_another():
    async with told() as scene:
        first = await scene.rise(cluster())
        await scene.change(customSlurmConfig="Nonsense=1\n")
        await clock.sleep(HALF_AN_HOUR_S)
        (event,) = said(scene)
        assert event.startswith("ConfigRefused: Slurm does not accept the configuration: ")
        # Nor does a new process say it again.
        await first.stop()
        scene.process(Harness())
        await clock.sleep(HALF_AN_HOUR_S)
        assert said(scene) == [event]
        await scene.change(customSlurmConfig="KillWait=31\n")
        await scene.settle()
        await scene.change(customSlurmConfig="Nonsense=2\n")
        await clock.sleep(HALF_AN_HOUR_S)
        assert [one.partition(":")[0] for one in said(scene)] == ["ConfigRefused"] * 2


async def test_a_job_that_gives_the_root_up_is_one_event_for_all_parts():
    async with told() as scene:
        scene.toys.stuck = True
        scene.process()
        await scene.make(cluster())
        await clock.sleep(60)
        key = (SPACE, "one-populate-jail")
        job = scene.api.history.get(kinds.JOB, key)
        failed = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
        assert job is not None
        scene.api.history.write(kinds.JOB, key, {**job, "status": {"conditions": [failed]}})
        await clock.sleep(HALF_AN_HOUR_S)
        (event,) = said(scene)
        assert event.startswith("PopulateJailFailed: the Job that fills the shared root has given")


async def test_a_secret_that_is_missing_is_one_event():
    async with told() as scene:
        spec = nodes(
            accounting={
                "mariadbOperator": None,
                "externalDB": {
                    "enabled": True, "host": "db", "user": "slurm",
                    "passwordSecretKeyRef": {"name": "theirs", "key": "password"},
                },
            }
        )  # fmt: skip
        await scene.rise(cluster(**spec))
        await clock.sleep(HALF_AN_HOUR_S)
        missing = [one for one in said(scene) if one.startswith("Missing: ")]
        assert len(missing) == 1
        assert "Secret theirs, key password is not there" in missing[0]


async def test_a_spec_that_cannot_be_understood_is_one_event():
    async with told() as scene:
        await scene.rise(cluster())
        await scene.change(**nodes(login={"k8sNodeFilterName": "nowhere"}))
        await clock.sleep(HALF_AN_HOUR_S)
        (event,) = said(scene)
        assert event.startswith("SpecInvalid: ")
        assert "there is no filter 'nowhere'" in event


async def test_a_part_that_does_not_get_ready_is_told_once_after_ten_minutes():
    async with told() as scene:
        scene.toys.stuck = True
        scene.process()
        await scene.make(cluster())
        await clock.sleep(540)
        assert said(scene) == []
        await clock.sleep(HALF_AN_HOUR_S)
        (event,) = said(scene)
        assert event.startswith("NotReadyForLong: not ready for more than 10 minutes: ")
        assert "ControllersAvailable: RootFilling: the shared root is being filled" in event
