"""Workers of slurm.nebius.ai, of a cluster's own and of NodeSets, to the model. Pure."""

from collections.abc import Sequence

from ...kube.objects import Object, Resource
from ...model.jail import Claimed, Fittings, Given, Mount
from ...model.jailed import JailedWorkers, Registration, feature_name
from ...model.nodeset import NodeSet, Retention, Update
from ...model.part import Files, Marks, Part, PodWishes
from .. import contents
from . import defaults, naming, nodeset_types
from .node_types import Worker
from .nodeset_types import ClaimRetention, Sidecar
from .read_config import cgroup, features
from .read_pods import (
    NODES,
    Around,
    container,
    mounts,
    part,
    pod_spec,
    profile,
    pull_secrets,
    root,
    scheduled,
    volume,
    wishes,
)
from .types import SlurmCluster

AT = f"{NODES}.worker"
VOLUMES = f"{AT}.volumes"
# On a NodeSet, `static`: slurmd of its image does not bring its node along, as in the newest of
# Nebius' own.
REGISTRATION = "shoal/registration"
# Its end would be the end of the jobs in it.
_NEVER = "livenessProbe"


# -- of a cluster's own


def worker(obj: SlurmCluster, around: Around) -> NodeSet | None:
    """Understand the workers of a cluster that are of no NodeSet; None: nothing is said of any."""
    asked, names = obj.spec.slurm_nodes.worker, around.names(obj.metadata.name)
    if asked is None:
        return None
    jailed = _own(obj, asked, around)
    return NodeSet(
        part=_own_part(obj, asked, around),
        slurm_name=feature_name(naming.WORKERS),
        # Whatever their pods are called: jobs and lists of hosts go by it.
        hostname_prefix=f"{naming.WORKERS}-",
        service=names.service(naming.WORKERS),
        budget=names.budget,
        replicas=defaults.mode(obj).replicas(asked.size),
        update=Update(max_unavailable=asked.max_unavailable),
        oversubscribe=True,
        cluster=obj.metadata.name,
        alike={naming.WORKER: "true"},
        jailed=jailed,
        claims=jailed.claims,
    )


def leaving(obj: SlurmCluster, around: Around) -> NodeSet:
    """Return the workers of a cluster that is to have none: what those that are left still need."""
    cluster, names = obj.metadata.name, around.names(obj.metadata.name)
    return NodeSet(
        part=Part(
            names.workload(naming.WORKERS),
            obj.metadata.namespace,
            naming.selector(cluster, naming.WORKERS),
            naming.labels(cluster, naming.WORKERS),
        ),
        slurm_name=feature_name(naming.WORKERS),
        hostname_prefix=f"{naming.WORKERS}-",
        service=names.service(naming.WORKERS),
        budget=names.budget,
        replicas=0,
        cluster=cluster,
        alike={naming.WORKER: "true"},
        jailed=JailedWorkers(Fittings(root(obj)), Given({"emptyDir": {}})),
    )


def _own_part(obj: SlurmCluster, asked: Worker, around: Around) -> Part:
    made = part(
        obj,
        naming.WORKERS,
        pod_spec(obj, AT, asked, (asked.slurmd, asked.munge)),
        asked.worker_annotations,
        slurmd=_slurmd(container(asked.slurmd, profile(obj, around))),
        munge=container(asked.munge),
    )
    name = around.names(obj.metadata.name).workload(naming.WORKERS)
    return Part(name, made.namespace, made.selector, made.labels, made.pods)


def _own(obj: SlurmCluster, asked: Worker, around: Around) -> JailedWorkers:
    found, names = asked.volumes, around.names(obj.metadata.name)
    fittings = Fittings(
        volume(obj, found.jail, f"{VOLUMES}.jail"),
        mounts(obj, found.jail_sub_mounts, f"{VOLUMES}.jailSubMounts"),
        mounts(obj, found.custom_mounts, f"{VOLUMES}.customMounts"),
        names.security_limits(naming.WORKERS),
        asked.slurmd.security_limits_config or "",
    )
    gpu = obj.spec.cluster_type == "gpu"
    return JailedWorkers(
        fittings,
        volume(obj, found.spool, f"{VOLUMES}.spool"),
        shared_memory=str(found.shared_memory_size),
        gpu=gpu,
        gdr_copy=gpu and asked.enable_gdr_copy,
        node_extra=asked.slurm_node_extra or "",
        chosen=features(obj),
        cgroup=cgroup(obj),
        listed=asked.size,
        port=defaults.port(naming.WORKERS, asked.slurmd),
        sshd=_files(asked.sshd_config_map_ref_name, f"{AT}.sshdConfigMapRefName", around),
        supervisord=_files(
            asked.supervisord_config_map_ref_name, f"{AT}.supervisordConfigMapRefName", around
        ),
    )


# -- of a NodeSet


