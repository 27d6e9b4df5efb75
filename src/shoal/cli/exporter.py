"""`shoal exporter`: argv and environment to settings, and run.

The flags and variables have the names that users of the upstream exporter know. What it takes to
run is imported by who runs it.
"""

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import structlog

if TYPE_CHECKING:
    from ..exporter.settings import Identity, Settings
    from ..kubeapi.access import Access

log = structlog.get_logger()

PREFIX = "SLURM_EXPORTER_"
# Where a variable is not called as its flag is.
VARIABLES = {"static-token": "TOKEN"}
ALL = "nodes,jobs,diag,topology,accounting"

# Flag, type or default, help. A default of None must be given.
FLAGS: tuple[tuple[str, Any, str], ...] = (
    ("cluster-name", None, "The name of the Slurm cluster's object."),
    ("cluster-namespace", "soperator", "The namespace that it is in."),
    ("slurm-api-server", "http://localhost:6820", "Where slurmrestd answers."),
    ("metrics-bind-address", ":8080", "Where Slurm's metrics and /health are served; 0: nowhere."),
    ("monitoring-bind-address", ":8081", "Where the exporter's own are served; 0: nowhere."),
    ("collection-interval", "30s", "How often each collector runs."),
    ("max-collector-inflight", 1, "How many runs of one collector may be under way."),
    ("collectors", ALL, "Which collectors run, parted by commas. Without slurmdbd: no accounting."),
    (
        "job-source",
        ("controller", "accounting"),
        "accounting: also jobs that slurmctld has forgotten, as slurmdbd knows them.",
    ),
    ("accounting-jobs-lookback", "1h", "How long those stay, after their end."),
    ("squeue-path", "", "A squeue, with words before it if need be, that tells of jobs."),
    (
        "job-series",
        ("on", "sampled", "off"),
        "Whether each job has series of its own, one in some, or none.",
    ),
    ("job-series-sample", 10, "Of a sample: one in how many."),
    ("slurm-user", "root", "As whom slurmrestd is asked."),
    ("static-token", "", "A token that somebody else makes and renews."),
    ("scontrol-path", "scontrol", "The scontrol that makes tokens, standalone."),
    ("key-rotation-interval", "30m", "How long a key or a token of scontrol's is used."),
    ("jwt-secret", "", "The Secret with Slurm's JWT key; by default <cluster-name>-rest-jwt-key."),
    ("jwt-secret-key", "rest_jwt.key", "Which of its keys."),
    ("kubeconfig-path", "", "How to reach Kubernetes, outside of it."),
    ("worker-selector", "", "The labels of the workers' pods; by default those of the cluster."),
    ("nodeset-label", "slurm.nebius.ai/nodeset", "The label that names a pod's NodeSet."),
    (
        "nvlink-label",
        "topology.nebius.com/nvl-instance-group-id",
        "The label that names a machine's NVLink group.",
    ),
    ("log-format", "json", "json or plain."),
    ("log-level", "debug", "debug, info, warn or error."),
)
SWITCHES: tuple[tuple[str, str], ...] = (
    ("standalone", "Ask scontrol for tokens, and no Kubernetes for anything."),
    ("no-token", "Send none: slurmrestd knows its callers otherwise."),
)


def flags() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add all flags to a command."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for name, words in reversed(SWITCHES):
            made = click.option(f"--{name}", is_flag=True, envvar=variable(name), help=words)
            command = made(command)
        for name, told, words in reversed(FLAGS):
            command = click.option(f"--{name}", **_kind(told), envvar=variable(name), help=words)(
                command
            )
        return command

    return decorate


def variable(name: str) -> str:
    """Return the environment variable of a flag."""
    return PREFIX + VARIABLES.get(name, name.upper().replace("-", "_"))


def _kind(told: Any) -> dict[str, Any]:  # noqa: ANN401 - as the table says
    match told:
        case None:
            return {"required": True}
        case tuple():
            return {"type": click.Choice(told), "default": told[0], "show_default": True}
        case int():
            return {"type": click.IntRange(min=1), "default": told, "show_default": True}
        case _:
            return {"default": told, "show_default": bool(told)}


