"""What is checked of a NodeSet of slinky.slurm.net. Pure."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Wrong
from ...slurm.reservations import FLAGS
from .. import texts
from . import checks, defaults, kind_checks, types
from .checks import TEMPLATE

NAME = "metadata.name"
HOSTNAME = "spec.template.spec.hostname"

# Slurm takes these words for something else wherever a partition or nodes are named.
RESERVED = ("all", "default")
LONGEST_NUMBER = 5  # digits of a worker's number that must fit, whatever the replicas are now


def nodeset(obj: types.NodeSet, ask: Lookups) -> Findings:
    """Check a NodeSet."""
    spec = obj.spec
    yield from kind_checks.of_a_controller(obj, ask)
    yield from values.at_least(
        0,
        {
            "spec.replicas": spec.replicas,
            "spec.minReadySeconds": spec.min_ready_seconds,
            "spec.revisionHistoryLimit": spec.revision_history_limit,
            "spec.ordinalPadding": spec.ordinal_padding,
        },
    )
    yield from _worker_names(obj)
    yield from _other_nodesets(obj, ask)
    yield from texts.options("spec.extraConf", spec.extra_conf, "NodeName", _NODE)
    yield from texts.options(
        "spec.partition.config", spec.partition.config, "PartitionName", ("Nodes",)
    )
    ours = {"slurmd": "containers", "logfile": "initContainers"}
    yield from checks.template(TEMPLATE, spec.template, ours, bare=True)
    for name in ours:
        yield from checks.container(f"spec.{name}", name, getattr(spec, name))
    yield from _updates(spec.update_strategy)
    yield from _worker_logins(spec.ssh)
    yield from _claims(spec)
    if spec.taint_kube_nodes:
        yield Doubtful("spec.taintKubeNodes", "has no effect: the operator taints no nodes")


_NODE = ("NodeAddr", "NodeHostname", "Port")


def _worker_names(obj: types.NodeSet) -> Findings:
    hostname, name = defaults.hostname(obj), obj.metadata.name
    field = HOSTNAME if hostname else NAME
    if not isinstance(obj.spec.template.spec.get("hostname", ""), str):
        yield Wrong(HOSTNAME, "must be a text")
    slurm_name = defaults.slurm_name(obj)
    if slurm_name in RESERVED:
        yield Wrong(field, f"Slurm takes {slurm_name!r} for something else; choose another name")
    digits = max(LONGEST_NUMBER, obj.spec.ordinal_padding)
    if name:
        yield from values.label(NAME, f"{name}-{'0' * digits}", "the pod")
    if hostname:
        yield from values.label(HOSTNAME, f"{hostname}{'0' * digits}", "the hostname")


def _other_nodesets(obj: types.NodeSet, ask: Lookups) -> Findings:
    """Check that no two NodeSets of a cluster could have nodes of the same name in Slurm."""
    mine, slurm_name = defaults.hostname_prefix(obj), defaults.slurm_name(obj)
    field = HOSTNAME if defaults.hostname(obj) else NAME
    for other in _siblings(obj, ask):
        name, theirs = other.metadata.name, defaults.hostname_prefix(other)
        if defaults.slurm_name(other) == slurm_name:
            yield Wrong(
                field, f"NodeSet {name!r} is {slurm_name!r} in Slurm too; choose another name"
            )
        elif _numbered(obj) and _numbered(other) and _same_nodes(mine, theirs):
            yield Wrong(
                field,
                f"nodes {mine}<n> and {theirs}<n> of NodeSet {name!r} could have the same name;"
                " let it end in a dash",
            )


def _siblings(obj: types.NodeSet, ask: Lookups) -> Iterator[types.NodeSet]:
    owner = obj.spec.controller_ref.name
    for found in ask.every(types.NODE_SET, obj.metadata.namespace):
        other = msgspec.convert(found, types.NodeSet)
        # Also one that is being deleted: its nodes are there until their jobs have ended.
        if other.spec.controller_ref.name == owner and other.metadata.name != obj.metadata.name:
            yield other


def _numbered(obj: types.NodeSet) -> bool:
    """Say whether its nodes in Slurm are named by us, and not after those of Kubernetes."""
    alone = not obj.spec.template.spec.get("hostNetwork")
    return alone and obj.spec.scaling_mode != "DaemonSet"


def _same_nodes(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    rest = long.removeprefix(short)
    return long.startswith(short) and (rest == "" or rest.isdecimal())


def _updates(strategy: types.UpdateStrategy) -> Findings:
    field = "spec.updateStrategy"
    most = strategy.rolling_update.max_unavailable
    yield from values.share(f"{field}.rollingUpdate.maxUnavailable", most)
    scheduled = strategy.scheduled_update
    if scheduled is None:
        if strategy.type == "ScheduledUpdate":
            message = "scheduledUpdate.startTime and scheduledUpdate.duration are required"
            yield Wrong(f"{field}.scheduledUpdate", f"{message} when type is ScheduledUpdate")
        return
    at = f"{field}.scheduledUpdate"
    if scheduled.duration:
        yield from values.lasting(f"{at}.duration", scheduled.duration, timedelta(minutes=1))
    if scheduled.start_time and not _is_time(scheduled.start_time):
        message = f"{scheduled.start_time!r} is no time; write it as 2030-01-31T20:00:00Z"
        yield Wrong(f"{at}.startTime", message)
    for number, flag in enumerate(scheduled.flags or ()):
        if flag.upper() not in FLAGS:
            yield Doubtful(f"{at}.flags[{number}]", f"{flag!r} is no flag that we know of Slurm's")


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _worker_logins(ssh: types.Ssh | None) -> Findings:
    if ssh is not None and ssh.enabled and not (ssh.sssd_conf_ref and ssh.sssd_conf_ref.name):
        yield Wrong("spec.ssh.sssdConfRef.name", "is empty; name the Secret with sssd.conf")


def _claims(spec: types.NodeSetSpec) -> Findings:
    field, asked = "spec.volumeClaimTemplates", spec.volume_claim_templates
    if asked is not None and not isinstance(asked, list):
        yield Wrong(field, "must be a list of PersistentVolumeClaims")
        return
    names = set()
    for number, one in enumerate(asked or ()):
        meta = one.get("metadata") if isinstance(one, dict) else None
        name = meta.get("name") if isinstance(meta, dict) else None
        if not isinstance(name, str) or not name:
            yield Wrong(f"{field}[{number}].metadata.name", "is missing; name the claim")
        elif name in names:
            yield Wrong(f"{field}[{number}].metadata.name", f"{name!r} is there twice")
        else:
            names.add(name)
            yield from values.label(f"{field}[{number}].metadata.name", name, "the volume")
