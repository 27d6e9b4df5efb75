"""The exporter on a real Slurm and on the fake: what it tells, and what it tells when Slurm is ill.

`pytest tests/golden tests/contract/slurm/test_exporter.py --golden` writes the golden text anew.
"""

import re
import shlex
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.cli.local import settings
from shoal.exporter.settings import Origin
from shoal.exporter.sources import Budget
from shoal.runtime import clock
from shoal.slurmapi.peer import FRESH_S
from shoal.slurmapi.tokens import Static
from slurm_lab import Lab, provide
from slurm_lab.conf import SLURM, Conf
from slurm_lab.container import File
from slurm_lab.lab import Options

from .exporting import PLAIN, Exporting, exporting, samples
from .places import NEW, OLD, RealSlurm, Slurm, only_real

GOLDEN = Path(__file__).parents[2] / "golden/exporter"
FRESH = "slurm_exporter_collector_last_success_timestamp_seconds"


@pytest.fixture
async def exporter(slurm: Slurm) -> AsyncIterator[Exporting]:
    """Give an exporter that has collected once, of a cluster with a job that runs."""
    await slurm.running(required_nodes=["w-0"])
    async with exporting(slurm.url, slurm.signed()) as made:
        await made.collect()
        assert await made.failing() == {}
        yield made


async def fresh(exporter: Exporting) -> dict[str, float]:
    """Return when what is served of each collector was asked for."""
    return {labels["collector"]: at for labels, at in samples(await exporter.own(), FRESH)}


# -- what is told


async def test_nodes_jobs_and_slurmctlds_counters_are_told(exporter: Exporting) -> None:
    text = await exporter.scrape()
    nodes = {labels["node_name"] for labels, _ in samples(text, "slurm_node_info")}
    assert nodes == {"w-0", "w-1"}
    states = [labels["job_state"] for labels, _ in samples(text, "slurm_job_info")]
    assert "RUNNING" in states
    assert {labels["node_name"] for labels, _ in samples(text, "slurm_node_job")} >= {"w-0"}
    assert samples(text, "slurm_controller_rpc_calls_total")
    assert text == await exporter.scrape(packed=False)
    series = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(series)) == len(series)  # or Prometheus complains


async def test_a_job_that_ends_is_counted_once(slurm: Slurm, exporter: Exporting) -> None:
    def ended(text: str) -> float:
        return sum(count for _, count in samples(text, "slurm_job_outcomes_total"))

    assert ended(await exporter.scrape()) == 0
    (job,) = [
        int(labels["job_id"])
        for labels, _ in samples(await exporter.scrape(), "slurm_job_info")
        if labels["job_state"] == "RUNNING"
    ]
    await slurm.ask("DELETE", f"job/{job}")
    await slurm.eventually(lambda: slurm.state_of(job), lambda state: state == ["CANCELLED"])
    for _ in range(3):
        await exporter.collect()
    assert ended(await exporter.scrape()) == 1


@only_real
async def test_every_source_of_jobs_tells_the_same(slurm: Slurm) -> None:
    assert isinstance(slurm, RealSlurm)
    # Of a job without a limit squeue says no end while that is a year away, and then says one.
    hour = {"set": True, "number": 60}
    await slurm.running(required_nodes=["w-0"], name='a "b"|c', time_limit=hour)
    await slurm.submit(array="0-3", hold=True)
    inside = slurm.lab.containers["slurmctld"]
    squeue = shlex.join((*inside.space.words(), "chroot", f"{inside.inside}/root", "squeue"))
    told = []
    for chosen in (
        PLAIN,
        replace(PLAIN, budget=Budget(listed=0)),
        replace(PLAIN, squeue=tuple(shlex.split(squeue))),
        replace(PLAIN, origin=Origin.ACCOUNTING),
    ):
        async with exporting(slurm.url, slurm.signed(), chosen) as made:
            await made.collect()
            assert await made.failing() == {}
            told.append(live(await made.scrape()))
    first, *others = told
    assert len(first) == 2
    assert others == [first] * 3


