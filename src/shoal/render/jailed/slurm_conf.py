"""slurm.conf of a cluster with a shared root, line by line in the order that its users know. Pure.

The user's own lines are in custom_slurm.conf, which is read last, and of most keys the last counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...model.accounting import ManagedAccounting
from ...model.cluster import SLURMCTLD_PORT, Cluster
from ...model.controller import ManagedController
from ...model.jail import Jail
from ...model.settings import Keys
from ...slurm import conf
from ...slurm.conf import Comment, Include, Line, Setting, Written, setting
from .. import slurm_conf as others
from ..sections import section
from . import partitions

STATE = "/var/spool/slurmctld"
CUSTOM = "custom_slurm.conf"
CUSTOM_SOURCE = "customSlurmConfig"
# Where entrypoints put what they find at /mnt/rest-jwt-key, for its owner alone.
JWT_KEY = f"{STATE}/jwt_hs256.key"
TRIAL_JWT_KEY = "/etc/slurm/jwt.key"
RESUME_TIMEOUT_S = 1800
# How nodes lie in the network; with one of these slurmctld ends where there is no topology.conf.
_OF_TOPOLOGY = frozenset({"topologyplugin", "topologyparam"})
_DESCRIBED = frozenset({"topology/tree", "topology/block"})
_NOT_TRIED = frozenset(
    {
        "slurmctldhost",
        "slurmctldaddr",
        "slurmctldport",
        "slurmctldpidfile",
        "slurmctldlogfile",
        "slurmschedlogfile",
        "slurmctlddebug",
        "slurmctldsyslogdebug",
        "statesavelocation",
        "authalttypes",
        "authaltparameters",
        "accountingstoragetype",
    }
)


def slurm_conf(cluster: Cluster, jail: Jail) -> str:
    """Return slurm.conf."""
    return conf.write((*ours(cluster, jail), Include(CUSTOM)))


def custom_conf(cluster: Cluster, jail: Jail) -> str:
    """Return the user's lines, and the options that both of us set, united."""
    extra = cluster.config.extra
    if not extra.strip():
        # Of an empty file every command of Slurm's says that it is empty.
        return conf.write([Comment("customSlurmConfig has no lines")])
    theirs = conf.parse(extra, source=CUSTOM_SOURCE)
    mine = [line for line in ours(cluster, jail) if isinstance(line, Setting)]
    told = extra if extra.endswith("\n") else f"{extra}\n"
    return told + conf.write(section("MERGED CONFIG", conf.merged(mine, theirs)))


def tried(cluster: Cluster, jail: Jail, host: str) -> str:
    """Return slurm.conf as a slurmctld on `host` tries it, without touching anything in use."""
    theirs = conf.parse(cluster.config.extra, source=CUSTOM_SOURCE)
    mine = [line for line in ours(cluster, jail) if isinstance(line, Setting)]
    kept = [_harmless(line) for line in (*mine, *theirs) if not _left_out(line)]
    own = [
        setting("SlurmctldHost", host),
        setting("SlurmctldPort", others.TRIAL_PORT),
        setting("StateSaveLocation", STATE),
        setting("AccountingStorageType", "accounting_storage/none"),
    ]
    if cluster.keys.jwt is not None:
        own.append(setting("AuthAltTypes", "auth/jwt"))
        own.append(setting("AuthAltParameters", f"jwt_key={TRIAL_JWT_KEY}"))
    united = [line for line in conf.merged(mine, theirs) if not _left_out(line)]
    return conf.write((*own, *kept, *united))


def ours(cluster: Cluster, jail: Jail) -> tuple[Written, ...]:
    """Return our lines."""
    return tuple(line for lines in _TABLE for line in lines(cluster, jail))


# -- a trial


def _left_out(line: Line) -> bool:
    key = line.key.lower() if isinstance(line, Setting) else ""
    return key in _NOT_TRIED or key.startswith("accountingstorage")


def _harmless(line: Line) -> Line:
    """Return a line whose nodes nobody asks, and which needs no accounting."""
    if not isinstance(line, Setting):
        return line
    match line.key.lower():
        case "nodename":
            # Neither looked up nor asked: another slurmctld has their jobs.
            dropped = {"nodeaddr", "nodehostname", "state", "port"}
            left = tuple(pair for pair in line.pairs if pair[0].lower() not in dropped)
            return replace(line, pairs=(*left, ("State", "FUTURE")))
        case "partitionname":
            qos = {"qos", "allowqos", "denyqos"}
            return replace(line, pairs=tuple(p for p in line.pairs if p[0].lower() not in qos))
        case _:
            return line


# -- ours


def _told(keys: Keys, source: str) -> list[Setting]:
    return [setting(key, value, source=source) for key, value in keys if value != ""]


def _who(cluster: Cluster, _: Jail) -> list[Setting]:
    hosts = [
        setting("SlurmctldHost", f"{pod}({service_name(cluster)})")
        for pod, _ in cluster.controllers
    ]
    return [
        setting("ClusterName", cluster.slurm_name, source="metadata.name"),
        *hosts,
        setting("AuthType", "auth/munge"),
        setting("CredType", "cred/munge"),
    ]


def service_name(cluster: Cluster) -> str:
    """Return the Service by which slurmctld is found, from its own pod and from all others."""
    controller = cluster.controller
    return controller.names.service if isinstance(controller, ManagedController) else ""


def _settings(_: Cluster, jail: Jail) -> list[Setting]:
    keys, topology = jail.settings.slurm, jail.settings.topology
    unknown = not topology and any(value in _DESCRIBED for _, value in keys)
    dropped = _OF_TOPOLOGY if unknown else frozenset()
    return _told(tuple(pair for pair in keys if pair[0].lower() not in dropped), "slurmConfig")


