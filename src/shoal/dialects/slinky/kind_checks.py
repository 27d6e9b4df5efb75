"""What is checked of each kind of slinky.slurm.net. Pure.

Keys of a configuration that the operator writes are refused where another value would lose the
cluster's state or cut its daemons off, and doubted where it merely wins.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from ...kube.kinds import CONFIG_MAP, PERSISTENT_VOLUME_CLAIM
from ...slurm import conf
from ...slurm.reservations import FLAGS
from . import checks, defaults, naming, types
from .findings import Doubtful, Finding, Findings, Lookups, Unknown, Wrong
from .parts import ExternalConfig

NAME = "metadata.name"
TEMPLATE = "spec.template"
HOSTNAME = "spec.template.spec.hostname"

SLURM_CONF: Mapping[str, type[Finding]] = {
    **dict.fromkeys(
        ("ClusterName", "SlurmctldHost", "SlurmctldPort", "SlurmctldAddr", "StateSaveLocation"),
        Wrong,
    ),
    **dict.fromkeys(("SlurmUser", "AuthType", "CredType"), Wrong),
    **dict.fromkeys(
        ("AccountingStorageType", "AccountingStorageHost", "AccountingStoragePort"), Doubtful
    ),
    **dict.fromkeys(("AuthAltTypes", "SlurmdPort", "SlurmdSpoolDir", "SlurmdUser"), Doubtful),
    **dict.fromkeys(("SlurmctldLogFile", "SlurmdLogFile", "SlurmSchedLogFile"), Doubtful),
}
SLURMDBD_CONF: Mapping[str, type[Finding]] = {
    **dict.fromkeys(("DbdHost", "DbdPort", "SlurmUser", "AuthType"), Wrong),
    **dict.fromkeys(("StorageType", "StorageHost", "StoragePort", "StorageLoc"), Wrong),
    **dict.fromkeys(("StorageUser", "StoragePass"), Wrong),
    **dict.fromkeys(("AuthAltTypes", "LogFile"), Doubtful),
}


# -- Controller

# It becomes a folder's name, and a part of table names, where case is lost (man slurm.conf).
_CLUSTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
CLUSTER_NAME_LENGTH = 40


def controller(obj: types.Controller, ask: Lookups) -> Findings:
    """Check a Controller."""
    spec, namespace = obj.spec, obj.metadata.namespace
    yield from _cluster_name(obj)
    yield from _keys(spec)
    yield from _controller_references(obj, ask)
    yield from _high_availability(obj, ask)
    if not spec.external and not spec.persistence.enabled:
        yield Doubtful(
            "spec.persistence.enabled",
            "without a volume, all jobs are lost whenever slurmctld's pod is replaced",
        )
    yield from checks.lines("spec.extraConf", spec.extra_conf, SLURM_CONF, conf.SLURM)
    yield from checks.service("spec.service", spec.service, "slurmctld", 6817)
    ours = {"slurmctld": "containers", "reconfigure": "initContainers", "logfile": "initContainers"}
    yield from checks.template(TEMPLATE, spec.template, ours, bare=False)
    for name in ours:
        yield from checks.container(f"spec.{name}", name, getattr(spec, name))
    yield from _metrics(spec.metrics)
    yield from checks.existing(
        types.ACCOUNTING,
        namespace,
        {"spec.accountingRef.name": spec.accounting_ref.name if spec.accounting_ref else ""},
        ask,
    )


def _cluster_name(obj: types.Controller) -> Findings:
    name = defaults.cluster_name(obj)
    field = "spec.clusterName"
    derived = "" if obj.spec.cluster_name else f" (it is {name!r} unless it is set)"
    if len(name) > CLUSTER_NAME_LENGTH:
        yield Wrong(field, f"must be {CLUSTER_NAME_LENGTH} characters or fewer{derived}")
    if not _CLUSTER_NAME.fullmatch(name):
        yield Wrong(field, f"{name!r} is no name; use letters, digits, _ and -{derived}")
    elif name != name.lower():
        yield Doubtful(field, f"Slurm will call it {name.lower()!r}: it has no upper-case names")


def _keys(spec: types.ControllerSpec | types.AccountingSpec) -> Findings:
    """Check what the schema checks too, for objects that came without a spec or by conversion."""
    if spec.external:
        if spec.external_config is None:
            yield Wrong("spec.externalConfig", "externalConfig must be set when external is true")
        else:
            yield from _address(spec.external_config)
        return
    if spec.slurm_key_ref is None:
        yield Wrong("spec.slurmKeyRef", "slurmKeyRef must be set when external is false")
    if defaults.signing_key(spec) is None:
        message = "jwtKeyRef or jwtHs256KeyRef must be set when external is false"
        yield Wrong("spec.jwtKeyRef", message)


def _address(where: ExternalConfig) -> Findings:
    field = "spec.externalConfig"
    yield from checks.words({f"{field}.host": ("SlurmctldHost", where.host)})
    if not where.host:
        yield Wrong(f"{field}.host", "is empty; say where the daemon runs")
    if not 0 < where.port <= 65535:
        yield Wrong(f"{field}.port", f"must be 1 to 65535, got {where.port}")


def _controller_references(obj: types.Controller, ask: Lookups) -> Findings:
    spec, namespace = obj.spec, obj.metadata.namespace
    lists = {
        "spec.configFileRefs": spec.config_file_refs,
        "spec.prologScriptRefs": spec.prolog_script_refs,
        "spec.epilogScriptRefs": spec.epilog_script_refs,
        "spec.prologSlurmctldScriptRefs": spec.prolog_slurmctld_script_refs,
        "spec.epilogSlurmctldScriptRefs": spec.epilog_slurmctld_script_refs,
    }
    single = {f"{field}[{n}]": r for field, refs in lists.items() for n, r in enumerate(refs or ())}
    yield from checks.references(namespace, {"spec.accountingRef": spec.accounting_ref, **single})
    for field, refs in lists.items():
        yield from checks.files(field, refs or (), namespace, ask)
    if spec.jwks_key_ref is not None:
        named = {"spec.jwksKeyRef.name": spec.jwks_key_ref.name}
        yield from checks.existing(CONFIG_MAP, namespace, named, ask)


RWX = "ReadWriteMany"
HA = f"slurm high availability (HA) mode requires existing PVC with an access mode of {RWX}"


def _high_availability(obj: types.Controller, ask: Lookups) -> Findings:
    spec = obj.spec
    field = "spec.persistence.existingClaim"
    if not spec.ha.enabled or spec.external:
        return
    claim = spec.persistence.existing_claim
    if not spec.persistence.enabled or not claim:
        yield Wrong(field, f"{HA}; name one here, or set spec.ha.enabled to false")
        return
    found = ask.find(PERSISTENT_VOLUME_CLAIM, obj.metadata.namespace, claim)
    if found is None or isinstance(found, Unknown):
        return
    modes = found.get("spec", {}).get("accessModes")
    if modes and RWX not in modes:  # none: the claim was read in brief
        yield Wrong(field, f"{HA}; {claim!r} has {', '.join(modes)}")


# Years, weeks and days have one length each for Prometheus.
_PROMETHEUS_MS = {
    "y": 31536000000, "w": 604800000, "d": 86400000, "h": 3600000, "m": 60000, "s": 1000, "ms": 1,
}  # fmt: skip
_PROMETHEUS = re.compile(types.DURATION)
_PIECE = re.compile(r"([0-9]+)(ms|[ywdhms])")


def _metrics(metrics: types.Metrics) -> Findings:
    field, monitor = "spec.metrics.serviceMonitor", metrics.service_monitor
    if monitor is None or not monitor.enabled:
        return
    if not metrics.enabled:
        yield Doubtful(f"{field}.enabled", "finds nothing while spec.metrics.enabled is false")
    yield from _scraped(field, monitor.interval, monitor.scrape_timeout)
    for number, one in enumerate(monitor.endpoints or ()):
        at = f"{field}.endpoints[{number}]"
        interval = one.interval or monitor.interval
        yield from _scraped(at, interval, one.scrape_timeout or monitor.scrape_timeout)
        if not one.path.startswith("/"):
            yield Wrong(f"{at}.path", f"{one.path!r} is no path; start it with /")


def _scraped(field: str, interval: str | None, timeout: str | None) -> Findings:
    for name, text in (("interval", interval), ("scrapeTimeout", timeout)):
        if text and not _PROMETHEUS.fullmatch(text):
            message = f"{text!r} is no duration; write it as 30s or 1m30s"
            yield Wrong(f"{field}.{name}", message)
            return
    if interval and timeout and _milliseconds(timeout) > _milliseconds(interval):
        yield Wrong(
            f"{field}.scrapeTimeout",
            f"{timeout} is longer than the interval, {interval}; shorten it",
        )


def _milliseconds(text: str) -> int:
    return sum(int(number) * _PROMETHEUS_MS[unit] for number, unit in _PIECE.findall(text))


# -- NodeSet

# Slurm takes these words for something else wherever a partition or nodes are named.
RESERVED = ("all", "default")
LONGEST_NUMBER = 5  # digits of a worker's number that must fit, whatever the replicas are now


def nodeset(obj: types.NodeSet, ask: Lookups) -> Findings:
    """Check a NodeSet."""
    spec = obj.spec
    yield from _of_a_controller(obj, ask)
    yield from checks.at_least(
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
    yield from checks.options("spec.extraConf", spec.extra_conf, "NodeName", _NODE)
    yield from checks.options(
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
        yield from checks.label(NAME, f"{name}-{'0' * digits}", "the pod")
    if hostname:
        yield from checks.label(HOSTNAME, f"{hostname}{'0' * digits}", "the hostname")


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
    yield from _share(f"{field}.rollingUpdate.maxUnavailable", most)
    scheduled = strategy.scheduled_update
    if scheduled is None:
        if strategy.type == "ScheduledUpdate":
            message = "scheduledUpdate.startTime and scheduledUpdate.duration are required"
            yield Wrong(f"{field}.scheduledUpdate", f"{message} when type is ScheduledUpdate")
        return
    at = f"{field}.scheduledUpdate"
    if scheduled.duration:
        yield from checks.lasting(f"{at}.duration", scheduled.duration, timedelta(minutes=1))
    if scheduled.start_time and not _is_time(scheduled.start_time):
        message = f"{scheduled.start_time!r} is no time; write it as 2030-01-31T20:00:00Z"
        yield Wrong(f"{at}.startTime", message)
    for number, flag in enumerate(scheduled.flags or ()):
        if flag.upper() not in FLAGS:
            yield Doubtful(f"{at}.flags[{number}]", f"{flag!r} is no flag that we know of Slurm's")


def _share(field: str, value: int | str) -> Findings:
    """Check a number of pods, or a share of them."""
    if isinstance(value, int):
        if value < 1:
            yield Wrong(field, f"maxUnavailable must be > 0, got {value}")
    elif not re.fullmatch(r"[0-9]+%", value):
        yield Wrong(field, f"{value!r} is neither a number nor a share; write it as 2 or 25%")
    elif int(value[:-1]) == 0:
        yield Wrong(field, f"maxUnavailable must be > 0, got {value}")


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
            yield from checks.label(f"{field}[{number}].metadata.name", name, "the volume")


# -- LoginSet


def loginset(obj: types.LoginSet, ask: Lookups) -> Findings:
    """Check a LoginSet."""
    spec = obj.spec
    yield from _of_a_controller(obj, ask)
    if not spec.sssd_conf_ref.name:
        yield Wrong("spec.sssdConfRef.name", "is empty; name the Secret with sssd.conf")
    yield from checks.at_least(0, {"spec.replicas": spec.replicas})
    yield from checks.service("spec.service", spec.service, "login", 22)
    ours = {"login": "containers", "initconf": "initContainers"}
    yield from checks.template(TEMPLATE, spec.template, ours, bare=False)
    for name in ours:
        yield from checks.container(f"spec.{name}", name, getattr(spec, name))
    if spec.strategy is not None:
        yield from _strategy(spec.strategy)


def _strategy(strategy: types.Strategy) -> Findings:
    field = "spec.strategy"
    if (strategy.type or "RollingUpdate") not in ("RollingUpdate", "Recreate"):
        yield Wrong(f"{field}.type", f"{strategy.type!r} is none; use RollingUpdate or Recreate")
    rolling = strategy.rolling_update
    if rolling is None:
        return
    if strategy.type == "Recreate":
        yield Wrong(f"{field}.rollingUpdate", "goes with type RollingUpdate only; take it out")
    if rolling.max_surge in (0, "0%", "0") and rolling.max_unavailable in (0, "0%", "0"):
        message = "and maxSurge are both 0, so no pod could ever be replaced; raise one"
        yield Wrong(f"{field}.rollingUpdate.maxUnavailable", message)


# -- Accounting, RestApi, Token


def accounting(obj: types.Accounting, ask: Lookups) -> Findings:
    """Check an Accounting."""
    spec = obj.spec
    yield from _keys(spec)
    storage = spec.storage_config
    field = "spec.storageConfig"
    if storage is not None:
        yield from checks.words(
            {
                f"{field}.host": ("StorageHost", storage.host),
                f"{field}.database": ("StorageLoc", storage.database),
                f"{field}.username": ("StorageUser", storage.username),
            }
        )
        yield from checks.ports({f"{field}.port": storage.port})
        if not spec.external and not storage.host:
            yield Wrong(f"{field}.host", "is empty; name the host of the database")
    elif not spec.external:
        yield Wrong(field, "is missing; say where the database is, or set spec.external")
    yield from checks.lines(
        "spec.extraConf", spec.extra_conf, SLURMDBD_CONF, conf.GRAMMARS["slurmdbd.conf"]
    )
    yield from checks.service("spec.service", spec.service, "slurmdbd", 6819)
    yield from checks.template(TEMPLATE, spec.template, {"slurmdbd": "containers"}, bare=False)
    yield from checks.container("spec.slurmdbd", "slurmdbd", spec.slurmdbd)


def restapi(obj: types.RestApi, ask: Lookups) -> Findings:
    """Check a RestApi."""
    spec = obj.spec
    yield from _of_a_controller(obj, ask)
    yield from checks.at_least(0, {"spec.replicas": spec.replicas})
    yield from checks.service("spec.service", spec.service, "slurmrestd", 6820)
    yield from checks.template(TEMPLATE, spec.template, {"slurmrestd": "containers"}, bare=False)
    yield from checks.container("spec.slurmrestd", "slurmrestd", spec.slurmrestd)


def token(obj: types.Token, ask: Lookups) -> Findings:
    """Check a Token."""
    spec, namespace = obj.spec, obj.metadata.namespace
    key = defaults.signing_key(spec)
    if key is None:
        yield Wrong("spec.jwtKeyRef", "jwtKeyRef or jwtHs256KeyRef must be set")
    if not spec.username:
        yield Wrong("spec.username", "is empty; name a user of Slurm")
    elif spec.secret_ref is None:
        name = naming.token_secret(obj.metadata.name, spec.username)
        for found in checks.subdomain("spec.username", name, "the Secret"):
            yield Wrong(found.field, f"{found.message}; or name one in spec.secretRef")
    elif key is not None and spec.secret_ref.name == key.name:
        message = f"{key.name!r} holds the key; the token would be written over it"
        yield Wrong("spec.secretRef.name", f"{message}, so name another Secret")
    old = spec.jwt_hs256_key_ref
    if old is not None and old.namespace and old.namespace != namespace:
        message = f"is {old.namespace!r}, and only {namespace!r} is allowed; copy the Secret"
        yield Wrong("spec.jwtHs256KeyRef.namespace", message)
    if spec.lifetime:
        yield from checks.lasting("spec.lifetime", spec.lifetime, timedelta(seconds=1))


def _of_a_controller(obj: types.NodeSet | types.LoginSet | types.RestApi, ask: Lookups) -> Findings:
    ref, namespace = obj.spec.controller_ref, obj.metadata.namespace
    yield from checks.references(namespace, {"spec.controllerRef": ref})
    named = {"spec.controllerRef.name": ref.name}
    yield from checks.existing(types.CONTROLLER, namespace, named, ask)