@click.command()
@flags()
def exporter(**given: Any) -> None:  # noqa: ANN401 - as the tables say
    """Tell Prometheus of a Slurm cluster: nodes, jobs, slurmctld's own counters."""
    from ..exporter.process import run  # noqa: PLC0415 - so that no other command pays for it
    from ..kubeapi.access import AccessError  # noqa: PLC0415
    from ..runtime.logs import set_up, style  # noqa: PLC0415

    try:
        set_up(style(given["log_level"], given["log_format"]))
        chosen, access = reach(settings(given), given["kubeconfig_path"], os.environ)
    except (AccessError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    asyncio.run(run(chosen, access))


def settings(given: Mapping[str, Any]) -> "Settings":
    """Return what was given, understood; a ValueError says what was not."""
    from ..exporter import settings as words  # noqa: PLC0415
    from ..exporter.catalogue import Collector  # noqa: PLC0415
    from ..exporter.collect import Pace  # noqa: PLC0415
    from ..exporter.jobs import JobSeries, Sampling  # noqa: PLC0415

    wanted = words.collectors(given["collectors"])
    # Said to be alone, it does not even look for a Kubernetes.
    if given["standalone"] and not given["kubeconfig_path"]:
        wanted = tuple(one for one in wanted if one is not Collector.TOPOLOGY)
    interval = words.duration(given["collection_interval"])
    lookback = words.duration(given["accounting_jobs_lookback"])
    if not interval or not lookback:
        raise ValueError("--collection-interval and --accounting-jobs-lookback: more than 0s")
    return words.Settings(
        cluster=given["cluster_name"],
        url=given["slurm_api_server"],
        namespace=given["cluster_namespace"],
        user=given["slurm_user"],
        identity=_identity(given),
        metrics=given["metrics_bind_address"],
        monitoring=given["monitoring_bind_address"],
        collectors=wanted,
        pace=Pace(interval.total_seconds(), given["max_collector_inflight"]),
        origin=words.Origin(given["job_source"]),
        lookback=lookback,
        squeue=tuple(shlex.split(given["squeue_path"])),
        sampling=Sampling(JobSeries(given["job_series"]), given["job_series_sample"]),
        worker_selector=given["worker_selector"],
        nodeset_label=given["nodeset_label"],
        group_label=given["nvlink_label"],
    )


def _identity(given: Mapping[str, Any]) -> "Identity":
    from ..exporter import settings as words  # noqa: PLC0415

    rotation = words.duration(given["key_rotation_interval"])
    if given["no_token"]:
        return words.NoToken()
    if given["static_token"]:
        return words.StaticToken(given["static_token"])
    if given["standalone"]:
        return words.ScontrolToken(given["scontrol_path"], rotation)
    secret = given["jwt_secret"] or f"{given['cluster_name']}-rest-jwt-key"
    return words.SecretToken(given["cluster_namespace"], secret, given["jwt_secret_key"], rotation)


def reach(
    chosen: "Settings", kubeconfig: str, environment: Mapping[str, str]
) -> "tuple[Settings, Access | None]":
    """Return how Kubernetes is reached, where it is asked; without it there is no topology."""
    from ..exporter.catalogue import Collector  # noqa: PLC0415
    from ..exporter.settings import SecretToken  # noqa: PLC0415
    from ..kubeapi.access import AccessError, from_kubeconfig, in_cluster  # noqa: PLC0415

    if not chosen.needs_kubernetes:
        return chosen, None
    try:
        if kubeconfig:
            return chosen, from_kubeconfig(Path(kubeconfig), environment)
        return chosen, in_cluster(environment)
    except AccessError as error:
        # Outside of Kubernetes a token is enough, and nobody there has asked for a topology.
        if kubeconfig or isinstance(chosen.identity, SecretToken):
            raise
        log.warning("no Kubernetes, so no topology", error=str(error))
        rest = tuple(one for one in chosen.collectors if one is not Collector.TOPOLOGY)
        return replace(chosen, collectors=rest), None