def _plugins(_: Cluster, jail: Jail) -> list[Setting]:
    return [
        *([setting("GresTypes", "gpu")] if jail.gpu else ()),
        setting("MpiDefault", "pmix"),
        setting("MailProg", "/usr/bin/true"),
        setting("PluginDir", "/usr/lib/slurm"),
        setting("ProctrackType", "proctrack/cgroup"),
        setting("ReturnToService", 2),
    ]


def _daemons(cluster: Cluster, _: Jail) -> list[Setting]:
    metrics = others.serves_metrics(cluster)
    return [
        setting("SlurmctldPidFile", "/var/run/slurmctld.pid"),
        setting("SlurmctldPort", _slurmctld_port(cluster)),
        *([setting("MetricsType", "metrics/openmetrics")] if metrics else ()),
        setting("SlurmdPidFile", "/var/run/slurmd.pid"),
        setting("SlurmdPort", _slurmd_port(cluster)),
        setting("SlurmdSpoolDir", "/var/spool/slurmd"),
        setting("SlurmUser", cluster.slurm_user),
        setting("StateSaveLocation", STATE),
        setting("TaskPlugin", "task/cgroup,task/affinity"),
        setting("CliFilterPlugins", "cli_filter/user_defaults"),
        setting("LaunchParameters", "use_interactive_step"),
        setting("ScronParameters", "enable,explicit_scancel"),
        setting("PropagateResourceLimits", "NONE"),
        setting("SchedulerParameters", "nohold_on_prolog_fail,extra_constraints"),
    ]


def _slurmctld_port(cluster: Cluster) -> int:
    controller = cluster.controller
    return controller.service.port if isinstance(controller, ManagedController) else SLURMCTLD_PORT


def _slurmd_port(cluster: Cluster) -> int:
    # A static node's own line says another one where it has it.
    ports = {nodeset.jailed.port for nodeset in cluster.nodesets if nodeset.jailed}
    return ports.pop() if len(ports) == 1 else others.SLURMD_PORT


def _health(_: Cluster, jail: Jail) -> list[Setting]:
    health = jail.settings.health
    if health is None:
        return []
    source = "healthCheckConfig"
    return [
        setting("HealthCheckInterval", health.interval_s, source=source),
        setting("HealthCheckProgram", health.program, source=source),
        setting("HealthCheckNodeState", ",".join(health.states), source=source),
    ]


def _times(_: Cluster, jail: Jail) -> list[Setting]:
    said = {key.lower() for key, _ in jail.settings.slurm}
    resume = [] if "resumetimeout" in said else [setting("ResumeTimeout", RESUME_TIMEOUT_S)]
    return [
        setting("InactiveLimit", 0),
        setting("KillOnBadExit", 1),
        setting("KillWait", 180),
        setting("UnkillableStepTimeout", 600),
        setting("SlurmctldTimeout", 180),
        setting("SlurmdTimeout", 180),
        setting("TCPTimeout", 15),
        setting("WaitTime", 0),
        setting("SlurmctldParameters", "conmgr_max_connections=512,conmgr_threads=16"),
        setting("RebootProgram", "/opt/bin/slurm/reboot.sh"),
        *resume,
    ]


def _scheduling(cluster: Cluster, _: Jail) -> list[Setting]:
    return [
        setting("SchedulerType", "sched/backfill"),
        setting("SelectType", "select/cons_tres"),
        setting("SelectTypeParameters", "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK"),
        setting("SlurmctldDebug", "verbose"),
        # In the foreground daemons log to their standard error, which is where Kubernetes looks.
        setting("SlurmctldLogFile", "/dev/null"),
        setting("SlurmdDebug", "verbose"),
        setting("SlurmdLogFile", "/dev/null"),
        setting("DebugFlags", "Script"),
        setting("MaxNodeCount", _room(cluster)),
        setting("MaxArraySize", 1024),
        setting("JobRequeue", 1),
        setting("PreemptMode", "REQUEUE"),
        setting("PreemptType", "preempt/partition_prio"),
    ]


def _room(cluster: Cluster) -> int:
    # Workers that are down for maintenance come back.
    every = tuple(
        replace(one, replicas=max(one.replicas, one.jailed.listed)) if one.jailed else one
        for one in cluster.nodesets
    )
    return others.max_nodes(replace(cluster, nodesets=every))


def _accounting(cluster: Cluster, jail: Jail) -> list[Written]:
    books = cluster.accounting
    if not isinstance(books, ManagedAccounting):
        return []
    host = f"{books.host}.svc.{cluster.domain}"
    made: list[Written] = [
        Comment(""),
        Comment("ACCOUNTING"),
        setting("AccountingStorageType", "accounting_storage/slurmdbd"),
        setting("AccountingStorageHost", host),
        setting("AccountingStoragePort", books.port),
        setting("JobCompType", "jobcomp/none"),
        *_told(jail.settings.accounting, "accounting.slurmConfig"),
    ]
    return made


def _tokens(cluster: Cluster, _: Jail) -> list[Setting]:
    if cluster.keys.jwt is None:
        return []
    return [
        setting("AuthAltTypes", "auth/jwt"),
        setting("AuthAltParameters", f"jwt_key={JWT_KEY}"),
    ]


Render = Callable[[Cluster, Jail], Sequence[Written]]

_TABLE: Sequence[Render] = (
    _who,
    _settings,
    _plugins,
    _daemons,
    _health,
    _times,
    _scheduling,
    partitions.lines,
    _accounting,
    _tokens,
)
