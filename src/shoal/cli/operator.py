"""`shoal operator`: argv and environment to options, and run.

The flags and variables have the names that users of either upstream operator know.
"""

import asyncio
import gc
import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ..controllers.operator import DIALECTS, NAME, Options, Webhooks, run
from ..controllers.slinky_reader import Settings
from ..dialects.nebius import types as nebius
from ..dialects.slinky.types import KINDS, NODE_SET
from ..kube import kinds
from ..kube.kinds import Kind
from ..kubeapi.access import Access, AccessError, from_kubeconfig, in_cluster
from ..runtime.logs import set_up, style

# The images of ours that stand in where an object names none.
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "login", "rest_slurmrestd")
MARIADB = "mariadb", "11.8"  # whose releases are not Slurm's
# What slurm.nebius.ai's operator calls its controllers. Not all do anything here.
CONTROLLERS = ("cluster", "nodeconfigurator", "nodeset", "rollingupdate", "topology")
# Kinds of others that are used where they are installed -> the switch that leaves them alone.
USED: Mapping[str, tuple[Kind, ...]] = {
    "use_mariadb_operator": (kinds.MARIADB, kinds.GRANT),
    "use_prometheus_operator": (kinds.POD_MONITOR, kinds.SERVICE_MONITOR),
    "use_security_profiles_operator": (kinds.APP_ARMOR_PROFILE,),
}
GARBAGE = 10_000  # objects that come before those that went are looked for
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
        ("--dialects",),
        "SHOAL_DIALECTS",
        "",
        f"The APIs that it understands, parted by commas ({', '.join(DIALECTS)}); none: those "
        "whose kinds are installed.",
    ),
    (
        ("--controllers",),
        "SLURM_OPERATOR_CONTROLLERS",
        "",
        "The controllers of slurm.nebius.ai that run, parted by commas: `a,b` only these, `-a` all "
        f"but this; none or *: all. They are {', '.join(CONTROLLERS)}.",
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
    (
        ("--webhook-namespace",),
        None,
        "",
        "The namespace of that Service; by default the one that the operator runs in.",
    ),
    (
        ("--webhook-configuration",),
        None,
        NAME,
        "The name of the webhook configurations, in which we fill in whom to trust.",
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
        ("--propagated-node-conditions",),
        None,
        "",
        "Conditions of nodes, parted by commas, that are the reason when a node is drained.",
    ),
    (("--cache-sync-timeout",), None, "2m", "No effect: who cannot list tries again."),
    (("--profile-addr",), None, "localhost:6060", "Where profiles are served, if they are."),
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
    (
        "--profile/--no-profile",
        None,
        False,
        "Serve profiles, to whoever asks: where the time and the memory go, what is under way.",
    ),
    (
        "--use-mariadb-operator/--no-use-mariadb-operator",
        "IS_MARIADB_CRD_INSTALLED",
        True,
        "Have mariadb-operator run databases, where it is installed and asked for.",
    ),
    (
        "--use-prometheus-operator/--no-use-prometheus-operator",
        "IS_PROMETHEUS_CRD_INSTALLED",
        True,
        "Tell the Prometheus operator of what can be scraped, where it is installed.",
    ),
    (
        "--use-security-profiles-operator/--no-use-security-profiles-operator",
        "IS_APPARMOR_CRD_INSTALLED",
        True,
        "Have the security profiles operator load AppArmor profiles, where it is installed.",
    ),
    ("--enable-http2/--no-enable-http2", None, False, "Known to both upstreams; no effect."),
    (
        "--enable-topology-controller/--no-enable-topology-controller",
        None,
        False,
        "No effect: see --controllers.",
    ),
)
# Flags with a number that users of an upstream operator know, and why they have no effect.
IDLE: tuple[tuple[str, str], ...] = (
    ("--slurmclient-workers", "No effect: a client of Slurm is opened when it is needed."),
)


def flags() -> Decorated:
    """Add all flags to a command."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for flag, words in reversed(IDLE):
            command = click.option(flag, type=click.IntRange(min=1), help=words)(command)
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
    # What is here now stays, and a pass over many workers makes thousands of objects that do not
    # outlive it: neither is worth looking through.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)
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
        profile=given["profile_addr"] if given["profile"] else "0",
        webhooks=_webhooks(given),
        settings=_settings(given),
        dialects=dialects(given["dialects"]),
    )


def _settings(given: Mapping[str, Any]) -> Settings:
    every = given["max_concurrent_reconciles"]
    workers = {kind: given[f"{kind.plural[:-1]}_workers"] or every for kind in KINDS}
    workers |= {nebius.SLURM_CLUSTER: every, nebius.NODE_SET: workers[NODE_SET]}
    return Settings(
        images=images(given["image_registry"], given["image_tag"]),
        domain=given["cluster_domain"] or domain(_resolver()),
        shown=frozenset(_listed(given["propagated_node_conditions"])),
        workers=workers,
        unused=frozenset(
            kind for switch, several in USED.items() if not given[switch] for kind in several
        ),
        controllers=controllers(given["controllers"]),
    )


def dialects(text: str) -> tuple[str, ...]:
    """Return the dialects that are named; none: nobody says."""
    named = _listed(text)
    if unknown := [name for name in named if name not in DIALECTS]:
        raise ValueError(f"--dialects: {unknown[0]!r} is none; they are {', '.join(DIALECTS)}")
    return named


def controllers(text: str) -> frozenset[str] | None:
    """Return the controllers that are chosen; None: all of them."""
    named = [word.lower() for word in _listed(text)]
    bare = {word.removeprefix("-").strip() for word in named} - {"*"}
    if unknown := sorted(bare - {*CONTROLLERS}):
        raise ValueError(
            f"--controllers: {unknown[0]!r} is none; they are {', '.join(CONTROLLERS)}"
        )
    wanted = {word for word in named if not word.startswith("-")}
    without = {word.removeprefix("-").strip() for word in named if word.startswith("-")}
    if not wanted - {"*"}:
        return frozenset({*CONTROLLERS} - without) if without else None
    return frozenset((wanted if "*" not in wanted else {*CONTROLLERS}) - without)


def _access(kubeconfig: str, environment: Mapping[str, str]) -> Access:
    if kubeconfig:
        return from_kubeconfig(Path(kubeconfig), environment)
    return in_cluster(environment)


def _webhooks(given: Mapping[str, Any]) -> Webhooks:
    folder = Path(given["cert_dir"]) if given["cert_dir"] else None
    address = given["server_addr"] if given["enable_webhooks"] else "0"
    return Webhooks(
        address=address,
        service=given["webhook_service"],
        namespace=given["webhook_namespace"],
        configuration=given["webhook_configuration"],
        secret=given["webhook_secret"],
        folder=folder,
    )


def _namespaces(text: str) -> tuple[str, ...]:
    named = _listed(text)
    return () if "*" in named else named


def _listed(text: str) -> tuple[str, ...]:
    words = (word.strip() for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


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
    tags = dict([*((name, tag) for name in PROGRAMS), MARIADB])
    return {name: f"{registry.rstrip('/')}/{name}:{tag_}" for name, tag_ in tags.items()}
