"""What is checked of that which a SlurmCluster says for Slurm's own files. Pure.

Nothing that a user writes may end a value, a line or a file: what would is refused here, with the
field that it came from.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta

from ...kube import values
from ...kube.durations import duration
from ...kube.findings import Doubtful, Finding, Findings, Lookups, Wrong
from ...slurm import conf, hostlists, plugstack
from .. import texts
from . import defaults
from .node_types import ConfigController
from .slurm_types import (
    HealthCheckConfig,
    Partition,
    PartitionConfiguration,
    PlugStackConfig,
    SlurmConfig,
    WorkerFeature,
)
from .types import NODE_SET, SlurmCluster

# Slurm takes these words for something else wherever a partition or nodes are named.
RESERVED = ("all", "default")
TOPOLOGIES = ("topology/tree", "topology/block", "topology/flat", "topology/default")
PARTITIONS = "spec.partitionConfiguration"
_SECOND = timedelta(seconds=1)
# It becomes the name of a variable, SLURM_FEATURE_<name>, and a word of the node's line.
_FEATURE = re.compile(r"[A-Za-z0-9_]+", re.ASCII)


def config(obj: SlurmCluster, ask: Lookups) -> Findings:
    """Check all that becomes a part of a file of Slurm's."""
    spec = obj.spec
    yield from _slurm_conf("spec.slurmConfig", spec.slurm_config)
    yield from texts.lines(
        "spec.customSlurmConfig", spec.custom_slurm_config, texts.SLURM_CONF, conf.SLURM
    )
    yield from texts.lines(
        "spec.customCgroupConfig", spec.custom_cgroup_config, CGROUP, conf.GRAMMARS["cgroup.conf"]
    )
    yield from texts.words({"spec.mpiConfig.pmixEnv": ("PMIxEnv", spec.mpi_config.pmix_env)})
    yield from _plugins("spec.plugStackConfig", spec.plug_stack_config)
    yield from _partitions(obj, spec.partition_configuration, ask)
    yield from _features("spec.workerFeatures", spec.worker_features)
    yield from _health("spec.healthCheckConfig", spec.health_check_config)
    yield from _reconfiguring("spec.sConfigController", spec.s_config_controller)


# Slurm would look for cgroups where there are none.
CGROUP: Mapping[str, type[Finding]] = {"CgroupMountpoint": Doubtful, "CgroupPlugin": Doubtful}


def _slurm_conf(field: str, found: SlurmConfig) -> Findings:
    yield from texts.words(
        {
            f"{field}.epilog": ("Epilog", found.epilog),
            f"{field}.prolog": ("Prolog", found.prolog),
            f"{field}.taskProlog": ("TaskProlog", found.task_prolog),
            f"{field}.taskPluginParam": ("TaskPluginParam", found.task_plugin_param),
            f"{field}.topologyPlugin": ("TopologyPlugin", found.topology_plugin),
            f"{field}.topologyParam": ("TopologyParam", found.topology_param),
        }
    )
    yield from values.at_least(
        0,
        {
            f"{field}.defMemPerNode": found.def_mem_per_node,
            f"{field}.defCpuPerGPU": found.def_cpu_per_gpu,
            f"{field}.completeWait": found.complete_wait,
            f"{field}.maxJobCount": found.max_job_count,
            f"{field}.minJobAge": found.min_job_age,
            f"{field}.messageTimeout": found.message_timeout,
        },
    )
    plugin = found.topology_plugin
    if plugin and plugin not in TOPOLOGIES:
        yield Doubtful(f"{field}.topologyPlugin", f"{plugin!r} is none that we know of Slurm's")


# -- plugstack.conf


def _plugins(field: str, found: PlugStackConfig) -> Findings:
    pyxis, debug, inspector = found.pyxis, found.nccl_debug, found.nccl_inspector_pre_conf
    words = {
        f"{field}.pyxis.containerImageSave": pyxis.container_image_save,
        f"{field}.pyxis.importerPath": pyxis.importer_path,
        f"{field}.ncclDebug.outputDirectory": debug.output_directory,
    }
    if inspector is not None:
        words[f"{field}.ncclInspectorPreConf.profilerPlugin"] = inspector.profiler_plugin
        words[f"{field}.ncclInspectorPreConf.dumpDir"] = inspector.dump_dir
    for at, text in words.items():
        yield from _word(at, text or "none")
    for number, plugin in enumerate(found.custom_plugins):
        at = f"{field}.customPlugins[{number}]"
        yield from _word(f"{at}.path", plugin.path)
        for key, value in sorted(plugin.arguments.items()):
            yield from _word(f"{at}.arguments.{key}", f"{key}={value}")


def _word(field: str, text: str) -> Findings:
    """Check a word of a line of plugstack.conf, which knows no quotes."""
    try:
        plugstack.write([plugstack.Plugin(text)])
    except conf.ConfError as error:
        yield Wrong(field, str(error))


# -- partitions


def _partitions(obj: SlurmCluster, found: PartitionConfiguration, ask: Lookups) -> Findings:
    match found.config_type:
        case "custom":
            yield from _raw(f"{PARTITIONS}.rawConfig", found.raw_config)
        case "structured":
            yield from _structured(obj, found.partitions, ask)
        case _:  # the usual ones
            pass
    for name, kept, given in (
        ("rawConfig", "custom", found.raw_config),
        ("partitions", "structured", found.partitions),
    ):
        if given and found.config_type != kept:
            message = f"has no effect while {PARTITIONS}.configType is not {kept}"
            yield Doubtful(f"{PARTITIONS}.{name}", message)