def live(text: str) -> list[dict[str, str]]:
    """Return the jobs that wait or run, without what squeue does not know or writes otherwise."""
    # It has no mail addresses, and 24.11's does not put the job's number into the names of files.
    other = {"user_mail", "standard_output", "standard_error"}
    infos = (labels for labels, _ in samples(text, "slurm_job_info"))
    return sorted(
        (
            {name: v for name, v in labels.items() if name not in other}
            for labels in infos
            if labels["job_state"] in ("PENDING", "RUNNING")
        ),
        key=lambda labels: int(labels["job_id"]),
    )


# -- when Slurm is ill


@pytest.mark.parametrize("how", ["stop", "freeze"])
@pytest.mark.parametrize("daemon", ["slurmrestd", "slurmctld"])
async def test_without_slurm_the_last_good_state_is_served_and_said_to_be_old(
    slurm: Slurm, exporter: Exporting, daemon: str, how: str
) -> None:
    before, was = await exporter.scrape(), await fresh(exporter)
    await (slurm.stop if how == "stop" else slurm.freeze)(daemon)
    await clock.sleep(FRESH_S)  # until a ping goes first again
    await exporter.collect()
    assert await exporter.scrape() == before
    failing = await exporter.failing()
    assert set(failing) >= {"nodes", "jobs", "diag"}
    assert set(failing.values()) <= {"slurmrestd", "slurmctld", "timeout"}
    now = await fresh(exporter)
    assert all(now[name] == was[name] for name in failing)

    await (slurm.start if how == "stop" else slurm.thaw)(daemon)

    async def well() -> dict[str, str]:
        await exporter.collect()
        return await exporter.failing()

    await slurm.eventually(well, lambda failing: not failing)
    now = await fresh(exporter)
    assert all(now[name] > was[name] for name in was)


async def test_without_slurmdbd_all_but_accounting_goes_on(
    slurm: Slurm, exporter: Exporting
) -> None:
    was = await fresh(exporter)
    await slurm.stop("slurmdbd")
    await exporter.collect()
    assert await exporter.failing() == {"accounting": "slurmdbd"}
    now = await fresh(exporter)
    assert now["accounting"] == was["accounting"]
    assert now["jobs"] > was["jobs"]


async def test_a_token_that_is_not_taken_is_said_to_be_the_cause(slurm: Slurm) -> None:
    token = slurm.token(exp=1)  # long ago
    async with exporting(slurm.url, Static(token, "a test")) as made:
        await made.collect()
        assert await made.scrape() == ""
        failing = await made.failing()
    assert {failing[name] for name in ("nodes", "jobs", "diag")} == {"token"}


async def test_a_token_that_expires_leaves_the_last_good_state(slurm: Slurm) -> None:
    tokens = Changing(slurm.token())
    async with exporting(slurm.url, tokens) as made:
        await made.collect()
        before = await made.scrape()
        tokens.text = slurm.token(exp=1)
        await made.collect()
        assert (await made.scrape(), bool(before)) == (before, True)
        assert (await made.failing())["nodes"] == "token"


class Changing:
    """A token that is replaced by hand."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def header(self) -> dict[str, str]:
        """Return it."""
        return {"X-SLURM-USER-TOKEN": self.text}

    def forget(self) -> None:
        """Keep it."""


# -- a cluster that has no accounting


# Without slurmdbd there is nothing to enforce, and no word that says so.
NO_DATABASE = re.sub(
    "AccountingStorageEnforce=.*\n",
    "",
    Conf({"AccountingStorageType": "accounting_storage/none"}).text(),
)
# 24.11's slurmrestd does not start there with slurmdbd's paths; 26.05's leaves them out itself.
PLUGINS = {OLD: {"SLURMRESTD_OPENAPI_PLUGINS": "openapi/slurmctld"}, NEW: {}}


@pytest.fixture(params=[OLD, NEW])
def unaccounted(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a lab whose Slurm knows of no slurmdbd."""
    options = Options(1, slurmrestd_environment=PLUGINS[request.param])
    with Lab(provide(request.param, settings()), options) as lab:
        lab.stop("slurmdbd")
        for daemon in ("slurmctld", "slurmrestd"):
            lab.containers[daemon].write("/etc/slurm/slurm.conf", File(NO_DATABASE, SLURM, 0o644))
            lab.restart(daemon)
        yield lab


