"""`shoal operator`: argv and environment to options, and run.

The flags and variables have the names that users of either upstream operator know.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ..controllers import slinky
from ..controllers.operator import Options, Webhooks, run
from ..dialects.slinky.types import KINDS
from ..kubeapi.access import Access, AccessError, from_kubeconfig, in_cluster
from ..runtime.logs import set_up, style

# The images of ours that stand in where an object names none.
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "login")
Decorated = Callable[[Callable[..., None]], Callable[..., None]]

# Flags (the first is ours to document), variable, default, help.
FLAGS: tuple[tuple[tuple[str, ...], str | None, Any, str], ...] = (
    (("--kubeconfig",), "KUBECONFIG", "", "How to reach the API server, outside a cluster."),
    (
        ("--health-addr", "--health-probe-bind-address"),
        None,
        ":8081",
        "Where /healthz and /readyz are served; 0: nowhere.",
    ),
    (
        ("--metrics-addr", "--metrics-bind-address"),
        None,
        ":8080",
        "Where /metrics is served; 0: nowhere.",
    ),
    (("--server-addr",), None, ":9443", "Where webhooks are served; 0: nowhere."),
    (
        ("--leader-elect-namespace", "--operator-namespace"),
        "OPERATOR_NAMESPACE",
        "",
        "The namespace that the operator runs in; in a pod, the pod's.",
    ),
    (
        ("--namespaces",),
        "SLURM_OPERATOR_WATCH_NAMESPACES",
        "",
        "The namespaces that it looks after, parted by commas; none or *: all.",
    ),
    (
        ("--webhook-service",),
        None,
        "slurm-operator-webhook",
        "The Service by which the API server finds the webhooks.",
    ),
    (
        ("--webhook-secret",),
        None,
        "slurm-operator-webhook-ca",
        "The Secret with the webhooks' certificate, which we make and renew.",
    ),
    (("--cert-dir",), None, "", "A folder with a certificate that somebody else renews."),
    (
        ("--image-registry",),
        "SHOAL_IMAGE_REGISTRY",
        "",
        "Where images come from that an object does not name.",
    ),
    (("--image-tag",), "SHOAL_IMAGE_TAG", "26.05", "The tag of those images."),
    (
        ("--cluster-domain",),
        "CLUSTER_DOMAIN",
        "",
        "The domain of Services; by default what /etc/resolv.conf says.",
    ),
    (("--log-level", "--zap-log-level"), None, "info", "debug, info, warn or error."),
    (("--log-format",), None, "json", "json or plain."),
    (
        ("--max-concurrent-reconciles",),
        None,
        1,
        "Objects of each kind that are seen to at the same time.",
    ),
)
SWITCHES: tuple[tuple[str, str | None, bool, str], ...] = (
    ("--leader-elect/--no-leader-elect", "LEADER_ELECTION", True, "Have one of several lead."),
    (
        "--metrics-secure/--no-metrics-secure",
        None,
        False,
        "Give numbers only to those whom the API server allows to have them.",
    ),
    ("--enable-webhooks/--no-enable-webhooks", "ENABLE_WEBHOOKS", True, "Serve webhooks."),
    ("--enable-http2/--no-enable-http2", None, False, "Known to both upstreams; no effect."),
)


def flags() -> Decorated:
    """Add all flags to a command."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for kind in reversed(KINDS):
            flag, words = f"--{kind.plural[:-1]}-workers", f"The same, of {kind.kind} objects."
            command = click.option(flag, type=click.IntRange(min=1), help=words)(command)
        for name, variable, default, words in reversed(SWITCHES):
            command = click.option(
                name, envvar=variable, default=default, show_default=True, help=words
            )(command)
        for names, variable, default, words in reversed(FLAGS):
            kind_ = click.IntRange(min=1) if isinstance(default, int) else str
            shown = default not in ("", None)
            command = click.option(
                *names, envvar=variable, default=default, show_default=shown, type=kind_, help=words
            )(command)
        return command

    return decorate


@click.command()
@flags()
def operator(**given: Any) -> None:  # noqa: ANN401 - as the tables say
    """Run the operator: it keeps Slurm clusters as their objects ask for."""
    try:
        set_up(style(given["log_level"], given["log_format"]))
        options = _options(given, os.environ)
    except (AccessError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    # A deposed leader begins anew, as one that does not lead.
    sys.exit(0 if asyncio.run(run(options)) else 1)


def _options(given: Mapping[str, Any], environment: Mapping[str, str]) -> Options:
    access = _access(given["kubeconfig"], environment)
    namespace = given["leader_elect_namespace"] or access.namespace
    return Options(
        access=access,
        identity=f"{environment.get('POD_NAME') or socket.gethostname()}_{os.getpid()}",
        namespace=namespace,
        namespaces=_namespaces(given["namespaces"]),
        lead=given["leader_elect"],
        health=given["health_addr"],
        metrics=given["metrics_addr"],
        metrics_secure=given["metrics_secure"],
        webhooks=_webhooks(given),
        settings=slinky.Settings(
            images=images(given["image_registry"], given["image_tag"]),
            domain=given["cluster_domain"] or domain(_resolver()),
            workers={
                kind: given[f"{kind.plural[:-1]}_workers"] or given["max_concurrent_reconciles"]
                for kind in KINDS
            },
        ),
    )


def _access(kubeconfig: str, environment: Mapping[str, str]) -> Access:
    if kubeconfig:
        return from_kubeconfig(Path(kubeconfig), environment)
    return in_cluster(environment)


def _webhooks(given: Mapping[str, Any]) -> Webhooks:
    folder = Path(given["cert_dir"]) if given["cert_dir"] else None
    address = given["server_addr"] if given["enable_webhooks"] else "0"
    return Webhooks(address, given["webhook_service"], given["webhook_secret"], folder)


def _namespaces(text: str) -> tuple[str, ...]:
    named = [word.strip() for word in text.split(",")]
    return () if "*" in named else tuple(word for word in named if word)


def _resolver() -> str:
    try:
        return Path("/etc/resolv.conf").read_text()
    except OSError:
        return ""


def domain(resolver: str) -> str:
    """Return the domain of Services that a resolv.conf tells of."""
    for line in resolver.splitlines():
        words = line.split()
        for word in words[1:] if words[:1] == ["search"] else ():
            if word.startswith("svc."):
                return word.removeprefix("svc.").rstrip(".")
    return "cluster.local"


def images(registry: str, tag: str) -> Mapping[str, str]:
    """Return the image of each program, for objects that name none; none without a registry."""
    if not registry:
        return {}
    return {name: f"{registry.rstrip('/')}/{name}:{tag}" for name in PROGRAMS}