def nodeset(obj: nodeset_types.NodeSet, cluster: SlurmCluster | None, around: Around) -> NodeSet:
    """Understand a NodeSet; `cluster` is the object that it names, where it is there."""
    name, spec = obj.metadata.name, obj.spec
    owner = defaults.cluster_of(obj)
    names, jailed = around.names(owner), _of_set(obj, cluster, around)
    replicas = defaults.mode(cluster).replicas(spec.replicas) if cluster else spec.replicas
    policy = spec.slurmd.volumes.persistent_volume_claim_retention_policy
    return NodeSet(
        part=_set_part(obj, jailed.registration, owner, profile(cluster, around)),
        slurm_name=feature_name(name),
        hostname_prefix=f"{name}-",
        service=names.workers_service,
        budget=names.budget,
        replicas=replicas,
        extra=defaults.attributes(obj).static,
        # Whichever strategy is named: both wait for jobs.
        update=Update(max_unavailable=spec.max_unavailable),
        retention=_retention(policy),
        oversubscribe=True,
        cluster=owner,
        alike={naming.WORKER: "true"},
        jailed=jailed,
        claims=jailed.claims,
    )


def _set_part(
    obj: nodeset_types.NodeSet, registered: Registration, owner: str, default: str
) -> Part:
    meta, spec = obj.metadata, obj.spec
    more = {
        "priorityClassName": spec.priority_class,
        "imagePullSecrets": pull_secrets(spec.image_pull_secrets),
        "initContainers": list(spec.custom_init_containers),
        # Without the user's word it is Kubernetes' to say: in a user namespace of its own no pod
        # could mount what steps need.
        "hostUsers": spec.enable_host_user_namespace or None,
    }
    said = {key: value for key, value in more.items() if value}
    slurmd = {**_sidecar(spec.slurmd, default), "env": list(spec.slurmd.custom_env)}
    mark = {REGISTRATION: registered.value} if registered is Registration.STATIC else {}
    return Part(
        meta.name,
        meta.namespace,
        naming.selector(owner, naming.NODE_SET, meta.name),
        naming.labels(owner, naming.NODE_SET, meta.name),
        PodWishes(
            Marks(annotations={**spec.worker_annotations, **mark}),
            {**scheduled(spec.affinity, spec.tolerations, spec.node_selector), **said},
            {"slurmd": _slurmd(slurmd), "munge": _sidecar(spec.munge)},
        ),
    )


def _of_set(
    obj: nodeset_types.NodeSet, cluster: SlurmCluster | None, around: Around
) -> JailedWorkers:
    name, spec = obj.metadata.name, obj.spec
    names, told, found = (
        around.names(defaults.cluster_of(obj)),
        defaults.attributes(obj),
        spec.slurmd.volumes,
    )
    at = "spec.slurmd.volumes"
    fittings = Fittings(
        Given(found.jail),
        _mounts(found.jail_sub_mounts, f"{at}.jailSubMounts"),
        _mounts(found.custom_volume_mounts, f"{at}.customVolumeMounts"),
        names.security_limits(naming.NODE_SET, name),
        spec.slurmd.security.limits_config or "",
    )
    return JailedWorkers(
        fittings,
        defaults.spool(obj),
        shared_memory=str(found.shared_memory_size),
        gpu=spec.gpu.enabled,
        gdr_copy=spec.gpu.enabled and spec.gpu.nvidia.gdr_copy_enabled,
        node_extra=told.extra,
        features=told.features,
        cgroup=cgroup(cluster, obj),
        # Without its annotation too, while a worker is there that was made with it.
        registration=Registration.STATIC if name in around.numbered else registration(obj),
        # A node that slurm.conf no longer names is gone, and its jobs with it.
        listed=max(spec.replicas, around.numbered.get(name, 0)),
        port=spec.slurmd.port or nodeset_types.SLURMD_PORT,
        sshd=_files(spec.config_map_ref_sshd, "spec.configMapRefSshd", around),
        supervisord=_files(spec.config_map_ref_supervisord, "spec.configMapRefSupervisord", around),
        service=names.nodeset_service(name),
        gres=spec.node_config.gres_config,
    )


def registration(obj: Resource) -> Registration:
    """Say how Slurm comes to know the workers of a NodeSet, or the worker that a pod is."""
    static = obj.metadata.annotations.get(REGISTRATION) == Registration.STATIC.value
    return Registration.STATIC if static else Registration.DYNAMIC


def _retention(found: ClaimRetention) -> Retention:
    return Retention(
        delete_with_set=found.when_deleted == "Delete",
        delete_with_worker=found.when_scaled == "Delete",
    )


def _sidecar(asked: Sidecar, default: str = "") -> Object:
    return wishes(
        {
            "image": asked.image.reference,
            "imagePullPolicy": asked.image.pull_policy,
            "livenessProbe": asked.liveness_probe,
            "readinessProbe": asked.readiness_probe,
        },
        asked.resources,
        default or asked.security.app_armor_profile,
        asked.security.proc_mount,
    )


def _mounts(found: Sequence[nodeset_types.Mount], at: str) -> tuple[Mount, ...]:
    made = []
    for number, one in enumerate(found):
        asked, source = one.volume_claim_template_spec, one.volume_source
        if asked is None and not source:
            # Kubernetes would take a volume of no source for an empty one.
            raise ValueError(f"{at}[{number}]: needs volumeSource or volumeClaimTemplateSpec")
        held = Claimed(asked) if asked is not None else Given(source or {})
        read_only = bool(one.read_only)
        made.append(Mount(one.name, one.mount_path, held, one.sub_path or "", read_only))
    return tuple(made)


# -- of both


def _slurmd(asked: Object) -> Object:
    return {key: value for key, value in asked.items() if key != _NEVER and value}


def _files(name: str | None, field: str, around: Around) -> Files | None:
    return contents.files(name, field, around.found) if name else None