async def test_a_cluster_without_accounting_is_said_to_have_none_and_nothing_fails(
    unaccounted: Lab,
) -> None:
    slurm = RealSlurm(unaccounted.series, unaccounted.url, unaccounted.jwt_key, lab=unaccounted)
    async with exporting(slurm.url, slurm.signed()) as made:
        await made.collect()
        assert await made.failing() == {}
        absent = samples(await made.own(), "slurm_exporter_collector_absent")
        assert absent == [({"collector": "accounting"}, 1)]
        assert set(await fresh(made)) == {"nodes", "jobs", "diag"}


# -- the whole text, of a small cluster


CONF = Conf(
    {
        "GresTypes": "gpu",
        "AccountingStorageTRES": "gres/gpu",
        "SlurmdParameters": "config_overrides",
        "SelectTypeParameters": "CR_Core_Memory",
    },
    (
        "NodeName=c-0 CPUs=64 RealMemory=256000 Gres=gpu:8 State=CLOUD",
        "PartitionName=all Nodes=w-[0-1] Default=YES MaxTime=UNLIMITED State=UP",
        "PartitionName=gpu Nodes=c-0 MaxTime=UNLIMITED State=UP",
    ),
)


@pytest.fixture(params=[OLD, NEW])
def cluster(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Give a lab in which nothing has happened yet, with nodes whose size does not vary."""
    options = Options(2, CONF, "CPUs=2 RealMemory=1000")
    with Lab(provide(request.param, settings()), options) as lab:
        yield lab


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Say whether the golden text is written rather than compared."""
    return bool(request.config.getoption("golden", default=False))


async def test_the_text_of_a_small_cluster_is_as_it_was(cluster: Lab, *, rewrite: bool) -> None:
    slurm = RealSlurm(cluster.series, cluster.url, cluster.jwt_key, lab=cluster)
    async with exporting(slurm.url, slurm.signed()) as made:
        await made.collect()
        await happen(slurm)

        # slurmdbd hears of the ends a little later.
        async def told() -> float:
            await made.collect()
            return sum(v for _, v in samples(await made.scrape(), "slurm_ended_jobs_total"))

        await slurm.eventually(told, lambda count: count == 2)
        assert await made.failing() == {}
        text = masked(await made.scrape())
    golden = GOLDEN / f"metrics-{cluster.series}.txt"
    if rewrite:
        golden.write_text(text)
    assert text == golden.read_text()


async def happen(slurm: RealSlurm) -> None:
    """Let a job run, an array wait, two jobs end, and a node be drained."""
    more = {"memory_per_node": {"set": True, "number": 100}, "tasks": 1}
    names = {"standard_output": "/tmp/%j.out", "mail_user": "a@b.c"}
    await slurm.running(required_nodes=["w-0"], name='a "b"', **more, **names)
    await slurm.submit(array="0-3", hold=True, **more)
    for script in ("true", "false"):
        job = await slurm.submit(
            "bob", required_nodes=["w-1"], script=f"#!/bin/sh\n{script}\n", **more
        )
        await slurm.eventually(
            lambda job=job: slurm.state_of(job),  # type: ignore[misc]
            lambda state: state in (["COMPLETED"], ["FAILED"]),
        )
    await slurm.ask("POST", "node/w-1", {"state": ["DRAIN"], "reason": "disk is full"})


def masked(text: str) -> str:
    """Return a text without what differs from run to run: times, loads, counts of messages."""
    moving = (
        r"slurm_(controller|scheduler)_\w+", r"slurm_node_memory_free_bytes",
        r"slurm_\w+_seconds\w*",
    )  # fmt: skip
    lines = []
    for line in text.splitlines():
        name = re.split(r"[{ ]", line, maxsplit=1)[0]
        shown = re.sub(r'_time="\d{10}"', '_time="T"', line)
        shown = re.sub(r'address="[\d.]+"', 'address="A"', shown)
        if any(re.fullmatch(each, name) for each in moving):
            shown = re.sub(r" \S+$", " V", shown)
            shown = re.sub(r'(message_type|user|user_id)="\w+"', r'\1="*"', shown)
        if name == "slurm_job_duration_seconds":  # a job of less than a second has none
            shown = re.sub(r'job_id="\d+"', 'job_id="*"', shown)
        if not lines or lines[-1] != shown:
            lines.append(shown)
    return "".join(f"{line}\n" for line in lines)
