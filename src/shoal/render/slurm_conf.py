"""slurm.conf and cgroup.conf. Pure.

Lines in `YIELDING` are defaults of ours: where the user sets the key, ours is left out. Everything
else is what the parts of a cluster need to find and trust each other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ..model.accounting import ExternalAccounting, ManagedAccounting
from ..model.cluster import SLURMCTLD_PORT, Cluster
from ..model.config import Config
from ..model.controller import ExternalController, Keys, ManagedController
from ..model.nodeset import Mode, NodeSet
from ..model.part import Files
from ..slurm import conf, gres
from ..slurm.conf import Line, Setting, setting
from ..slurm.keys import V25_11
from . import partitions, worker_conf
from .sections import section, with_extra

YIELDING = frozenset({"maxnodecount", "returntoservice", "grestypes", "prologflags"})
SOURCE = "extraConf"
SLURMD_PORT = 6818
TRIAL_PORT = 16817
LEAST_NODES = 1024
# Nobody says here how many nodes Kubernetes has; a larger table makes every job record larger.
LEAST_ON_EVERY_NODE = 4096
LOGS = "/var/log/slurm"

# What a slurmctld that only tries a configuration must not have: the others' addresses, log files,
# and accounting, without which it knows no QOS and would refuse the names of good ones.
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
    }
)
_QOS = frozenset({"qos", "allowqos", "denyqos"})


def slurm_conf(cluster: Cluster) -> str:
    """Return slurm.conf; for a slurmctld somewhere else, as much as slurmrestd needs to find it."""
    if isinstance(cluster.controller, ExternalController):
        return conf.write(_ours(cluster, (), _EXTERNAL))
    theirs = _theirs(cluster)
    ours = _ours(cluster, theirs, _MANAGED)
    lines = [line for line in ours if isinstance(line, Setting)]
    return conf.write(ours) + with_extra(lines, theirs, cluster.config.extra)


def tried(cluster: Cluster, host: str) -> str:
    """Return slurm.conf as a slurmctld on `host` tries it, without touching anything in use."""
    alone = replace(cluster, accounting=None)
    theirs = _theirs(cluster)
    ours = [x for x in _ours(alone, theirs, _MANAGED) if isinstance(x, Setting)]
    kept = [_without_qos(line) for line in (*ours, *theirs) if not _left_out(line)]
    own = (
        setting("SlurmctldHost", host),
        setting("SlurmctldPort", TRIAL_PORT),
        setting("StateSaveLocation", state_folder(cluster)),
        setting("AccountingStorageType", "accounting_storage/none"),
    )
    return conf.write((*own, *kept, *conf.merged(ours, theirs)))


def cgroup_conf(_: Cluster) -> str:
    """Return cgroup.conf."""
    return conf.write(
        (
            setting("CgroupPlugin", "autodetect"),
            # There is no systemd in a container to ask for a scope.
            setting("IgnoreSystemd", "yes"),
        ),
        conf.GRAMMARS["cgroup.conf"],
    )


def state_folder(cluster: Cluster) -> str:
    """Return where slurmctld keeps its state."""
    return f"/var/spool/slurmctld/{cluster.slurm_name}"


def service_address(cluster: Cluster) -> str | None:
    """Return the Service by which slurmctld is found; None: by the addresses of its pods."""
    controller = cluster.controller
    # Slurm asks there at SlurmctldPort, and only one that serves may answer.
    if isinstance(controller, ExternalController) or controller.many:
        return None
    if controller.service.port != SLURMCTLD_PORT:
        return None
    return f"{controller.names.service}.{cluster.namespace}"


def own_address(cluster: Cluster, name: str) -> str | None:
    """Return the Service of one slurmctld of several; None: there is but one.

    The name of a pod that is not there leads nowhere, and Slurm asks for it ten times, a second
    apart, for every message: whoever asks the slurmctld that has taken over would wait for that.
    """
    controller = cluster.controller
    many = isinstance(controller, ManagedController) and controller.many
    return f"{name}.{cluster.namespace}" if many else None


def max_nodes(cluster: Cluster) -> int:
    """Return the size of slurmctld's table of nodes, which it makes once, at its start.

    It has room to double, so that growing seldom means a restart, and it never shrinks: workers
    that are gone may still have a record there.
    """
    asked = sum(nodeset.replicas for nodeset in cluster.nodesets)
    room = 1 << max(2 * asked - 1, 0).bit_length()
    everywhere = any(nodeset.mode is Mode.EVERY_NODE for nodeset in cluster.nodesets)
    least = LEAST_ON_EVERY_NODE if everywhere else LEAST_NODES
    return max(least, room, cluster.node_table)


def serves_metrics(cluster: Cluster) -> bool:
    """Say whether slurmctld is to serve metrics; an older one would not start when told to."""
    controller = cluster.controller
    asked = isinstance(controller, ManagedController) and controller.metrics is not None
    return asked and _newer(cluster)


def user_keys(config: Config) -> frozenset[str]:
    """Return the keys that the user sets in slurm.conf, in lower case."""
    return frozenset(conf.effective(conf.parse(config.extra, source=SOURCE)))


# -- ours


def _theirs(cluster: Cluster) -> tuple[Line, ...]:
    return conf.parse(cluster.config.extra, source=SOURCE)


Render = Callable[[Cluster], Sequence[Setting]]


def _ours(
    cluster: Cluster, theirs: Sequence[Line], table: Sequence[tuple[str, Render]]
) -> list[conf.Written]:
    said = conf.effective(theirs)
    made: list[conf.Written] = []
    for title, lines in table:
        kept = [
            x for x in lines(cluster) if not (x.key.lower() in YIELDING and x.key.lower() in said)
        ]
        made += section(title, kept)
    return made


def _general(cluster: Cluster) -> list[Setting]:
    return [
        setting("ClusterName", cluster.slurm_name, source="clusterName"),
        setting("SlurmUser", "slurm"),
        *_hosts(cluster),
        setting("StateSaveLocation", state_folder(cluster), source="clusterName"),
        setting("SlurmdUser", "root"),
        setting("SlurmdPort", SLURMD_PORT),
        # No %n in it: a configless slurmd would not find its files again after a reconfiguration.
        setting("SlurmdSpoolDir", "/var/spool/slurmd"),
        setting("MaxNodeCount", max_nodes(cluster)),
        # A worker whose pod was replaced serves again as soon as it registers, whyever it was DOWN.
        setting("ReturnToService", 2),
    ]


def _external(cluster: Cluster) -> list[Setting]:
    return [
        setting("ClusterName", cluster.slurm_name, source="clusterName"),
        setting("SlurmUser", "slurm"),
        *_hosts(cluster),
    ]


def _hosts(cluster: Cluster) -> Iterator[Setting]:
    match cluster.controller:
        case ExternalController(host, port):
            yield setting("SlurmctldHost", host, source="externalConfig.host")
            yield setting("SlurmctldPort", port)
        case ManagedController():
            for name, where in cluster.controllers:
                yield setting("SlurmctldHost", f"{name}({own_address(cluster, name) or where})")
            yield setting("SlurmctldPort", SLURMCTLD_PORT)
            if address := service_address(cluster):
                yield setting("SlurmctldAddr", address)


def _logging(_: Cluster) -> list[Setting]:
    return [
        setting("SlurmctldLogFile", f"{LOGS}/slurmctld.log"),
        setting("SlurmSchedLogFile", f"{LOGS}/slurmctld.log"),
        setting("SlurmdLogFile", f"{LOGS}/slurmd.log"),
    ]


def _plugins(cluster: Cluster) -> list[Setting]:
    # An older slurmctld does not know how to tell its nodes of changes when it starts.
    restarted = ",reconfig_on_restart" if _newer(cluster) else ""
    made = [
        setting("AuthType", "auth/slurm"),
        setting("CredType", "cred/slurm"),
        setting("AuthAltTypes", "auth/jwt"),
        setting("AuthAltParameters", auth_parameters(cluster.keys)),
        setting("AuthInfo", "use_client_ids"),
        setting("SlurmctldParameters", f"enable_configless{restarted}"),
    ]
    # Slurm's own three seconds between two rounds leave a small cluster idle most of the time: 40
    # short jobs on two nodes took 56 s with them, and 23 s without.
    if "schedulerparameters" not in user_keys(cluster.config):
        made.append(setting("SchedulerParameters", "batch_sched_delay=0"))
    if serves_metrics(cluster):
        made.append(setting("MetricsType", "metrics/openmetrics"))
    # Slurm drops the Gres of a node whose type it was not told of.
    if types := sorted({g.name for nodeset in cluster.nodesets for g in _gres(nodeset)}):
        made.append(setting("GresTypes", ",".join(types)))
    # pam_slurm_adopt puts logins into a step that exists only with this, and only with cgroups.
    if any(n.ssh for n in cluster.nodesets) and "proctracktype" not in user_keys(cluster.config):
        made.append(setting("PrologFlags", "Contain"))
    return made


def _newer(cluster: Cluster) -> bool:
    return cluster.version is None or cluster.version >= V25_11


def _external_plugins(_: Cluster) -> list[Setting]:
    return [
        setting("AuthType", "auth/slurm"),
        setting("CredType", "cred/slurm"),
        setting("AuthAltTypes", "auth/jwt"),
    ]


def auth_parameters(keys: Keys) -> str:
    """Return where slurmctld and slurmdbd find what tokens are checked with."""
    found = [] if keys.jwt is None else ["jwt_key=/etc/slurm/jwt.key"]
    return ",".join([*found, *([] if keys.jwks is None else ["jwks=/etc/slurm/jwks.json"])])


def _accounting(cluster: Cluster) -> list[Setting]:
    match cluster.accounting:
        case None:
            return [setting("AccountingStorageType", "accounting_storage/none")]
        case ManagedAccounting() | ExternalAccounting() as found:
            return [
                setting("AccountingStorageType", "accounting_storage/slurmdbd"),
                setting("AccountingStorageHost", found.host, source="externalConfig.host"),
                setting("AccountingStoragePort", found.port),
            ]


def _slurmctld_scripts(cluster: Cluster) -> list[Setting]:
    scripts = cluster.config.scripts
    return [
        *_scripts("PrologSlurmctld", scripts.prolog_slurmctld, "/etc/slurm/"),
        *_scripts("EpilogSlurmctld", scripts.epilog_slurmctld, "/etc/slurm/"),
    ]


def _worker_scripts(cluster: Cluster) -> list[Setting]:
    # By name alone: slurmd looks where it keeps the files that slurmctld sent.
    scripts = cluster.config.scripts
    return [*_scripts("Prolog", scripts.prolog), *_scripts("Epilog", scripts.epilog)]


def _scripts(key: str, sources: Sequence[Files], folder: str = "") -> Iterator[Setting]:
    # By their own names, whichever ConfigMap they are in: so users say what comes first.
    for file, field in sorted(
        {(file, source.field) for source in sources for file in source.files}
    ):
        yield setting(key, f"{folder}{file}", source=field)


def _gres(nodeset: NodeSet) -> tuple[gres.Gres, ...]:
    # What is wrong with one NodeSet is said where its workers are made; the others go on.
    with suppress(ValueError):
        if found := worker_conf.node_keys(nodeset).get("gres"):
            return gres.parse(found[1])
    return ()


_MANAGED: Sequence[tuple[str, Render]] = (
    ("GENERAL", _general),
    ("LOGGING", _logging),
    ("PLUGINS & PARAMETERS", _plugins),
    ("ACCOUNTING", _accounting),
    ("SLURMCTLD PROLOG & EPILOG", _slurmctld_scripts),
    ("PROLOG & EPILOG", _worker_scripts),
    ("NODESET & PARTITION", partitions.lines),
)
_EXTERNAL: Sequence[tuple[str, Render]] = (
    ("GENERAL", _external),
    ("PLUGINS & PARAMETERS", _external_plugins),
    ("ACCOUNTING", _accounting),
)


# -- a trial


def _left_out(line: Line) -> bool:
    key = line.key.lower() if isinstance(line, Setting) else ""
    return key in _NOT_TRIED or key.startswith("accountingstorage")


def _without_qos(line: Line) -> Line:
    if not isinstance(line, Setting) or line.key.lower() != "partitionname":
        return line
    return Setting(tuple(p for p in line.pairs if p[0].lower() not in _QOS), line.place)