def _raw(field: str, lines: Iterable[str]) -> Findings:
    names: Counter[str] = Counter()
    for number, text in enumerate(lines):
        at = f"{field}[{number}]"
        if not text.strip():
            continue
        if not text.strip().lower().startswith("partitionname"):
            yield Wrong(
                at, "must begin with PartitionName; use spec.customSlurmConfig for the rest"
            )
            continue
        try:
            found = conf.parse(text.strip(), source="")
        except conf.ConfError as error:
            yield Wrong(at, str(error))
            continue
        if len(found) != 1:
            yield Wrong(at, "is several lines; write each partition as an entry of its own")
        names.update(line.value for line in found if isinstance(line, conf.Setting))
    yield from _once(field, names)
    if not names:
        yield Wrong(field, "holds no partition; add one, or let configType be default")


def _once(field: str, names: Mapping[str, int]) -> Findings:
    for name, count in names.items():
        if count > 1 and name.lower() != "default":
            yield Wrong(field, f"partition {name!r} is there {count} times; keep one")


def _structured(obj: SlurmCluster, found: Iterable[Partition], ask: Lookups) -> Findings:
    field, partitions = f"{PARTITIONS}.partitions", tuple(found)
    if not partitions:
        message = "Structured partition configuration requires at least one partition"
        yield Wrong(field, f"{message}; add one")
    yield from _once(field, Counter(one.name for one in partitions))
    own = defaults.worker(obj) is not None
    for number, one in enumerate(partitions):
        at = f"{field}[{number}]"
        yield from texts.words({f"{at}.name": ("PartitionName", one.name)})
        if one.name.lower() in RESERVED:
            yield Wrong(f"{at}.name", f"Slurm takes {one.name!r} for something else; rename it")
        yield from texts.options(f"{at}.config", one.config, "PartitionName", ("Nodes",))
        if own and one.node_set_refs:
            message = "cannot be used with workers of the cluster's own"
            cure = "set spec.slurmNodes.worker.size to 0, or isAll to true"
            yield Wrong(f"{at}.nodeSetRefs", f"{message}; {cure}")
        yield from _refs(at, one, obj.metadata.namespace, ask)


def _refs(at: str, one: Partition, namespace: str, ask: Lookups) -> Findings:
    refs = {f"{at}.nodeSetRefs[{number}]": name for number, name in enumerate(one.node_set_refs)}
    for field, name in refs.items():
        yield from values.label(field, name, "the NodeSet")
    if one.is_all and refs:
        yield Doubtful(f"{at}.nodeSetRefs", "has no effect while isAll is true")
    elif not one.is_all and not refs:
        yield Doubtful(f"{at}.nodeSetRefs", "is empty, so the partition has no nodes")
    else:
        yield from values.existing(NODE_SET, namespace, refs, ask)


# -- features, health, reconfiguring


def _features(field: str, found: Iterable[WorkerFeature]) -> Findings:
    features = tuple(found)
    for number, one in enumerate(features):
        at = f"{field}[{number}]"
        if not _FEATURE.fullmatch(one.name):
            yield Wrong(f"{at}.name", f"{one.name!r} is no feature; use letters, digits and _")
        try:
            hostlists.expand(one.hostlist_expr)
        except hostlists.HostlistError as error:
            yield Wrong(f"{at}.hostlistExpr", str(error))
        yield from texts.words({f"{at}.nodesetName": ("NodeSet", one.nodeset_name)})
    for key in ("name", "nodeset_name"):
        counted = Counter(getattr(one, key) for one in features if getattr(one, key))
        for name, count in counted.items():
            if count > 1:
                yield Wrong(field, f"{name!r} is there {count} times; put its nodes together")


def _health(field: str, found: HealthCheckConfig | None) -> Findings:
    if found is None:
        return
    program = found.health_check_program
    yield from values.at_least(0, {f"{field}.healthCheckInterval": found.health_check_interval})
    yield from texts.words({f"{field}.healthCheckProgram": ("HealthCheckProgram", program)})
    if not program:
        yield Wrong(f"{field}.healthCheckProgram", "is empty; name a program, or leave all out")
    if not found.health_check_node_state:
        yield Wrong(f"{field}.healthCheckNodeState", "is empty; write [{state: ANY}]")


def _reconfiguring(field: str, found: ConfigController) -> Findings:
    pairs = {
        f"{field}.reconfigurePollInterval": found.reconfigure_poll_interval,
        f"{field}.reconfigureWaitTimeout": found.reconfigure_wait_timeout,
    }
    wrong = [one for at, text in pairs.items() for one in values.lasting(at, text, _SECOND)]
    yield from wrong
    poll, wait = (duration(text, at) for at, text in pairs.items()) if not wrong else (None, None)
    if poll is not None and wait is not None and wait <= poll:
        message = "must be longer than reconfigurePollInterval; raise it"
        yield Wrong(f"{field}.reconfigureWaitTimeout", message)
    yield from values.at_least(
        0, {f"{field}.runAsUid": found.run_as_uid, f"{field}.runAsGid": found.run_as_gid}
    )
