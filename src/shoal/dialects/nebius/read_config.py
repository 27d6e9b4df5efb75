"""What a SlurmCluster of slurm.nebius.ai says for Slurm's own files, to the model. Pure."""

from collections.abc import Sequence

import msgspec

from ...kube.objects import Slim
from ...model.settings import (
    Cgroup,
    CustomPartitions,
    CustomPlugin,
    DefaultPartitions,
    Feature,
    HealthCheck,
    Keys,
    NcclDebug,
    NcclInspector,
    Partitions,
    Plugins,
    Pyxis,
    Settings,
    SharedPartition,
    StructuredPartitions,
)
from . import defaults, slurm_types
from .nodeset_types import NodeSet
from .slurm_types import PartitionConfiguration, PlugStackConfig, SlurmConfig
from .types import SlurmCluster

# Fields whose key is not their name with a large letter.
_OTHERWISE = {"tcpTimeout": "TCPTimeout"}
# Nothing of ours powers nodes down by their load.
_WITHOUT_EFFECT = frozenset({"suspendTime"})


def keys(found: Slim) -> Keys:
    """Return settings by Slurm's names, in the order of their fields; what is empty is empty."""
    fields = msgspec.structs.fields(type(found))
    told = ((field.encode_name, getattr(found, field.name)) for field in fields)
    return tuple((_key(name), "" if value is None else value) for name, value in told)


def _key(name: str) -> str:
    return _OTHERWISE.get(name, name[0].upper() + name[1:])


def settings(obj: SlurmCluster, nodesets: Sequence[NodeSet]) -> Settings:
    """Return what the user sets of Slurm's files."""
    spec = obj.spec
    return Settings(
        slurm=_slurm(spec.slurm_config),
        accounting=keys(spec.slurm_nodes.accounting.slurm_config),
        partitions=_partitions(spec.partition_configuration),
        features=features(obj),
        health=_health(spec.health_check_config),
        plugins=_plugins(spec.plug_stack_config),
        mpi_env=spec.mpi_config.pmix_env,
        cgroup=cgroup(obj, *nodesets),
        cgroup_extra=spec.custom_cgroup_config or "",
    )


def _slurm(found: SlurmConfig) -> Keys:
    usual = SlurmConfig().resume_timeout
    left_out = {_key(name) for name in _WITHOUT_EFFECT}
    if found.resume_timeout == usual:
        left_out.add("ResumeTimeout")  # it has its line, where users of older releases know it
    return tuple(pair for pair in keys(found) if pair[0] not in left_out)


def cgroup(obj: SlurmCluster | None, *nodesets: NodeSet) -> Cgroup:
    """Return the version of cgroups: the older one if any of them says so."""
    said = {one.spec.slurmd.cgroup_version for one in nodesets}
    if obj is not None:
        said.add(defaults.cgroup_version(obj))
    return Cgroup.V1 if Cgroup.V1.value in said else Cgroup.V2


def features(obj: SlurmCluster) -> tuple[Feature, ...]:
    """Return the features of some of the workers."""
    return tuple(
        Feature(one.name, one.hostlist_expr, one.nodeset_name or "")
        for one in obj.spec.worker_features
    )


def _partitions(found: PartitionConfiguration) -> Partitions:
    match found.config_type:
        case "custom":
            return CustomPartitions(found.raw_config)
        case "structured":
            return StructuredPartitions(
                tuple(
                    SharedPartition(one.name, one.node_set_refs, one.is_all, one.config or "")
                    for one in found.partitions
                )
            )
        case _:
            return DefaultPartitions()


def _health(found: slurm_types.HealthCheckConfig | None) -> HealthCheck | None:
    if found is None:
        return None
    states = tuple(one.state for one in found.health_check_node_state)
    return HealthCheck(found.health_check_program, found.health_check_interval, states)


def _plugins(found: PlugStackConfig) -> Plugins:
    pyxis, debug, inspector = found.pyxis, found.nccl_debug, found.nccl_inspector_pre_conf
    return Plugins(
        Pyxis(
            required=pyxis.required,
            image_save=pyxis.container_image_save,
            importer=pyxis.importer_path or "",
            squashfuse=pyxis.use_squashfuse,
        ),
        NcclDebug(
            required=debug.required,
            enabled=debug.enabled,
            level=debug.log_level,
            to_file=debug.output_to_file,
            to_stdout=debug.output_to_std_out,
            folder=debug.output_directory,
        ),
        _inspector(inspector) if inspector else None,
        tuple(CustomPlugin(one.path, one.required, one.arguments) for one in found.custom_plugins),
    )


def _inspector(found: slurm_types.NcclInspector) -> NcclInspector:
    return NcclInspector(
        required=found.required,
        enabled=found.enabled,
        plugin=found.profiler_plugin,
        folder=found.dump_dir,
        verbose=found.dump_verbose,
        interval_us=found.dump_thread_interval_microseconds,
    )
