"""The files beside slurm.conf in a cluster with a shared root. Pure."""

from collections.abc import Iterator

from ...model.cluster import Cluster
from ...model.jail import FOLDER, Jail
from ...model.settings import Cgroup, NcclDebug, NcclInspector, Pyxis
from ...slurm import conf, plugstack
from ...slurm.conf import Comment, ConfError, Include, Place, Setting, Written, setting
from ...slurm.plugstack import Plugin
from . import partitions, slurm_conf

REST = "slurm_rest.conf"
_CGROUP = conf.GRAMMARS["cgroup.conf"]
_GRES = conf.GRAMMARS["gres.conf"]
_EVERY_CGROUP = (
    setting("CgroupMountpoint", "/sys/fs/cgroup"),
    setting("ConstrainCores", "yes"),
    setting("ConstrainDevices", "yes"),
    setting("ConstrainRAMSpace", "yes"),
)
_BY_VERSION = {
    Cgroup.V1: (setting("CgroupPlugin", "cgroup/v1"), setting("ConstrainSwapSpace", "yes")),
    Cgroup.V2: (
        setting("CgroupPlugin", "cgroup/v2"),
        setting("ConstrainSwapSpace", "no"),
        setting("EnableControllers", "yes"),
        # There is no systemd in a container to ask for a scope.
        setting("IgnoreSystemd", "yes"),
    ),
}


def files(cluster: Cluster, jail: Jail) -> dict[str, str]:
    """Return all files that daemons and users' tools read, by name."""
    made = {
        "slurm.conf": slurm_conf.slurm_conf(cluster, jail),
        REST: rest_conf(),
        slurm_conf.CUSTOM: slurm_conf.custom_conf(cluster, jail),
        "cgroup.conf": cgroup_conf(jail),
        "plugstack.conf": plugstack_conf(jail),
        "gres.conf": gres_conf(cluster, jail),
        "mpi.conf": mpi_conf(jail),
    }
    if jail.settings.topology:
        made["topology.conf"] = jail.settings.topology
    return made


def rest_conf() -> str:
    """Return slurm.conf as slurmrestd reads it: whoever asks it brings a token."""
    return conf.write((Include("/etc/slurm/slurm.conf"), setting("AuthType", "auth/jwt")))


def cgroup_conf(jail: Jail) -> str:
    """Return cgroup.conf; where the user sets a key, ours is left out."""
    extra, source = jail.settings.cgroup_extra, "customCgroupConfig"
    theirs = conf.effective(conf.parse(extra, _CGROUP, source), _CGROUP)
    lines = (*_EVERY_CGROUP, *_BY_VERSION[jail.settings.cgroup])
    text = conf.write((x for x in lines if x.key.lower() not in theirs), _CGROUP)
    if not extra.strip():
        return text
    told = [line for line in extra.splitlines() if line.strip()]
    return "".join(
        f"{line}\n" for line in (*text.splitlines(), "###", "# Custom config", "###", *told)
    )


def gres_conf(cluster: Cluster, jail: Jail) -> str:
    """Return gres.conf."""
    lines: list[Written] = [Comment("Gres config")]
    if jail.gpu:
        lines.append(setting("AutoDetect", "nvidia"))
    for nodeset in sorted(cluster.nodesets, key=lambda one: one.part.name):
        workers = nodeset.jailed
        if workers is None or not workers.gres or not workers.listed:
            continue
        source = f"NodeSet {nodeset.part.name}, nodeConfig.gresConfig"
        lines.append(Comment(f"NodeSet {nodeset.part.name}:"))
        name = f"NodeName={partitions.names(nodeset, workers)}"
        for line in workers.gres:
            found = conf.parse(f"{name} {line}", _GRES, source)
            if len(found) != 1 or not isinstance(found[0], Setting):
                raise ConfError(Place(source), "", "must be one line; remove the line end")
            lines.append(found[0])
    return conf.write(lines, _GRES)


def mpi_conf(jail: Jail) -> str:
    """Return mpi.conf."""
    told = jail.settings.mpi_env
    env = [setting("PMIxEnv", told, source="mpiConfig.pmixEnv")] if told else []
    return conf.write((Comment("PMIx config"), *env), conf.GRAMMARS["mpi.conf"])


def plugstack_conf(jail: Jail) -> str:
    """Return plugstack.conf: first what puts steps into the jail, as the others are there."""
    plugins = jail.settings.plugins
    custom = (
        Plugin(
            one.path,
            tuple(f"{key}={value}" for key, value in sorted(one.arguments.items())),
            one.required,
            Place("plugStackConfig.customPlugins"),
        )
        for one in plugins.custom
    )
    inspector = [_nccl_inspector(plugins.nccl_inspector)] if plugins.nccl_inspector else []
    return plugstack.write(
        (
            Plugin("chroot.so", (FOLDER,)),
            _pyxis(plugins.pyxis),
            _nccl_debug(plugins.nccl_debug),
            *inspector,
            *custom,
        )
    )


def _pyxis(asked: Pyxis) -> Plugin:
    arguments = (
        "runtime_path=/run/pyxis",
        "execute_entrypoint=0",
        "container_scope=global",
        "sbatch_support=1",
        *_imports(asked),
    )
    return Plugin("spank_pyxis.so", arguments, asked.required, Place("plugStackConfig.pyxis"))


def _imports(asked: Pyxis) -> Iterator[str]:
    if asked.importer:
        yield f"importer={asked.importer}"
        yield f"use_squashfuse={int(asked.squashfuse)}"
    elif asked.image_save:
        yield f"container_image_save={asked.image_save}"


def _nccl_debug(asked: NcclDebug) -> Plugin:
    arguments = (
        f"enabled={int(asked.enabled)}",
        f"log-level={asked.level}",
        f"out-file={int(asked.to_file)}",
        f"out-dir={asked.folder}",
        f"out-stdout={int(asked.to_stdout)}",
    )
    place = Place("plugStackConfig.ncclDebug")
    return Plugin("spanknccldebug.so", arguments, asked.required, place)


def _nccl_inspector(asked: NcclInspector) -> Plugin:
    arguments = (
        f"enabled={int(asked.enabled)}",
        f"profiler-plugin={asked.plugin}",
        f"dump-dir={asked.folder}",
        f"dump-verbose={int(asked.verbose)}",
        f"dump-thread-interval-microseconds={asked.interval_us}",
    )
    place = Place("plugStackConfig.ncclInspectorPreConf")
    return Plugin("spank_nccl_inspector_preconf.so", arguments, asked.required, place)
